import type { OwnerBits, Told } from '@slowwave/engine';
import { expect, test } from 'vitest';
import { systemTools } from '../system/system.ts';
import { packedId, packedTold as packedInPieces, unpackedTold } from './receipts.ts';

const packedTold = (told: readonly Told[]) => Buffer.concat(packedInPieces(told, { first: 1_000, next: 1_000 }));

const BITS = 0xfedc as OwnerBits;
const memory = (version = 1, id = systemTools.id('mem', BITS)): Told => ({ kind: 'memory', id, version });
const message = (id = systemTools.id('msg', BITS)): Told => ({ kind: 'message', id });
const relation = (id = systemTools.id('sta', BITS)): Told => ({ kind: 'relation', id });

test('what was told comes back as it was, in its order', () => {
  const versions = [1, 2, 31, 32, 127, 4_095, 4_096, 1_000_000];
  const told = [...versions.map((version) => memory(version)), message(), memory(), relation(), message()];
  expect(unpackedTold(packedTold(told))).toEqual(told);
  expect(unpackedTold(packedTold([]))).toEqual([]);
});

test('ids of any other shape come back, too', () => {
  const told = [
    memory(3, 'mem_1'),
    message('a message of elsewhere'),
    relation('sta_1'),
    memory(2, `é${'x'.repeat(300)}`),
    memory(),
  ];
  expect(unpackedTold(packedTold(told))).toEqual(told);
});

test('an id takes 17 bytes, and a version mostly one', () => {
  const packed = packedTold(Array.from({ length: 10 }, () => memory(7)));
  expect(packed.length).toBe(180);
  expect(packedTold([relation()]).length).toBe(18);
});

test('the highest and the lowest id come back', () => {
  const told = ['mem_00000000000000000000000000', 'mem_zzzzzzzzzzzzzzzzzzzzzzzzzz'].map((id) => memory(1, id));
  expect(unpackedTold(packedTold(told))).toEqual(told);
});

test('a memory is found among what was told by its id in hex', () => {
  const told = [memory(5), message(), memory(6, 'mem_1')];
  const hex = Buffer.from(packedTold(told)).toString('hex');
  expect([...told, memory()].map(({ id }) => hex.includes(packedId(id)))).toEqual([true, true, true, false]);
});

test('what does not fit goes on in further pieces, none of them too large, and nothing of it is lost', () => {
  const told = Array.from({ length: 400 }, (_, i) => (i % 3 === 0 ? message() : memory(i * 7)));
  const pieces = packedInPieces(told, { first: 30, next: 250 });
  expect(pieces[0]?.length).toBeLessThanOrEqual(30);
  expect(Math.max(...pieces.map(({ length }) => length))).toBeLessThanOrEqual(250);
  expect(pieces.slice(1, -1).every(({ length }) => length > 250 - 20)).toBe(true);
  expect(pieces.flatMap(unpackedTold)).toEqual(told);
});

test('an entry that is larger than the room has a piece of its own', () => {
  const told = [memory(), memory(1, 'x'.repeat(300)), memory()];
  const pieces = packedInPieces(told, { first: 10, next: 100 });
  expect(pieces.map(unpackedTold)).toEqual(told.map((one) => [one]));
  expect(packedInPieces([], { first: 10, next: 100 })).toEqual([Buffer.alloc(0)]);
});
