import type { Citation, MemoryView, MessageHit, PostRecall, PostSearch, SearchHit } from '@slowwave/contracts';
import {
  type Asker,
  EngineError,
  type Filter,
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
} from '@slowwave/engine';
import type { z } from 'zod';
import type { SearchDeps } from '../deps.ts';
import { livingLane } from '../question.ts';
import { search } from '../search.ts';
import { sourceView } from '../views.ts';

/** Messages to read before and after one. */
const REACH = 4;

type CitationView = z.infer<typeof Citation>;

/** The memories and messages of one owner to search and read. It remembers what it returned, for citations. */
export interface OwnLibrary extends Library {
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

export function libraryOf(deps: SearchDeps, { tenant, body, where, app, lane, asker, cancel }: Whose): OwnLibrary {
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
