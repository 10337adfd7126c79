import { type Filterable, type IdLists, isoOf, type Json, listsOfOne, type Trust, type Under } from '@slowwave/engine';
import fc from 'fast-check';
import { scope } from './builders.ts';
import { filterable } from './filter-cases.ts';
import { NOON } from './search-index-suite-points.ts';

/** Few values and keys, so that filters find something; hostile ones among them. */
const TEXTS = [
  'x',
  'X',
  '',
  '7',
  'true',
  'tea',
  'TÉA',
  'téa',
  'Straße',
  'İ',
  '茶',
  '😀',
  '\ue000',
  'a%',
  'a_',
  "'",
  '"',
  '\\',
  '*',
] as const;
/** Only memories have these: a filter with such a text is refused. */
const STORED_ONLY = ['\0', 'x\0', '\u001a', '\u001a0000', '\ud800', 'x\ud800x'] as const;
const NUMBERS = [0, 1, 7, -1.5, 0.1, 2 ** 53, 2 ** 60, 1e21, 1e300, 5e-324] as const;
const KEYS = ['a', 'b', 'c', 'a.b', '0', 'é', '"', '__proto__', 'eq', "'"] as const;
const ID_VALUES = ['x', 'X', 'bot', "b'"] as const;
const DAY = 86_400_000;
const HOURS = [-48, -24, -12, 0, 1, 12, 24, 30] as const;

const anyText = fc.constantFrom<string>(...TEXTS);
const anyScalar = fc.oneof<fc.Arbitrary<Json>[]>(anyText, fc.constantFrom<number>(...NUMBERS), fc.boolean());
const anyKey = fc.constantFrom<string>(...KEYS);
const orNull = <T>(some: fc.Arbitrary<T>) => fc.option(some, { nil: null });

const storedScalar: fc.Arbitrary<Json> = fc.oneof(
  { weight: 6, arbitrary: anyScalar },
  { weight: 1, arbitrary: fc.constantFrom<Json>(null, ...STORED_ONLY) },
);

const { value: anyStored } = fc.letrec<{ value: Json; members: Record<string, Json> }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 3 },
    { weight: 5, arbitrary: storedScalar },
    { weight: 2, arbitrary: fc.array(tie('value'), { maxLength: 3 }) },
    { weight: 2, arbitrary: tie('members') },
  ) as fc.Arbitrary<Json>,
  members: fc.dictionary(anyKey, tie('value'), { maxKeys: 3 }),
}));

const anyMetadata = fc.dictionary(anyKey, anyStored, { maxKeys: 5 });
const anyMoment = fc.constantFrom<number>(...HOURS).map((hours) => NOON + (hours * DAY) / 24);
const anyTrust = fc.constantFrom<Trust>('user', 'agent', 'external');
const anyId = orNull(fc.constantFrom<string>(...ID_VALUES));

/** A memory of user ann. */
export const anyFilterable: fc.Arbitrary<Filterable> = fc
  .record({
    scope: fc.record({ agentId: anyId, runId: anyId, appId: anyId }).map((ids) => scope({ userId: 'ann', ...ids })),
    text: fc
      .array(fc.constantFrom<string>(...TEXTS, ...STORED_ONLY.slice(0, 4)), { maxLength: 4 })
      .map((texts) => texts.join(' ')),
    category: orNull(anyText),
    metadata: anyMetadata,
    immutable: fc.boolean(),
    trust: anyTrust,
    flagged: fc.boolean(),
    confirmations: fc.nat({ max: 3 }),
    saidAt: anyMoment.map((at) => ({ at, seq: 1 })),
    validFrom: anyMoment,
    expiresAt: orNull(anyMoment.map((at) => at + 100 * DAY)),
    createdAt: anyMoment,
    updatedAt: anyMoment,
  })
  .chain((given) => anyIds(given.scope).map((ids) => filterable('any', { ...given, ids })));

/** Most memories stand under the ids they were made with alone. */
const anyIds = (under: Under): fc.Arbitrary<IdLists> => {
  const some = fc.uniqueArray(fc.constantFrom<string>(...ID_VALUES), { maxLength: 4 });
  return fc.oneof(
    { weight: 2, arbitrary: fc.constant(listsOfOne(under)) },
    { weight: 1, arbitrary: fc.record({ agentId: some, runId: some, appId: some }) },
  );
};

const listOf = (value: fc.Arbitrary<Json>) => fc.array(value, { maxLength: 3 });
const oneOperator = (operators: Readonly<Record<string, fc.Arbitrary<Json>>>): fc.Arbitrary<Json> =>
  fc.record(operators, { requiredKeys: [] }).filter((made) => Object.keys(made).length > 0) as fc.Arbitrary<Json>;

