import { setTimeout as sleep } from 'node:timers/promises';
import { type Api, apiAt, each } from '../../api.ts';
import type { Counts } from '../../fleet/quiet.ts';
import { postBacklog, saidOf } from '../backlog.ts';
import type { Progress } from '../bench.ts';
import { scrape, total } from '../host.ts';
import type { Verdict } from '../report.ts';
import type { Stand } from '../stand.ts';

/** What is to be embedded. */
export interface Size {
  /** Owners, each with one batch. */
  readonly owners: number;
  /** Messages of each, stored word for word. */
  readonly messages: number;
  /** Further users, whose batches are consolidated with two calls of the chat model each. */
  readonly beside: number;
}

const CALLS = 2;
const LOOK_AGAIN_MS = 500;
/** Without any change: what is not done then is not going to be. */
const STALLED_MS = 300_000;

/** Every text that has to be embedded; all differ. */
export interface Texts {
  readonly ofOwners: readonly string[];
  readonly beside: readonly string[];
}

export const textsOf = ({ owners, messages, beside }: Size): Texts => ({
  ofOwners: numbers(owners).flatMap((owner) => wordsOf(owner, messages)),
  beside: numbers(beside).flatMap((user) => saidOf(user, CALLS)),
});

const numbers = (count: number): readonly number[] => Array.from({ length: count }, (_, i) => i);

const nameOf = (owner: number): string => `owner-${owner}`;

/** As long as what people tell each other. */
const wordsOf = (owner: number, messages: number): readonly string[] =>
  numbers(messages).map(
    (i) =>
      `${nameOf(owner)} has seen film ${i} of the festival, together with friends from work. The beginning was slow, but they talked about the end all the way home.`,
  );

/** How long there are no calls after the last one. */
const MEASURED_MS = 5_000;
/** As long as it takes until a call that failed is made again, and some more. */
const MEASURED_WITHIN_MS = 60_000;

/** Waits until the product has measured an embedder that it meets for the first time: nobody posted the texts for that. */
export async function untilMeasured(stand: Stand): Promise<void> {
  let [last, since] = [0, performance.now()];
  for (const deadline = since + MEASURED_WITHIN_MS; performance.now() < deadline; await sleep(LOOK_AGAIN_MS)) {
    const calls = total(await scrape(stand.workers()), 'slowwave_model_calls_total', { kind: 'embed' });
    if (calls !== last) [last, since] = [calls, performance.now()];
    if (last > 0 && performance.now() - since > MEASURED_MS) return;
  }
}

/** What was begun, and how to see it end. */
export interface Work {
  /** Of `performance.now()`, before the first post. */
  readonly since: number;
  /** Waits until what the owners said can be found, or nothing changes any more. */
  untilFound(): Promise<void>;
  /** Waits until nothing at all is under way, or nothing changes any more. */
  untilQuiet(): Promise<Counts>;
}

/** Posts everything at once. */
export async function begin(stand: Stand, size: Size, progress: Progress): Promise<Work> {
  const ingest = apiAt(stand.ingest, null);
  const search = apiAt(stand.search, null);
  const since = performance.now();
  const backlog = postBacklog(ingest, { turns: size.beside, calls: CALLS }, () => {});
  const ids = await each(numbers(size.owners), async (owner) => {
    const said = wordsOf(owner, size.messages).map((content) => ({ role: 'user', content }));
    const body = { user_id: nameOf(owner), messages: said, mode: 'verbatim', flush: true };
    return (await ingest.post<{ batch_id: string }>('/v1/batches', body)).batch_id;
  });
  return {
    since,
    untilFound: async () => {
      const left = [...ids];
      await until(search, progress, async () => {
        while (left[0] !== undefined && (await isSearchable(ingest, left[0]))) left.shift();
        return left.length === 0;
      });
    },
    untilQuiet: async () => {
      await backlog;
      const isQuiet = ({ batches, outbox }: Stats) => batches.pending + batches.consolidating + outbox === 0;
      return (await until(search, progress, isQuiet)).batches;
    },
  };
}

interface Stats {
  readonly batches: Counts;
  readonly outbox: number;
}

/** Looks again and again until it is so, or nothing changes any more. */
async function until(api: Api, progress: Progress, isSo: (stats: Stats) => boolean | Promise<boolean>): Promise<Stats> {
  for (let [last, at] = ['', performance.now()]; ; await sleep(LOOK_AGAIN_MS)) {
    const stats = await api.get<Stats>('/v1/stats');
    const { batches, outbox } = stats;
    progress(
      `${batches.consolidated} of ${batches.accepted} batches consolidated, ${outbox} changes on their way to the index`,
    );
    if ((await isSo(stats)) || performance.now() - at > STALLED_MS) return stats;
    if (JSON.stringify(stats) !== last) [last, at] = [JSON.stringify(stats), performance.now()];
  }
}

async function isSearchable(api: Api, id: string): Promise<boolean> {
  const { timings } = await api.get<{ timings: { searchable_at: string | null } }>(`/v1/batches/${id}`);
  return timings.searchable_at !== null;
}

export const batchFigures = ({ consolidated, parked, pending, consolidating }: Counts) => [
  { what: 'batches consolidated', value: consolidated, unit: '' },
  { what: '  parked', value: parked, unit: '' },
  { what: '  still under way', value: pending + consolidating, unit: '' },
];

export const batchVerdicts = ({ owners, beside }: Size, { consolidated, parked }: Counts): readonly Verdict[] => [
  none('all work is done', owners + beside - consolidated, 'batches missing'),
  none('nothing is parked', parked, 'batches'),
];

export const none = (what: string, count: number, of: string): Verdict => ({
  what,
  reached: `${count} ${of}`,
  target: '0',
  passed: count === 0,
  misses: [],
});
