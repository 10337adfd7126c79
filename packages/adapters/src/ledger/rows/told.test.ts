import type { OwnerBits, Told } from '@slowwave/engine';
import { expect, test } from 'vitest';
import { systemTools } from '../../system/index.ts';
import { keyOf, packedId, packedTold, toldVersions, unpackedTold } from './told.ts';

const BITS = 0xfedc as OwnerBits;
const memory = (version = 1, id = systemTools.id('mem', BITS)): Told => ({ kind: 'memory', id, version });
const message = (id = systemTools.id('msg', BITS)): Told => ({ kind: 'message', id });

test('what was told comes back as it was, in its order', () => {
  const versions = [1, 2, 31, 32, 127, 4_095, 4_096, 1_000_000];
  const told = [...versions.map((version) => memory(version)), message(), memory(), message()];
  expect(unpackedTold(packedTold(told))).toEqual(told);
  expect(unpackedTold(packedTold([]))).toEqual([]);
});

test('ids of any other shape come back, too', () => {
  const told = [memory(3, 'mem_1'), message('a message of elsewhere'), memory(2, `é${'x'.repeat(300)}`), memory()];
  expect(unpackedTold(packedTold(told))).toEqual(told);
});

test('an id takes 17 bytes, and a version mostly one', () => {
  const packed = packedTold(Array.from({ length: 10 }, () => memory(7)));
  expect(packed.length).toBe(180);
});

test('the highest and the lowest id come back', () => {
  const told = ['mem_00000000000000000000000000', 'mem_zzzzzzzzzzzzzzzzzzzzzzzzzz'].map((id) => memory(1, id));
  expect(unpackedTold(packedTold(told))).toEqual(told);
});

test('a memory is found among what was told by the bytes of its id, and by its key', () => {
  const [one, other] = [memory(5), memory(6)];
  const bytes = Buffer.from(packedTold([memory(), message(), one]));
  expect([one, other].map(({ id }) => bytes.includes(Buffer.from(packedId(id))))).toEqual([true, false]);
  const versions = new Map([...toldVersions(bytes)].map(({ key, version }) => [key, version]));
  expect([one, other].map(({ id }) => versions.get(keyOf(id)))).toEqual([5, undefined]);
  expect(versions.size).toBe(2);
});