const equals = (value: fc.Arbitrary<Json>) => ({
  eq: orNull(value),
  ne: orNull(value),
  in: listOf(orNull(value)),
  nin: listOf(orNull(value)),
});
const compares = (value: fc.Arbitrary<Json>) => ({ gt: value, gte: value, lt: value, lte: value });
const part = fc.constantFrom<string>(...TEXTS.filter((text) => text !== ''), 'e', 'É', 'ss', '0000');
const contains = { contains: part, icontains: part };

const asked = (
  value: fc.Arbitrary<Json>,
  operators: Readonly<Record<string, fc.Arbitrary<Json>>>,
): fc.Arbitrary<Json> =>
  fc.oneof(
    { weight: 3, arbitrary: value.filter((one) => one !== '*') },
    { weight: 2, arbitrary: fc.constantFrom<Json>('*', null) },
    { weight: 2, arbitrary: listOf(orNull(value)) },
    // One operator most of the time: two at once find little.
    ...Object.entries(operators).map(([name, given]) => ({
      weight: 1,
      arbitrary: given.map((one) => ({ [name]: one })),
    })),
    { weight: 1, arbitrary: oneOperator(operators) },
  ) as fc.Arbitrary<Json>;

const momentText = anyMoment.chain((at) => fc.constantFrom<Json>(isoOf(at), isoOf(at).slice(0, 10)));
const momentAsked = fc.oneof<fc.Arbitrary<Json>[]>(
  momentText,
  fc.constantFrom<Json>('*', null),
  oneOperator({ eq: orNull(momentText), ne: orNull(momentText), ...compares(momentText) }),
);

const idAsked = asked(fc.constantFrom<string>(...ID_VALUES), equals(fc.constantFrom<string>(...ID_VALUES)));
const metadataAsked = asked(anyScalar, {
  ...equals(anyScalar),
  ...compares(fc.oneof<fc.Arbitrary<Json>[]>(anyText, fc.constantFrom<number>(...NUMBERS))),
  ...contains,
});

const member = (name: string, value: fc.Arbitrary<Json>): fc.Arbitrary<Json> => value.map((one) => ({ [name]: one }));

const anyCondition: fc.Arbitrary<Json> = fc.oneof(
  { weight: 2, arbitrary: fc.constantFrom('agent_id', 'run_id', 'app_id').chain((name) => member(name, idAsked)) },
  { weight: 1, arbitrary: member('id', asked(fc.constantFrom('m1', 'm2', 'm9'), equals(fc.constantFrom('m1', 'm3')))) },
  { weight: 2, arbitrary: member('memory', oneOperator(contains)) },
  { weight: 2, arbitrary: member('categories', asked(anyText, { ...equals(anyText), ...contains })) },
  {
    weight: 3,
    arbitrary: fc
      .constantFrom('created_at', 'updated_at', 'said_at', 'valid_from', 'expires_at')
      .chain((name) => member(name, momentAsked)),
  },
  { weight: 1, arbitrary: member('flagged', oneOperator({ eq: fc.boolean(), ne: fc.boolean() })) },
  { weight: 1, arbitrary: member('trust', asked(anyTrust, equals(anyTrust))) },
  { weight: 1, arbitrary: member('immutable', oneOperator({ eq: fc.boolean(), ne: fc.boolean() })) },
  {
    weight: 1,
    arbitrary: member(
      'confirmations',
      oneOperator({ ...equals(fc.constantFrom(0, 1, 1.5)), ...compares(fc.constantFrom(0, 1, 2.5)) }),
    ),
  },
  { weight: 5, arbitrary: fc.tuple(anyKey, metadataAsked).map(([key, one]) => ({ metadata: { [key]: one } })) },
  {
    weight: 3,
    arbitrary: fc
      .tuple(fc.constantFrom('a', 'b', 'c', 'a.b', 'b.a', 'a.b.c', '0', 'c.0', 'a.eq'), metadataAsked)
      .map(([path, one]) => ({ [`metadata.${path}`]: one })),
  },
) as fc.Arbitrary<Json>;

/** A filter without mistakes, as a caller writes it. */
export const { filter: anyFilter } = fc.letrec<{ filter: Json }>((tie) => ({
  filter: fc.oneof(
    { maxDepth: 3 },
    { weight: 4, arbitrary: anyCondition },
    ...(['AND', 'OR', 'NOT'] as const).map((name) => ({
      weight: 1,
      arbitrary: fc.array(tie('filter'), { maxLength: 3 }).map((of) => ({ [name]: of })),
    })),
    {
      weight: 1,
      arbitrary: fc.tuple(anyCondition, anyCondition).map(([a, b]) => ({ ...(a as object), ...(b as object) })),
    },
  ) as fc.Arbitrary<Json>,
}));
