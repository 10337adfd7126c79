import { type PostContext, type PostSearch, textOf } from '@slowwave/contracts';
import {
  asEngineError,
  besideOwner,
  type ContextParts,
  type Conversation,
  type Covered,
  filterableOf,
  idListsOf,
  inApp,
  isUnder,
  type KnownFact,
  type KnownRelation,
  linesKept,
  liveVersion,
  type Memory,
  type Millis,
  matches,
  ownerOf,
  PROFILE_READ,
  type ProfileFact,
  queryOf,
  type SectionName,
  scopeOf,
  shownVersion,
  slotsOf,
  type ToldFact,
  type ToldLine,
  taskLines,
} from '@slowwave/engine';
import { ProblemError } from '@slowwave/http';
import type { SearchDeps } from '../deps.ts';
import { deadlineOf, LATE, lateNote } from '../question.ts';
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
  /** What the summary was made of; null: there is none. */
  readonly covers: Covered | null;
  /** What was searched for in place of the query. */
  readonly rewritten?: string;
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
  const [told, searched, profile, conversation, task] = await Promise.all([
    ask(has('memories', 'profile'), 'the previous context', () => toldBefore(deps, question)),
    ask(has('memories', 'relations'), partOf(sections), () => found(deps, question, sections)),
    ask(has('profile'), 'profile', () => profileOf(deps, question)),
    ask(has('summary', 'pending'), 'summary and pending', () => conversationOf(deps, question)),
    ask(has('task'), 'task', () => taskOf(deps, question)),
  ]);
  const asked = readOf(searched);
  const present = readOf(conversation);
  const lasting = readOf(profile) ?? [];
  return {
    parts: {
      profile: lasting,
      memories: asked?.facts ?? [],
      relations: asked?.relations ?? [],
      summary: has('summary') ? (present?.summary ?? null) : null,
      task: readOf(task) ?? [],
      pending: has('pending') ? (present?.pending ?? []) : [],
      told: placed(readOf(told) ?? [], lasting, sections),
    },
    more: has('pending') && present?.more === true,
    covers: has('summary') ? (present?.covers ?? null) : null,
    ...(asked?.rewritten !== undefined && { rewritten: asked.rewritten }),
    degraded: [
      ...(asked?.degraded ?? []),
      ...missing(deps, [searched, profile, conversation, task]),
      ...notesOf(deps, [told]),
    ],
  };
}

interface Part<T> {
  readonly name: string;
  /** null: not requested. */
  readonly outcome: Outcome<T> | null;
}

const readOf = <T>({ outcome }: Part<T>): T | null => (outcome?.kind === 'done' ? outcome.value : null);

/** What is missing, and why. If every requested part failed, throws instead of returning an empty block. */
function missing(deps: SearchDeps, parts: readonly Part<unknown>[]): string[] {
  const asked = parts.flatMap(({ outcome }) => outcome ?? []);
  const failed = asked.filter((outcome) => outcome.kind === 'failed');
  if (failed.length === asked.length && failed[0] !== undefined) throw failed[0].error;
  return notesOf(deps, parts);
}

function notesOf({ log }: SearchDeps, parts: readonly Part<unknown>[]): string[] {
  return parts.flatMap(({ name, outcome }) => {
    if (outcome === null || outcome.kind === 'done') return [];
    if (outcome.kind === 'late') return [lateNote(name)];
    log.warn({ err: outcome.error }, `context without ${name}`);
    return [`${name} omitted: could not be read (${asEngineError(outcome.error).code})`];
  });
}

const partOf = (sections: readonly SectionName[]): string =>
  sections.includes('relations') ? 'memories and relations' : 'memories';

interface Found {
  readonly facts: readonly KnownFact[];
  readonly relations: readonly KnownRelation[];
  readonly rewritten?: string;
  readonly degraded: readonly string[];
}

/** One search for both: relations boost the memories that they came from. */
async function found(
  deps: SearchDeps,
  { tenant, body, where, app, living, asker }: ContextQuestion,
  sections: readonly SectionName[],
): Promise<Found> {
  const query = askedIn(body);
  if (query === null) return { facts: [], relations: [], degraded: [] };
  const include = sections.includes('relations') ? (['relations'] as const) : [];
  const asked = { ...searchBody(body, query), include: [...include] };
  const answer = await search(deps, { tenant, body: asked, where, app, living, asker });
  const { results, relations = [], rewritten_query: rewritten, degraded = [] } = answer;
  const facts = results.map(({ id, version, memory, said_at, valid_from, utc_offset, conclusion, skill }) => ({
    memoryId: id,
    version,
    text: memory,
    saidAt: Date.parse(said_at),
    validFrom: Date.parse(valid_from),
    ...(utc_offset !== undefined && { utcOffset: utc_offset }),
    ...(conclusion !== undefined && { certainty: conclusion.certainty }),
    ...(skill !== undefined && { successes: skill.successes }),
  }));
  return {
    facts: sections.includes('memories') ? facts : [],
    relations: relations.map(({ id, text, valid_from }) => ({ id, text, validFrom: Date.parse(valid_from) })),
    ...(rewritten !== undefined && { rewritten }),
    degraded,
  };
}

