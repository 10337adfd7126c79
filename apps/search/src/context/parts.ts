import { type PostContext, type PostSearch, textOf } from '@slowwave/contracts';
import {
  asEngineError,
  besideOwner,
  type ContextParts,
  type Conversation,
  type Filter,
  filterableOf,
  idListsOf,
  inApp,
  isUnder,
  type KnownFact,
  type KnownRelation,
  type Ledger,
  liveVersion,
  type Memory,
  type Millis,
  matches,
  type ProfileFact,
  queryOf,
  type SectionName,
  scopeOf,
  shownVersion,
  type TenantId,
} from '@slowwave/engine';
import { ProblemError } from '@slowwave/http';
import { deadlineOf, LATE, lateNote } from '../deadline.ts';
import type { SearchDeps } from '../deps.ts';
import { search } from '../search.ts';
import type { ContextQuestion } from './context.ts';

/** More than fits in a block of the default size. */
const PROFILE_MAX = 40;
/** Far more than a person writes before a turn of the lane is due. */
const PENDING_MAX = 100;
/** A page of a book has 2,000 characters; a document does not fit in the block. */
const PENDING_BYTES_MAX = 32_768;

interface ReadParts {
  readonly parts: ContextParts;
  /** There are older pending messages. */
  readonly more: boolean;
  /** What is missing, and why. */
  readonly degraded: readonly string[];
}

/** Reads all parts at once. One that fails or is late is omitted and reported, unless nothing else was requested. */
export async function readParts(
  deps: SearchDeps,
  question: ContextQuestion,
  sections: readonly SectionName[],
): Promise<ReadParts> {
  const { timeout_ms: limit } = question.body;
  const has = (...names: SectionName[]): boolean => names.some((name) => sections.includes(name));
  const ask = async <T>(wanted: boolean, name: string, read: () => Promise<T>): Promise<Part<T>> =>
    wanted ? { name, outcome: await outcomeOf(read, limit) } : { name, outcome: null };
  const [searched, profile, conversation] = await Promise.all([
    ask(has('memories', 'relations'), partOf(sections), () => found(deps, question, sections)),
    ask(has('profile'), 'profile', () => profileOf(deps, question)),
    ask(has('summary', 'pending'), 'summary and pending', () => conversationOf(deps, question)),
  ]);
  const asked = readOf(searched);
  const present = readOf(conversation);
  return {
    parts: {
      profile: readOf(profile) ?? [],
      memories: asked?.facts ?? [],
      relations: asked?.relations ?? [],
      summary: has('summary') ? (present?.summary ?? null) : null,
      pending: has('pending') ? (present?.pending ?? []) : [],
    },
    more: has('pending') && present?.more === true,
    degraded: [...(asked?.degraded ?? []), ...missing(deps, [searched, profile, conversation])],
  };
}

interface Part<T> {
  readonly name: string;
  /** null: not requested. */
  readonly outcome: Outcome<T> | null;
}

const readOf = <T>({ outcome }: Part<T>): T | null => (outcome?.kind === 'done' ? outcome.value : null);

/** What is missing, and why. If every requested part failed, throws instead of returning an empty block. */
function missing({ log }: SearchDeps, parts: readonly Part<unknown>[]): string[] {
  const asked = parts.flatMap(({ name, outcome }) => (outcome === null ? [] : [{ name, ...outcome }]));
  const failed = asked.filter((part) => part.kind === 'failed');
  if (failed.length === asked.length && failed[0] !== undefined) throw failed[0].error;
  for (const { name, error } of failed) log.warn({ err: error }, `context without ${name}`);
  return asked.flatMap((part) => {
    if (part.kind === 'done') return [];
    if (part.kind === 'late') return [lateNote(part.name)];
    return [`${part.name} omitted: could not be read (${asEngineError(part.error).code})`];
  });
}

const partOf = (sections: readonly SectionName[]): string =>
  sections.includes('relations') ? 'memories and relations' : 'memories';

interface Found {
  readonly facts: readonly KnownFact[];
  readonly relations: readonly KnownRelation[];
  readonly degraded: readonly string[];
}

