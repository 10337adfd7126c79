import type { HistoryEvent, PostSearch } from '@slowwave/contracts';
import {
  eventsInApp,
  inApp,
  type MemoryEvent,
  type Message,
  type Millis,
  type OwnedIds,
  ownerOf,
  type ScoredHit,
  saysAt,
  scopeOf,
} from '@slowwave/engine';
import { type Deadline, LATE, lateNote } from './deadline.ts';
import type { SearchDeps } from './deps.ts';
import type { Question } from './question.ts';
import type { RerankedHit } from './rank.ts';
import { historyView, hitView, messageHitView, sourceView, speakersOf } from './views.ts';

/** The most events per memory; older ones are in its history. */
const HISTORY_MAX = 50;

interface Asking {
  readonly question: Question;
  readonly deadline: Deadline;
}

interface Best {
  readonly memories: readonly RerankedHit[];
  readonly messages: readonly ScoredHit[];
}

/** The results with everything in `include`. Each kind is read from the ledger in one call for all results. */
export async function addTo(deps: SearchDeps, asking: Asking, best: Best) {
  const { body } = asking.question;
  const wanted = (what: PostSearch['include'][number]): boolean => body.include.includes(what);
  const now = deps.tools.now();
  const ids = best.memories.flatMap(({ hit }) => hit.point.sourceIds);
  const [said, histories, messages] = await Promise.all([
    wanted('sources') ? around(deps, asking, { ids, before: body.before, after: body.after }) : null,
    wanted('history') ? historiesOf(deps, asking, best) : null,
    wanted('messages') ? around(deps, asking, { ids: best.messages.map(idOf) }) : null,
  ]);
  const results = best.memories.map((ranked) => ({
    ...basicView(ranked, body, now),
    ...(isThere(said) && { sources: sourcesIn(said, ranked) }),
    ...(isThere(histories) && { history: histories.get(idOf(ranked)) ?? [] }),
  }));
  const missing = [
    ...(said === LATE ? [lateNote('sources')] : []),
    ...(histories === LATE ? [lateNote('histories')] : []),
    ...(messages === LATE ? [lateNote('messages')] : []),
  ];
  const shown = isThere(messages) ? messagesIn(messages, best.messages, body) : [];
  return { results, ...(wanted('messages') && { messages: shown }), missing };
}

const isThere = <T>(read: T | typeof LATE | null): read is T => read !== null && read !== LATE;

const idOf = ({ hit }: ScoredHit): string => hit.point.memoryId;

type Said = ReadonlyMap<string, readonly Message[]>;

/** Messages with their neighbours, limited to one app if the search is. */
async function around(
  { ledger }: SearchDeps,
  { question, deadline }: Asking,
  { ids, before = 0, after = 0 }: { ids: readonly string[] } & Pick<PostSearch, 'before' | 'after'>,
): Promise<Said | typeof LATE> {
  if (ids.length === 0) return new Map();
  const reach = { before, after, appId: question.body.app_id ?? null };
  return deadline.within(() => ledger.lookups.around(owned(question, ids), reach));
}

async function historiesOf(
  { ledger }: SearchDeps,
  { question, deadline }: Asking,
  { memories }: Best,
): Promise<ReadonlyMap<string, HistoryEvent[]> | typeof LATE> {
  if (memories.length === 0) return new Map();
  const ids = [...new Set(memories.map(idOf))];
  const { app, tenant } = question;
  return deadline.within(async () => {
    const histories = await ledger.lookups.histories(owned(question, ids), HISTORY_MAX);
    if (app === null) return shown(histories);
    const known = (await ledger.memories.many(tenant, ids)).flatMap((memory) => inApp(memory, app) ?? []);
    return shown(new Map(known.map((memory) => [memory.id, eventsInApp(memory, histories.get(memory.id) ?? [], app)])));
  });

  async function shown(histories: ReadonlyMap<string, readonly MemoryEvent[]>) {
    const view = historyView(await speakersOf({ ledger }, tenant, [...histories.values()].flat()));
    return new Map([...histories].map(([id, events]) => [id, events.map(view)]));
  }
}

const owned = ({ tenant, body }: Question, ids: readonly string[]): OwnedIds => ({
  tenant,
  owner: ownerOf(scopeOf(body)),
  ids,
});

const basicView = ({ hit, score, relative, rerankScore }: RerankedHit, body: PostSearch, now: Millis) => ({
  ...hitView(hit.point),
  score,
  ...(rerankScore !== undefined && { rerank_score: rerankScore }),
  ...(body.latest_only === false && { latest: saysAt(hit.point, now) }),
  ...scoresOf({ hit, relative }, body),
});

const scoresOf = ({ hit, relative }: Pick<ScoredHit, 'hit' | 'relative'>, { include }: PostSearch) =>
  include.includes('scores') ? { scores: { vector: hit.vectorScore, keyword: hit.keywordScore, relative } } : {};

/** The sources of a version and their neighbours, each once, in order. */
function sourcesIn(said: Said, { hit: { point } }: ScoredHit) {
  const near = point.sourceIds.flatMap((id) => said.get(id) ?? []);
  const once = [...new Map(near.map((message) => [message.id, message])).values()];
  const sorted = once.sort((a, b) => a.saidAt.seq - b.saidAt.seq);
  return sorted.map((message) => sourceView(message, point.sourceIds.includes(message.id)));
}

/** The found messages as in the ledger; deleted ones are omitted. */
function messagesIn(said: Said, found: readonly ScoredHit[], body: PostSearch) {
  return found.flatMap((ranked) => {
    const { hit, score } = ranked;
    const message = said.get(idOf(ranked))?.find(({ id }) => id === idOf(ranked));
    if (message === undefined) return [];
    return [{ ...messageHitView(message, hit.point.scope), score, ...scoresOf(ranked, body) }];
  });
}
