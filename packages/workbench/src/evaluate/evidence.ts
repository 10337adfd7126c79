import { type Api, each } from '../api.ts';
import type { Course, Moment } from './course.ts';
import type { Question, World } from './world.ts';

/** Everything the gates look at, as the API shows it. */
export interface Evidence {
  readonly live: readonly LiveMemory[];
  /** The life of every memory there ever was, by its id. */
  readonly histories: ReadonlyMap<string, readonly HistoryEvent[]>;
  readonly sources: ReadonlyMap<string, readonly Source[]>;
  readonly consolidations: readonly Consolidation[];
  readonly stats: Stats;
  readonly answers: readonly { readonly question: Question; readonly found: readonly string[] }[];
  readonly moments: readonly { readonly moment: Moment; readonly found: readonly Hit[] }[];
}

interface Hit {
  readonly id: string;
  readonly memory: string;
}

interface LiveMemory extends Hit {
  readonly said_at: string;
  readonly valid_from: string;
}

export interface HistoryEvent {
  readonly event: 'ADD' | 'UPDATE' | 'DELETE' | 'NONE' | 'UNDO' | 'FEEDBACK';
  readonly version: number;
  readonly previous: string | null;
  readonly memory: string | null;
  /** Of UNDO: the versions of earlier events that no longer count. */
  readonly retracts?: readonly number[];
  readonly said_at: string;
}

interface Source {
  readonly batch_id: string;
  readonly content: string;
  readonly is_source: boolean;
}

export interface Consolidation {
  readonly id: string;
  readonly plan: Plan | null;
  readonly answers: readonly { readonly step: string }[];
}

interface Plan {
  readonly facts: readonly { readonly id: string; readonly text: string }[];
  readonly outcomes: readonly { readonly fact: string; readonly outcome: string; readonly reason: string }[];
  readonly events: readonly { readonly memory_id: string }[];
  readonly usage: { readonly calls: number };
}

export interface Stats {
  readonly batches: Readonly<Record<'accepted' | 'pending' | 'consolidating' | 'parked' | 'gap', number>>;
}

const SHOWN = 10; // as many as a search gives when nothing else is asked
const MOMENTS_MAX = 500; // enough to find a rule that is broken, in seconds

export interface Asking {
  readonly api: Api;
  readonly user: string;
  readonly world: World;
  readonly course: Course;
}

export async function gatherEvidence({ api, user, world, course }: Asking): Promise<Evidence> {
  const ofUser = `user_id=${encodeURIComponent(user)}`;
  const live = await api.all<LiveMemory>(`/v1/memories?${ofUser}`);
  const listed = await api.all<{ id: string }>(`/v1/consolidations?${ofUser}`);
  const consolidations = await each(listed, ({ id }) => api.get<Consolidation>(`/v1/consolidations/${id}`));
  const changed = consolidations.flatMap(({ plan }) => plan?.events.map((event) => event.memory_id) ?? []);
  const ids = [...new Set([...live.map(({ id }) => id), ...changed])];
  const search = (query: string, more: object = {}) =>
    api.post<{ results: Hit[] }>('/v1/search', { query, user_id: user, top_k: SHOWN, cut: 'none', ...more });
  return {
    live,
    histories: await byId(ids, (id) => api.all<HistoryEvent>(`/v1/memories/${id}/history`)),
    sources: await byId(
      ids,
      async (id) => (await api.get<{ results: Source[] }>(`/v1/memories/${id}/sources`)).results,
    ),
    consolidations,
    stats: await api.get<Stats>('/v1/stats'),
    answers: await each(world.questions, async (question) => ({
      question,
      found: (await search(question.text)).results.map(({ memory }) => memory),
    })),
    moments: await each(spread(course.moments, MOMENTS_MAX), async (moment) => ({
      moment,
      found: (await search(moment.holds, { as_of: moment.at })).results,
    })),
  };
}

/** At most so many of a list, evenly over all of it. */
const spread = <T>(list: readonly T[], max: number): readonly T[] => {
  const step = Math.max(1, list.length / max);
  return list.filter((_, i) => Math.floor(i / step) !== Math.floor((i - 1) / step));
};

async function byId<T>(ids: readonly string[], get: (id: string) => Promise<T>): Promise<ReadonlyMap<string, T>> {
  return new Map(await each(ids, async (id) => [id, await get(id)] as const));
}