/** One search for both: relations boost the memories that they came from. */
async function found(
  deps: SearchDeps,
  { tenant, body, where, app }: ContextQuestion,
  sections: readonly SectionName[],
): Promise<Found> {
  const query = askedIn(body);
  if (query === null) return { facts: [], relations: [], degraded: [] };
  const include = sections.includes('relations') ? (['relations'] as const) : [];
  const asked = { ...searchBody(body, query), include: [...include] };
  const { results, relations = [], degraded = [] } = await search(deps, { tenant, body: asked, where, app });
  const facts = results.map(({ id, version, memory, said_at, valid_from, utc_offset }) => ({
    memoryId: id,
    version,
    text: memory,
    saidAt: Date.parse(said_at),
    validFrom: Date.parse(valid_from),
    ...(utc_offset !== undefined && { utcOffset: utc_offset }),
  }));
  return {
    facts: sections.includes('memories') ? facts : [],
    relations: relations.map(({ text, valid_from }) => ({ text, validFrom: Date.parse(valid_from) })),
    degraded,
  };
}

const askedIn = ({ query, messages = [] }: PostContext): string | null =>
  query ?? queryOf(messages.map(({ role, content }) => ({ role, text: textOf(content) })));

function searchBody(body: PostContext, query: string): PostSearch {
  const { query: _query, messages: _messages, max_tokens, format, sections, ...rest } = body;
  return { ...rest, query, include: [] };
}

async function profileOf(
  { ledger, tools }: SearchDeps,
  { tenant, body, where, app }: ContextQuestion,
): Promise<readonly KnownFact[]> {
  const at = body.as_of === undefined ? tools.now() : Date.parse(body.as_of);
  const limit = where === null && app === null ? PROFILE_MAX : FILTERED_MAX;
  const facts = await ledger.present.profile(tenant, scopeOf(body), { at, limit });
  const kept = where === null && app === null ? facts : await fitting(ledger, { tenant, facts, where, app, body, at });
  return kept.map((fact) => ({ ...fact, saidAt: fact.saidAt.at }));
}

/** How many are read if there is a filter, of which few may pass. */
const FILTERED_MAX = 200;

interface Narrowing {
  readonly tenant: TenantId;
  readonly facts: readonly ProfileFact[];
  readonly where: Filter | null;
  readonly app: string | null;
  readonly body: PostContext;
  readonly at: Millis;
}

async function fitting(ledger: Ledger, narrowing: Narrowing): Promise<readonly ProfileFact[]> {
  const { tenant, facts } = narrowing;
  const memories = await ledger.memories.many(
    tenant,
    facts.map(({ memoryId }) => memoryId),
  );
  const byId = new Map(memories.map((memory) => [memory.id, memory]));
  return facts.flatMap((fact) => fittingFact(fact, byId.get(fact.memoryId), narrowing)).slice(0, PROFILE_MAX);
}

/** As said in the app, if the key is bound to one. */
function fittingFact(fact: ProfileFact, memory: Memory | undefined, narrowing: Narrowing): ProfileFact[] {
  const { where, app, body, at } = narrowing;
  const known = memory === undefined || app === null ? memory : inApp(memory, app);
  if (known === undefined || known === null) return [];
  if (where !== null && !matches(where, filterableOf(known))) return [];
  if (app === null) return [fact];
  if (!isUnder(idListsOf(known), besideOwner(scopeOf(body))) || liveVersion(known) === null) return [];
  const { number: version, text, saidAt, validFrom, details } = shownVersion(known, at);
  if (validFrom > at || (details.expiresAt !== null && details.expiresAt <= at)) return [];
  const { utcOffset } = details;
  return [{ memoryId: known.id, version, text, saidAt, validFrom, ...(utcOffset !== undefined && { utcOffset }) }];
}

const conversationOf = ({ ledger }: SearchDeps, { tenant, body }: ContextQuestion): Promise<Conversation> =>
  ledger.present.conversation(tenant, scopeOf(body), { messages: PENDING_MAX, longest: PENDING_BYTES_MAX });

/** The outcome of a part. */
type Outcome<T> =
  | { readonly kind: 'done'; readonly value: T }
  | { readonly kind: 'late' }
  | { readonly kind: 'failed'; readonly error: unknown };

/** A search keeps the time limit itself and then returns a partial result, which needs a little longer. */
const GRACE_MS = 50;

/** Waits for a part until the time limit. */
async function outcomeOf<T>(read: () => Promise<T>, timeoutMs: number | undefined): Promise<Outcome<T>> {
  const deadline = deadlineOf(timeoutMs === undefined ? undefined : timeoutMs + GRACE_MS);
  try {
    const value = await deadline.within(read);
    return value === LATE ? { kind: 'late' } : { kind: 'done', value };
  } catch (error) {
    const isLate = error instanceof ProblemError && error.code === 'timed_out';
    return isLate ? { kind: 'late' } : { kind: 'failed', error };
  } finally {
    deadline.end();
  }
}
