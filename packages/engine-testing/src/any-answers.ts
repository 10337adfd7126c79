import type { EngineErrorCode, Json } from '@slowwave/engine';
import fc from 'fast-check';

/** Few texts, so that repeats, near misses and returns happen often. */
const TEXTS = [
  'User lives in Oslo',
  'user lives in OSLO.',
  'User lives in Bergen',
  'User lives in Rome',
  'User likes tea',
  'User likes coffee',
  'User has a dog named Rex',
  'User has no dog',
  '用户住在北京',
] as const;

export const anyText = fc.constantFrom<string>(...TEXTS);

const FIRST_SURROGATE = 0xd800;
const SURROGATES = 0x800;

/**
 * Any character at all. What fast-check calls `binary` gives the same ones, from a table of all million of them: more than a
 * second of work for each process that only loads this file.
 */
export const anyCharacter = fc.integer({ min: 0, max: 0x10ffff - SURROGATES }).map(
  (n) => String.fromCodePoint(n < FIRST_SURROGATE ? n : n + SURROGATES),
  (character) => placeOf(String(character)),
);

function placeOf(character: string): number {
  const [only = '', ...others] = character;
  const code = only.codePointAt(0);
  if (code === undefined || others.length > 0 || !only.isWellFormed()) throw new Error('expected one character');
  return code < FIRST_SURROGATE ? code : code - SURROGATES;
}

/** Ids in range, out of range, bent, and hostile. */
const anyId = fc.oneof(
  { weight: 6, arbitrary: fc.constantFrom<Json>('0', '1', '2', 'f0', 'f1', 'f2') },
  { weight: 1, arbitrary: fc.constantFrom<Json>(0, 1, null, '', '99', -1, 'f99', 'F0', ' 0 ') },
  {
    weight: 1,
    arbitrary: fc.constantFrom<Json>(
      '__proto__',
      'constructor',
      'toString',
      'mem_00000000000001000000000000',
      'mem_known_0',
      'x'.repeat(500),
    ),
  },
);

const anyFact = fc.oneof(
  { weight: 8, arbitrary: fc.constantFrom<Json>('f0', 'f1', 'f2', 'f3') },
  { weight: 1, arbitrary: anyId },
);

const anyEvent = fc.oneof(
  { weight: 8, arbitrary: fc.constantFrom<Json>('ADD', 'UPDATE', 'UPDATE', 'DELETE', 'NONE') },
  { weight: 1, arbitrary: fc.constantFrom<Json>('EXPLODE', null, '', 'update', 7, []) },
);

const anyWords = fc.oneof(
  { weight: 4, arbitrary: anyText },
  {
    weight: 2,
    arbitrary: fc.constantFrom<Json>(null, '', '  ', '…', { text: 'User lives in Paris' }, ['x'], 'x'.repeat(9_000)),
  },
  { weight: 1, arbitrary: fc.string({ unit: anyCharacter, maxLength: 20 }) },
);

/** An operation as a model that means well, or ill, might write it. */
const anyOperation: fc.Arbitrary<Json> = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.record(
      {
        fact: anyFact,
        event: anyEvent,
        id: anyId,
        text: anyWords,
        reason: fc.constantFrom<Json>('so', null),
        keep: fc.constantFrom<Json>(null, true, false),
      },
      { requiredKeys: [] },
    ),
  },
  { weight: 2, arbitrary: fc.record({ id: anyId, text: anyWords, event: anyEvent }, { requiredKeys: ['id'] }) },
  { weight: 1, arbitrary: fc.jsonValue({ maxDepth: 2 }) as fc.Arbitrary<Json> },
);

export const anyOperations = fc.array(anyOperation, { maxLength: 8 });

/** How a model answers one call: as asked, with something else of the kind, or with anything at all. */
export type Behaviour =
  | { readonly kind: 'good' }
  | { readonly kind: 'facts' | 'operations' | 'json'; readonly value: Json }
  | { readonly kind: 'text'; readonly text: string }
  /** The good answer, broken off after this share of it. */
  | { readonly kind: 'cut'; readonly share: number }
  | { readonly kind: 'fault'; readonly code: EngineErrorCode; readonly retryable: boolean };

const anyRawFact: fc.Arbitrary<Json> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record(
      {
        text: anyWords,
        source_ids: fc.array(fc.constantFrom<Json>('m0', 'm1', 'm2', 'm99', '__proto__', 0), { maxLength: 3 }),
        valid_from: fc.constantFrom<Json>(null, '2026-01-05', '1999', 'yesterday', '9999-99-99', 12),
        about: fc.constantFrom<Json>('user', 'agent', null, 'moon'),
        category: fc.constantFrom<Json>(null, null, 'travel', 'forget', 'x'.repeat(300)),
      },
      { requiredKeys: ['text'] },
    ),
  },
  { weight: 2, arbitrary: anyText },
  { weight: 1, arbitrary: fc.jsonValue({ maxDepth: 2 }) as fc.Arbitrary<Json> },
);

const anythingElse: fc.Arbitrary<Behaviour> = fc.oneof(
  fc.record({ kind: fc.constant('json' as const), value: fc.jsonValue() as fc.Arbitrary<Json> }),
  fc.record({
    kind: fc.constant('text' as const),
    text: fc.oneof(
      fc.string({ unit: anyCharacter }),
      fc.constantFrom('', '<think>', '{"facts":[', 'I am sorry.', '[{"', '```'),
    ),
  }),
  fc.record({ kind: fc.constant('cut' as const), share: fc.double({ min: 0, max: 1, noNaN: true }) }),
  fc.record({
    kind: fc.constant('fault' as const),
    code: fc.constantFrom<EngineErrorCode>('model_unreachable', 'model_overloaded', 'model_timeout', 'model_rejected'),
    retryable: fc.boolean(),
  }),
);

const mostly = (usual: fc.Arbitrary<Behaviour>): fc.Arbitrary<Behaviour> =>
  fc.oneof(
    { weight: 4, arbitrary: fc.constant<Behaviour>({ kind: 'good' }) },
    { weight: 6, arbitrary: usual },
    { weight: 3, arbitrary: anythingElse },
  );

/** For the calls of one engine, by their name. */
export const anyMood = fc.record({
  extract_facts: fc.array(
    mostly(fc.record({ kind: fc.constant('facts' as const), value: fc.array(anyRawFact, { maxLength: 5 }) })),
    { maxLength: 8 },
  ),
  decide_operations: fc.array(mostly(fc.record({ kind: fc.constant('operations' as const), value: anyOperations })), {
    maxLength: 8,
  }),
  repair_output: fc.array(mostly(anythingElse), { maxLength: 4 }),
});
export type Mood = Readonly<Record<string, readonly Behaviour[]>>;