/** What is asked for; null: nothing in particular. */
export const askedIn = ({ query, messages = [] }: PostContext): string | null =>
  query ?? queryOf(messages.map(({ role, content }) => ({ role, text: textOf(content) })));

function searchBody(body: PostContext, query: string): PostSearch {
  const { query: _query, messages, max_tokens, format, sections, conversation_id, after, ...rest } = body;
  return { ...rest, query, include: [], ...(rest.rewrite === true && { messages }) };
}

/** The lines of the owner's profile, the most settled first. */
async function profileOf(deps: SearchDeps, question: ContextQuestion): Promise<readonly KnownFact[]> {
  const { tenant, body, where, app } = question;
  const at = momentOf(deps, question);
  const [{ profileSlots }, facts] = await Promise.all([
    deps.ledger.settings.get(tenant),
    deps.ledger.present.profile(tenant, scopeOf(body), { at, limit: PROFILE_READ }),
  ]);
  const slots = slotsOf(profileSlots);
  if (where === null && app === null) return linesKept(facts, slots).slice(0, PROFILE_MAX).map(knownFact);
  const ids = facts.map(({ memoryId }) => memoryId);
  const known = await knownOf(deps, question, ids);
  const fitting = facts.filter(({ memoryId }) => (known.get(memoryId)?.validFrom ?? Number.POSITIVE_INFINITY) <= at);
  return linesKept(fitting, slots)
    .flatMap(({ memoryId }) => known.get(memoryId) ?? [])
    .slice(0, PROFILE_MAX);
}

const knownFact = ({ category: _, placed: __, ...fact }: ProfileFact): KnownFact => ({
  ...fact,
  saidAt: fact.saidAt.at,
});

const conversationOf = ({ ledger }: SearchDeps, { tenant, body }: ContextQuestion): Promise<Conversation> =>
  ledger.present.conversation(tenant, scopeOf(body), { messages: PENDING_MAX, longest: PENDING_BYTES_MAX });

/** What the run works on; nothing where it has no state, or one of another app. */
async function taskOf(
  { ledger }: SearchDeps,
  { tenant, body, app, living }: ContextQuestion,
): Promise<readonly string[]> {
  const lane = await living;
  if (lane === null || body.run_id === undefined) return [];
  const state = await ledger.taskStates.get({ tenant, lane: lane.id, runId: body.run_id });
  if (state === null || (app !== null && state.appId !== app)) return [];
  return taskLines(state.document);
}

/** The outcome of a part. */
type Outcome<T> =
  | { readonly kind: 'done'; readonly value: T }
  | { readonly kind: 'late' }
  | { readonly kind: 'failed'; readonly error: unknown };

/** A search keeps the time limit itself and then returns a partial result, which needs a little longer. */
const GRACE_MS = 50;

