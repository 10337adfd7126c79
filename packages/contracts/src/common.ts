import { z } from 'zod';

/** Longest id a caller may choose for a user, agent, run, app or message. */
export const ID_MAX = 256;

/** Like a pattern, but not part of the description: few generators know look-ahead and the classes of Unicode. */
export function formedAs(pattern: RegExp, message: string) {
  return ({ value, issues }: z.core.ParsePayload<string>): void => {
    if (!pattern.test(value)) issues.push({ code: 'invalid_format', format: 'regex', message, input: value });
  };
}

export const OwnerKind = z.enum(['user', 'agent', 'run']);

/** A caller-chosen id: printable, not blank, at most 256 characters, and able to stand in a URL. */
export const ExternalId = z
  .string()
  .min(1)
  // Too long texts are reported at once: the expression below would read megabytes.
  .max(ID_MAX, { abort: true })
  // Linear on any input; half of a surrogate pair is refused because stores would make different ids equal.
  .check(formedAs(/^(?=\s*\S)[^\p{Cc}\p{Cs}]+$/u, 'must contain a visible character and no control characters'))
  // Browsers, fetch and curl take them out of a path: nobody could erase whom they name.
  .check(formedAs(/^(?!\.\.?$)/u, 'must not be "." or "..", which cannot be used in a URL path'));

/** Longer than any time with a fraction of a second and an offset. */
const MOMENT_MAX = 64;

/** A time as ISO 8601 with an offset, e.g. 2026-03-01T09:30:00Z. Too long texts are not parsed. */
export const Moment = z
  .string()
  .max(MOMENT_MAX, { abort: true })
  .check(z.iso.datetime({ offset: true }));

/** Longer than any name of a zone. */
const ZONE_MAX = 64;

/** A name of the IANA time zone database. */
export const TimeZone = z.string().max(ZONE_MAX, { abort: true }).refine(isTimeZone, {
  message: 'expected the name of a time zone, like Europe/Oslo or Asia/Tokyo (see the IANA time zone database)',
});

function isTimeZone(timeZone: string): boolean {
  try {
    return new Intl.DateTimeFormat('en', { timeZone }).format(0) !== '';
  } catch {
    return false;
  }
}

/** The ids that place a batch or a question: at least one of user, agent, run. */
export const ScopeFields = {
  user_id: ExternalId.optional(),
  agent_id: ExternalId.optional(),
  run_id: ExternalId.optional(),
  app_id: ExternalId.optional(),
};

type ScopeIds = { user_id?: string | undefined; agent_id?: string | undefined; run_id?: string | undefined };

export const hasOwnerId = (ids: ScopeIds): boolean =>
  ids.user_id !== undefined || ids.agent_id !== undefined || ids.run_id !== undefined;

export const OWNER_ID_MISSING = 'expected at least one of user_id, agent_id, run_id';

/** Nesting of objects and lists in metadata: as deep as a filter can address. */
const METADATA_LEVELS_MAX = 10;
/** Total size in characters of JSON: it is stored with every version of every memory. */
const METADATA_MAX = 16_000;
const METADATA_KEY_MAX = 128;

/** Metadata as stored, under whatever limits were valid then. */
export const MetadataView = z.record(z.string(), z.json());

/**
 * Any JSON. A body was parsed from JSON, so all of it is JSON, but for numbers that are too large: checking each value again takes ten
 * times as long as parsing.
 */
const AnyJson = z.unknown().describe('Any JSON value') as unknown as z.ZodType<z.core.util.JSONType>;

/** Checks a value as a whole, such as its size, before the schema checks its parts. The JSON schema stays the same. */
export function lookedAtFirst<T extends z.ZodType>(mistakeOf: (value: unknown) => string | null, schema: T) {
  const { $schema: _, ...shown } = z.toJSONSchema(schema, { io: 'input' });
  const first = z.unknown().superRefine((value, { addIssue }) => {
    const mistake = mistakeOf(value);
    if (mistake !== null) addIssue(mistake);
  });
  return first.pipe(schema).meta(shown as Record<string, unknown>);
}

/**
 * A fast path for values that are plainly valid: for many small items in a long list it is faster than the parts of a
 * schema. The schema must accept every value that `isPlain` accepts, and must not change it.
 */
export function takenAtOnce<T extends z.ZodType>(schema: T, isPlain: (value: unknown) => boolean): T {
  const { run } = schema._zod;
  schema._zod.run = (payload, context) => (isPlain(payload.value) ? payload : run(payload, context));
  return schema;
}

/** A free JSON object of limited size. Serialising it takes no longer than parsing it did. */
const jsonOf = (most: number, key: z.ZodString = z.string()) =>
  lookedAtFirst((value) => tooLong(value, most), z.record(key, AnyJson));

/** The same with a limit of fields and items, which are counted first, up to the limit. */
const fewPartsOf = (parts: number, most: number) =>
  lookedAtFirst((value) => tooManyParts(value, parts) ?? tooLong(value, most), z.record(z.string(), AnyJson));

const tooManyParts = (value: unknown, most: number): string | null =>
  countParts(value, most) > most ? `expected at most ${most} nested fields and items, got more` : null;

/** Counts the nested values, but not much further than the limit. */
function countParts(value: unknown, most: number): number {
  if (typeof value !== 'object' || value === null) return 0;
  let parts = 0;
  for (const inner of Array.isArray(value) ? value : Object.values(value)) {
    parts += 1 + countParts(inner, most - parts - 1);
    if (parts > most) break;
  }
  return parts;
}

