import {
  type Citation,
  type MemoryView,
  type MessageHit,
  PostRecall,
  type PostSearch,
  RecallResult,
  type SearchHit,
} from '@slowwave/contracts';
import {
  type Asker,
  EngineError,
  type Filter,
  inquire,
  isWorthReading,
  type LaneId,
  type Library,
  localIsoOf,
  type Millis,
  ownerOf,
  type Readable,
  scopeOf,
  shownIsoOf,
  type TenantId,
  type Told,
  writtenOffset,
  zoneClock,
} from '@slowwave/engine';
import { ownApp, problem, waitSignal } from '@slowwave/http';
import type { z } from 'zod';
import { routesOf, type SearchDeps } from './deps.ts';
import { sourceView } from './memories.ts';
import { askerOf, type Deadline, deadlineOf, emptyQuery, filterOf, livingLane } from './question.ts';
import { receiptFor, refuseUntraced } from './receipts.ts';
import { search } from './search.ts';

const route = routesOf('search');

export const postRecall = route('POST /v1/recall', {
  id: 'recall',
  summary: 'Answer a question from memories, with citations',
  description:
    'A chat model searches the memories and messages of one owner several times, reads the context of what it ' +
    'finds, and answers only from that. trail lists what it searched for and read. Without a chat model, the ' +
    'answer is the best matching memories.',
  body: PostRecall,
  answer: RecallResult,
  bounds: { by: 'body', apps: true },
  handle: async (deps, { tenant, body, request, reply }) => {
    if (body.query.trim() === '') throw emptyQuery();
    refuseUntraced(request, body);
    const where = filterOf(body.filters);
    const asker = askerOf(request, body);
    return recall(deps, { tenant, body, where, app: ownApp(request), asker, cancel: waitSignal(reply) });
  },
});

interface Asked {
  readonly tenant: TenantId;
  readonly body: PostRecall;
  /** The parsed filter of the body. */
  readonly where: Filter | null;
  /** The app that the key is bound to; null: none. */
  readonly app: string | null;
  readonly asker: Asker;
  /** Aborts when the caller disconnects. */
  readonly cancel: AbortSignal;
}

type Result = z.infer<typeof RecallResult>;

/** Answers a question from the memories of one owner: searches, reads around the results, and cites its sources. */
async function recall(deps: SearchDeps, asked: Asked): Promise<Result> {
  const began = performance.now();
  const deadline = deadlineOf(asked.body.timeout_ms, asked.cancel);
  try {
    return { ...(await answered(deps, asked, deadline)), took_ms: Math.round(performance.now() - began) };
  } catch (error) {
    throw deadline.signal.aborted ? tooLate(asked.body) : error;
  } finally {
    deadline.end();
  }
}

async function answered(deps: SearchDeps, { tenant, body, where, app, asker }: Asked, deadline: Deadline) {
  const { signal } = deadline;
  const lane = await livingLane(deps, { tenant, body });
  const library = libraryOf(deps, { tenant, body, where, app, lane: lane?.id ?? null, asker, cancel: signal });
  const reader = deps.reader && { deps: deps.reader, tenant, owner: ownerOf(scopeOf(body)), cancel: signal, asker };
  const { timezone } = await deps.ledger.settings.get(tenant);
  const inquired = await inquire({
    question: body.query,
    library,
    thinking: reader && { reader, tokensMax: body.max_tokens, now: () => nowShown(deps, { body, timezone, library }) },
    stepsMax: body.max_steps,
  });
  if (!(await library.stands())) throw erasedMeanwhile();
  const { answer, citations, trail, calls, usage, remarks } = inquired;
  const degraded = [...inquired.degraded, ...library.missing()];
  const cited = citations.flatMap(({ key }) => library.citationOf(key) ?? []);
  const asking = { route: 'recall', tenant, body, question: body.query, app, lane } as const;
  return {
    answer,
    citations: cited,
    receipt_id: receiptFor(deps, asking, cited.map(toldCitation)),
    trail: trail.map(({ found, ...look }) => ({ ...look, found: [...found] })),
    usage: { calls, prompt_tokens: usage.promptTokens, completion_tokens: usage.completionTokens },
    ...(remarks.length > 0 && { remarks: [...remarks] }),
    ...(degraded.length > 0 && { degraded }),
  };
}

const toldCitation = (of: Result['citations'][number]): Told =>
  of.kind === 'memory' ? { kind: 'memory', id: of.id, version: of.version } : { kind: 'message', id: of.message_id };

interface Now {
  readonly body: PostRecall;
  readonly timezone: string | null;
  readonly library: Pick<OwnLibrary, 'lastClock'>;
}

/**
 * The time of the question in the owner's time zone: the given offset, else that of the owner's last text, else the
 * tenant's time zone. If the last text fits the tenant's zone, that zone is used, because of daylight saving time.
 */
function nowShown({ tools }: Pick<SearchDeps, 'tools'>, { body: { as_of }, timezone, library }: Now): string {
  if (as_of !== undefined && writtenOffset(as_of) !== null) return as_of;
  const at = as_of === undefined ? tools.now() : Date.parse(as_of);
  const zone = timezone === null ? null : zoneClock(timezone);
  const last = library.lastClock();
  const isInZone = zone !== null && (last === null || zone(last.at) === last.offset);
  return localIsoOf(at, isInZone ? zone(at) : last?.offset);
}

const erasedMeanwhile = () =>
  problem('conflict', 'the owner was erased or created while the question was being answered; retry');