/** Waits for a part until the time limit. */
export async function outcomeOf<T>(read: () => Promise<T>, timeoutMs: number | undefined): Promise<Outcome<T>> {
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

/** The moment that a context is asked about. */
export const momentOf = ({ tools }: Pick<SearchDeps, 'tools'>, { body }: Pick<ContextQuestion, 'body'>): Millis =>
  body.as_of === undefined ? tools.now() : Date.parse(body.as_of);

/** What memories of the owner say at that moment, as far as they fit what is asked; as said in the app, if the key is bound to one. */
async function knownOf(
  deps: Pick<SearchDeps, 'ledger' | 'tools'>,
  question: ContextQuestion,
  ids: readonly string[],
): Promise<ReadonlyMap<string, KnownFact>> {
  const memories = ids.length === 0 ? [] : await deps.ledger.memories.many(question.tenant, ids);
  const at = momentOf(deps, question);
  return new Map(memories.flatMap((memory) => factOf(memory, question, at) ?? []).map((fact) => [fact.memoryId, fact]));
}

function factOf(memory: Memory, { body, where, app }: ContextQuestion, at: Millis): KnownFact | null {
  const known = app === null ? memory : inApp(memory, app);
  const owner = ownerOf(scopeOf(body));
  if (known === null || known.owner.kind !== owner.kind || known.owner.id !== owner.id) return null;
  if (liveVersion(known) === null || !isUnder(idListsOf(known), besideOwner(scopeOf(body)))) return null;
  if (where !== null && !matches(where, filterableOf(known))) return null;
  const { number: version, text, saidAt, validFrom, invalidAt, details } = shownVersion(known, at);
  // As a search at that moment: what is to come is shown since it was said.
  if (body.as_of !== undefined && Math.min(validFrom, saidAt.at) > at) return null;
  const ends = [invalidAt, details.expiresAt].filter((end) => end !== null);
  if (ends.some((end) => end <= at)) return null;
  const { utcOffset, concluded, skill } = details;
  const said = { saidAt: saidAt.at, validFrom, ...(utcOffset !== undefined && { utcOffset }) };
  const standing = {
    ...(concluded && { certainty: concluded.certainty }),
    ...(skill && { successes: skill.successes }),
  };
  return { memoryId: known.id, version, text, ...said, ...standing };
}

/** A line that was told, and what it says now. A receipt does not say in which section it stood: null. */
type Before = Omit<ToldFact, 'section'> & { readonly section: ToldFact['section'] | null };

/** What the context before this one told. */
async function toldBefore(deps: SearchDeps, question: ContextQuestion): Promise<readonly Before[]> {
  const told = await linesBefore(deps, question);
  const ids = told.map(({ memoryId }) => memoryId);
  const known = await knownOf(deps, question, ids);
  return told.map((line) => {
    const fact = known.get(line.memoryId);
    return { ...line, fact: fact?.version === line.version ? fact : null };
  });
}

async function linesBefore(
  { ledger }: SearchDeps,
  question: ContextQuestion,
): Promise<readonly (Pick<Before, 'section'> & Omit<ToldLine, 'section'>)[]> {
  const { tenant, body, app } = question;
  const name = nameOf(app, body.conversation_id, body.after);
  if (name === null) return [];
  const told = await ledger.present.told(tenant, ownerOf(scopeOf(body)), name);
  if (told.length > 0 || body.after === undefined) return told;
  const [receipt, lane] = await Promise.all([ledger.receipts.get(tenant, body.after), question.living]);
  if (receipt === null || receipt.lane !== lane?.id || !question.mayRead(receipt)) return [];
  return receipt.told.flatMap((one) =>
    one.kind === 'memory' ? [{ memoryId: one.id, version: one.version, section: null, turns: 0 }] : [],
  );
}

/** The lines in the sections that are asked for. What stands before all other memories and is in the profile stood there. */
function placed(
  before: readonly Before[],
  profile: readonly KnownFact[],
  sections: readonly SectionName[],
): readonly ToldFact[] {
  const lasting = new Set(profile.map(({ memoryId }) => memoryId));
  const first = before.findIndex(({ memoryId }) => !lasting.has(memoryId));
  return before.map((line, i): ToldFact => {
    const section = line.section ?? (first === -1 || i < first ? 'profile' : 'memories');
    return { ...line, section, fact: sections.includes(section) ? line.fact : null };
  });
}

/**
 * Under what name it is kept what was told: that of the conversation, or of the receipt of the answer. A key for one app has
 * names of its own: it is not to learn from the order of lines what others were told.
 */
function nameOf(
  app: string | null,
  conversation: string | undefined,
  receipt: string | null | undefined,
): string | null {
  const told = app === null ? '' : `app ${JSON.stringify(app)} `;
  if (conversation !== undefined) return `${told}conversation ${conversation}`;
  return receipt === undefined || receipt === null ? null : `${told}receipt ${receipt}`;
}

interface Telling {
  readonly told: readonly ToldLine[];
  readonly receiptId: string | null;
}

/**
 * Notes what the conversation was told. Nobody waits for it: without it the next context begins as this one did, or anew. Of
 * the first one before others the receipt alone says enough.
 */
export function tell({ ledger, tools, log, mayTell }: SearchDeps, question: ContextQuestion, telling: Telling): void {
  const { tenant, body, app } = question;
  const name = nameOf(app, body.conversation_id, body.after === undefined ? null : telling.receiptId);
  if (name === null || !mayTell()) return;
  const noted = { conversation: name, told: telling.told, now: tools.now() };
  ledger.present.tell(tenant, ownerOf(scopeOf(body)), noted).catch((error: unknown) => {
    log.warn({ err: error }, 'could not record the context of a conversation');
  });
}
