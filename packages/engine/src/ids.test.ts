import { fixedTools } from '@slowwave/engine-testing';
import { describe, expect, it } from 'vitest';
import {
  batchIdOf,
  copyId,
  messageIdOf,
  ownerBitsIn,
  ownerBitsOf,
  ownerBitsOfLane,
  ownerHashOf,
  placeOfMessage,
  spaceOf,
} from './ids.ts';
import { DEFAULT_TENANT, type LaneId, type OwnerBits, type OwnerKind, type TenantId } from './words.ts';

const tools = fixedTools();
const ANA = { tenant: DEFAULT_TENANT, owner: { kind: 'user', id: 'ana' } } as const;

describe('an id', () => {
  it('gives back the bits it was made with, the first and the last of them too', () => {
    for (const bits of [0, 1, 31, 32, 0x7fff, 0x8000, 0xffff]) {
      expect(ownerBitsIn(tools.id('mem', bits as OwnerBits))).toBe(bits);
    }
  });

  it('of a copy in a shadow space gives back those of its original', () => {
    const id = tools.id('bat', ownerBitsOf(tools, ANA));
    expect(ownerBitsIn(copyId(id, tools.id('rpl')))).toBe(ownerBitsOf(tools, ANA));
  });

  it.each([
    '',
    'mem_',
    'mem_0198c1a2',
    'MEM_00000000000001000000000000',
    `mem_${'u'.repeat(26)}`,
    `mem_${'0'.repeat(27)}`,
  ])('that is none of ours has no owner: %j', (id) => {
    expect(ownerBitsIn(id)).toBeNull();
    expect(() => ownerBitsOfLane(id as LaneId)).toThrow('expected the id of a lane');
  });
});

describe('the id of a message', () => {
  const batchId = batchIdOf(tools.id('bat', ownerBitsOf(tools, ANA)));

  it.each([0, 1, 31, 32, 1_023, 1_024])('says which message of which batch it is: %i', (place) => {
    const id = messageIdOf(batchId, place);
    expect(placeOfMessage(id)).toEqual({ batchId, place });
    expect(ownerBitsIn(id)).toBe(ownerBitsOf(tools, ANA));
    const copy = copyId(batchId, 'rpl_1');
    expect(messageIdOf(copy, place)).toBe(copyId(id, 'rpl_1'));
    expect(placeOfMessage(copyId(id, 'rpl_1'))).toEqual({ batchId: copy, place });
  });

  it('is one of its own for each of a batch whose id is none of ours', () => {
    expect(messageIdOf('b1', 0)).not.toBe(messageIdOf('b1', 1));
    expect(placeOfMessage(messageIdOf('b1', 0))).toBeNull();
  });
});

describe('the bits of an owner', () => {
  it('are the same in a shadow space of its tenant', () => {
    const space = spaceOf({ tenant: ANA.tenant, replay: 'rpl_1' });
    expect(ownerBitsOf(tools, { ...ANA, tenant: space })).toBe(ownerBitsOf(tools, ANA));
  });

  it('are others in another tenant, and for another kind of owner', () => {
    const of = (tenant: string, kind: OwnerKind) =>
      ownerBitsOf(tools, { tenant: tenant as TenantId, owner: { kind, id: 'ana' } });
    expect(
      new Set([of('default', 'user'), of('acme', 'user'), of('default', 'agent'), of('default', 'run')]).size,
    ).toBe(4);
  });

  it('are spread over all there are: of 65,536 owners about a third meet nobody', () => {
    const met = new Map<OwnerBits, number>();
    for (let i = 0; i < 65_536; i += 1) {
      const bits = ownerBitsOf(tools, { ...ANA, owner: { kind: 'user', id: `user-${i}` } });
      met.set(bits, (met.get(bits) ?? 0) + 1);
    }
    expect(Math.max(...met.keys())).toBeLessThan(65_536);
    expect(met.size).toBeGreaterThan(65_536 * 0.6);
    expect(Math.max(...met.values())).toBeLessThan(16);
  });

  it('are not the beginning of what stays of an erased owner', () => {
    const hash = ownerHashOf(tools, { ...ANA, ledgerId: 'led_1' });
    expect(Number.parseInt(hash.slice(0, 4), 16)).not.toBe(ownerBitsOf(tools, ANA));
  });
});