const tooLate = ({ timeout_ms }: PostRecall) =>
  problem('timed_out', `nothing was found within timeout_ms (${timeout_ms}); increase timeout_ms`);

/** Messages to read before and after one. */
const REACH = 4;

type CitationView = z.infer<typeof Citation>;

/** The memories and messages of one owner to search and read. It remembers what it returned, for citations. */
interface OwnLibrary extends Library {
  citationOf(key: string): CitationView | null;
  /** The UTC offset in minutes of the newest text that it returned; null: unknown. */
  lastClock(): { readonly at: Millis; readonly offset: number } | null;
  /** Why results may be incomplete, each reason once. */
  missing(): readonly string[];
  /** Whether the owner still has the lane that was read: data of an owner erased meanwhile must not be returned. */
  stands(): Promise<boolean>;
}

interface Whose {
  readonly tenant: TenantId;
  readonly body: PostRecall;
  /** The parsed filter of the body. */
  readonly where: Filter | null;
  /** The app that the key is bound to; null: none. */
  readonly app: string | null;
  /** The owner's lane; null: it has none. */
  readonly lane: LaneId | null;
  readonly asker: Asker;
  readonly cancel: AbortSignal;
}

function libraryOf(deps: SearchDeps, { tenant, body, where, app, lane, asker, cancel }: Whose): OwnLibrary {
  const handedOut = new Map<string, CitationView>();
  const missing = new Set<string>();
  let last: Clock = null;
  const keep = (citation: CitationView): Readable => {
    const readable = readableOf(citation);
    handedOut.set(readable.key, citation);
    return readable;
  };
  return {
    search: async (query) => {
      const asked = { tenant, cancel, where, app, lane, asker, body: searchBody(deps, body, query) };
      const found = await search(deps, asked).catch((error: unknown) => {
        throw cancel.aborted ? timeIsUp(error) : error;
      });
      for (const reason of found.degraded ?? []) missing.add(reason);
      last = [...found.results, ...(found.messages ?? [])].reduce(laterClock, last);
      return [...found.results.map(citedMemory), ...(found.messages ?? []).map(citedMessage)].map(keep);
    },
    around: async (ids) => {
      const of = { tenant, owner: ownerOf(scopeOf(body)), ids };
      const reach = { before: REACH, after: REACH, appId: body.app_id ?? null };
      const near = await deps.ledger.lookups.around(of, reach);
      const until = body.as_of === undefined ? Number.POSITIVE_INFINITY : Date.parse(body.as_of);
      const messages = [...near.values()]
        .flat()
        .filter((message) => message.saidAt.at <= until && isWorthReading(message));
      const views = messages.map((message) => sourceView(message, true));
      last = views.reduce(laterClock, last);
      return views.map((view) => keep(citedMessage(view)));
    },
    lastClock: () => last,
    citationOf: (key) => handedOut.get(key) ?? null,
    missing: () => [...missing],
    stands: async () => lane === ((await livingLane(deps, { tenant, body }))?.id ?? null),
  };
}

const timeIsUp = (cause: unknown): EngineError =>
  new EngineError('this recall ran out of time', { code: 'cancelled', retryable: true, cause });

/** Every search is limited to the owner of the question, whatever the model writes. */
const searchBody = (
  { messagesInIndex }: SearchDeps,
  { user_id, agent_id, run_id, app_id, as_of, top_k }: PostRecall,
  query: string,
): PostSearch => ({
  query,
  user_id,
  agent_id,
  run_id,
  app_id,
  as_of,
  top_k,
  mode: 'hybrid',
  // The model that reads it judges itself what answers.
  cut: 'none',
  include: messagesInIndex === 'off' ? ['sources'] : ['sources', 'messages'],
});

type Clock = ReturnType<OwnLibrary['lastClock']>;

function laterClock(last: Clock, { said_at, utc_offset }: Pick<MemoryView, 'said_at' | 'utc_offset'>): Clock {
  const at = Date.parse(said_at);
  return utc_offset === undefined || (last !== null && last.at >= at) ? last : { at, offset: utc_offset };
}

const citedMemory = ({
  id,
  memory,
  version,
  valid_from,
  utc_offset,
  invalid_at,
  sources = [],
}: z.infer<typeof SearchHit>) => ({
  kind: 'memory' as const,
  id,
  memory,
  version,
  valid_from,
  ...(utc_offset !== undefined && { utc_offset }),
  invalid_at,
  message_ids: sources.map(({ message_id }) => message_id),
});

type MessageView = Omit<z.infer<typeof MessageHit>, 'user_id' | 'agent_id' | 'run_id' | 'app_id' | 'score' | 'scores'>;

const citedMessage = ({ message_id, batch_id, id, role, name, content, said_at, utc_offset }: MessageView) => ({
  kind: 'message' as const,
  message_id,
  batch_id,
  id,
  role,
  name,
  content,
  said_at,
  ...(utc_offset !== undefined && { utc_offset }),
});

function readableOf(of: CitationView): Readable {
  if (of.kind === 'message') {
    const { kind, message_id: key, content, role } = of;
    const date = localIsoOf(Date.parse(of.said_at), of.utc_offset);
    return { kind, key, text: content, role, date, messageIds: [key] };
  }
  const { kind, id: key, memory: text, message_ids: messageIds } = of;
  const date = shownIsoOf(Date.parse(of.valid_from), of.utc_offset);
  return { kind, key, text, role: null, date, messageIds };
}
