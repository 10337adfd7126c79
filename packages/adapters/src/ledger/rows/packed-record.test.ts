import { EngineError } from '@slowwave/engine';
import { ID_ALPHABET } from '@slowwave/engine/storing';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { markOf, packedRecord, unpackedRecord } from './packed-record.ts';

const SELF = 'con_01m8gkp8q55ar8b01s4c72m471';
const digits = fc.string({ unit: fc.constantFrom(...ID_ALPHABET), minLength: 26, maxLength: 26 });
const anyId = fc.tuple(fc.constantFrom('mem', 'cal', 'bat'), digits).map(([kind, of]) => `${kind}_${of}`);
const hash = fc.string({ unit: fc.constantFrom(...'0123456789abcdef'), minLength: 32, maxLength: 32 });
const anyNumber = fc.oneof(
  fc.integer(),
  fc.maxSafeInteger(),
  fc.double({ noNaN: true, noDefaultInfinity: true }),
  fc.integer({ min: 0, max: 99_999 }).map((n) => n / 1e5),
  fc.constantFrom(1_795_853_853_406, 1e21, 1e-7, 0.0014944000000000001),
);
const anyText = fc.oneof(
  fc.string(),
  fc.string({ unit: 'binary' }),
  fc.constantFrom('half \ud83d a pair', '\0\x01\x1f"\\:'),
);
const { record } = fc.letrec((tie) => ({
  record: fc.oneof(
    { depthSize: 'small' },
    ...[anyNumber, anyText, anyId, hash, fc.constantFrom(null, true, false, SELF)],
    fc.array(tie('record'), { maxLength: 8 }),
    fc.dictionary(anyText, tie('record'), { maxKeys: 8 }),
  ),
}));
const asJson = (value: unknown): unknown => JSON.parse(JSON.stringify(value));

test('a record comes back as it was, whatever is in it', () => {
  fc.assert(
    fc.property(record, fc.boolean(), (value, twice) => {
      const given = twice ? [value, value] : value;
      expect(unpackedRecord(packedRecord(given, SELF), SELF)).toEqual(asJson(given));
      expect(unpackedRecord(packedRecord(given, 'con_1'), 'con_1')).toEqual(asJson(given));
    }),
    { numRuns: 500 },
  );
});

test('more ids, texts and numbers than have names come back, too', () => {
  const many = Array.from({ length: 300 }, (_, i) => [
    `a text of its own, ${i}`,
    `mem_${String(i).padStart(26, '0')}`,
    i * 99,
  ]);
  expect(unpackedRecord(packedRecord([many, many], SELF), SELF)).toEqual([many, many]);
});

test('every id that it names is found by its mark, also one of another form that is asked for', () => {
  fc.assert(
    fc.property(fc.array(anyId, { minLength: 1, maxLength: 5 }), (ids) => {
      const bytes = packedRecord({ ids }, SELF, ['mem_1', ...ids]);
      for (const id of ['mem_1', ...ids]) expect(bytes.includes(markOf(id))).toBe(true);
    }),
  );
  // Ids that count up have no random digits.
  const [one, other] = ['mem_00000000000001000000000000', 'mem_00000000000002000000000000'];
  expect(packedRecord([one], SELF).includes(markOf(other))).toBe(false);
});

test('what is usual takes next to nothing', () => {
  const text = 'User grows basil on the balcony of the new flat';
  const facts = [{ id: 'f0', text, sourceIds: ['msg_01m8gkp8py04j6b01k935q59d0'], quote: text }];
  expect(packedRecord({ facts }, SELF).length).toBeLessThan(JSON.stringify({ facts }).length / 2);
});

test('a form that a newer release has written is refused by name', () => {
  expect(() => unpackedRecord(Buffer.of(9, 1, 2), SELF)).toThrow(EngineError);
  expect(() => unpackedRecord(Buffer.of(9, 1, 2), SELF)).toThrow('expected a packed record of form 1, got 9');
  expect(() => unpackedRecord(Buffer.of(), SELF)).toThrow('got no bytes');
});