/** The shortest field of JSON, with its comma, in characters. */
const FIELD_MIN = 4;

function tooLong(value: unknown, most: number): string | null {
  // Very many fields are too long whatever they contain, so they need not be serialised.
  const fields = typeof value === 'object' && value !== null && !Array.isArray(value) ? Object.keys(value).length : 0;
  if (fields * FIELD_MIN > most + FIELD_MIN) return `expected at most ${most} characters of JSON, got more`;
  const text = JSON.stringify(value) ?? '';
  if (text.length > most) return `expected at most ${most} characters of JSON, got ${text.length}`;
  return text.includes('null') && hasEndless(value) ? 'expected numbers below 1.8e308, got a larger one' : null;
}

/** A larger number was parsed as infinity, which JSON writes as null. */
function hasEndless(value: unknown): boolean {
  if (typeof value === 'number') return !Number.isFinite(value);
  return typeof value === 'object' && value !== null && Object.values(value).some(hasEndless);
}

/** Free JSON a caller attaches to a batch or memory; it never sets identity. */
export const Metadata = jsonOf(METADATA_MAX, z.string().min(1).max(METADATA_KEY_MAX)).refine(
  (metadata) => !isDeeper(metadata, METADATA_LEVELS_MAX),
  `expected at most ${METADATA_LEVELS_MAX} levels of nested objects and lists, got more; flatten it`,
);

function isDeeper(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return levels === 0 || Object.values(value).some((child) => isDeeper(child, levels - 1));
}

/** A whole number within limits. */
export const whole = (min: number, max: number) => z.int().min(min).max(max);

/** A share of a whole. */
export const Share = z.number().min(0).max(1);

/** What a tenant calls a suite. */
export const SuiteName = z
  .string()
  .min(1)
  .max(64)
  .check(
    formedAs(/^[a-zA-Z0-9][a-zA-Z0-9._-]*$/u, 'expected letters, digits, ., _ and -, beginning with a letter or digit'),
  );

const PAGE_MAX = 200;
const PAGE_DEFAULT = 50;
/** A cursor may hold an id of any letters. */
const CURSOR_MAX = 2_048;

/** Query parameters every list takes. */
export const PageQuery = {
  limit: z.coerce.number().int().min(1).max(PAGE_MAX).default(PAGE_DEFAULT),
  cursor: z
    .string()
    .max(CURSOR_MAX)
    .optional()
    .describe('next_cursor of the previous page. Omit it for the first page.'),
};

/** The body of every list answer. */
export const listOf = <T extends z.ZodType>(item: T) =>
  z.object({ results: z.array(item), next_cursor: z.string().nullable() });

export const ScopeView = z.object({
  user_id: z.string().nullable(),
  agent_id: z.string().nullable(),
  run_id: z.string().nullable(),
  app_id: z.string().nullable(),
});

/** A failure as it is stored. */
export const FailureView = z.object({ code: z.string(), message: z.string(), at: z.string() }).meta({ id: 'Failure' });

/** Model usage. */
export const UsageView = z
  .object({ calls: z.int(), prompt_tokens: z.int(), completion_tokens: z.int() })
  .meta({ id: 'Usage' });

/** Longest long-poll a request may ask for. */
export const WAIT_MAX_MS = 60_000;
export const WaitQuery = z.object({
  wait: z.coerce
    .number()
    .int()
    .min(0)
    .max(WAIT_MAX_MS)
    .default(0)
    .meta({ description: 'How long to wait for the outcome, in ms.', examples: [1_000] }),
});

/** How texts count things: 1 case, 2 cases. */
export const counted = (count: number | bigint, what: string): string =>
  `${count} ${what}${Number(count) === 1 ? '' : 's'}`;

export const isUnique = (items: readonly string[]): boolean => new Set(items).size === items.length;
export const TWICE = { message: 'expected no duplicates' };

/** Enough for a thousand values of a hundred characters and the maximum number of conditions. */
const FILTER_MAX = 130_000;
/** More than a hundred deeply nested conditions with a thousand values consist of. */
const PARTS_MAX = 5_000;

/** A filter as JSON; the engine parses it and reports where a mistake is. */
export const Filters = fewPartsOf(PARTS_MAX, FILTER_MAX).meta({
  id: 'Filters',
  description:
    'Conditions that memories must match: fields with a value, a list of values, "*" or operators (eq, ne, in, nin, ' +
    'gt, gte, lt, lte, contains, icontains), combined with AND, OR and NOT. Filters narrow the scope and never ' +
    'widen it. agent_id, run_id and app_id match every id under which a memory was said or confirmed. See docs/filters.md.',
  examples: [
    { categories: { in: ['food', 'travel'] }, created_at: { gte: '2026-03-01' } },
    { AND: [{ agent_id: '*' }, { NOT: [{ 'metadata.source': 'import' }] }] },
    { OR: [{ metadata: { priority: { gt: 3 } } }, { memory: { icontains: 'tea' } }] },
  ],
});

/** Characters of a filter in a query: servers and proxies accept URLs of about 8,000. */
const QUERY_TEXT_MAX = 6_000;

export const FiltersText = z
  .string()
  .max(QUERY_TEXT_MAX)
  .meta({
    description: 'A filter as percent-encoded JSON, with the same syntax as in POST /v1/search. See docs/filters.md.',
    examples: ['{"categories":"food"}'],
  });
