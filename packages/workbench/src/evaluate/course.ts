import { overlap } from '@slowwave/engine';
import { type Api, ServerError } from '../api.ts';
import type { Stats } from './evidence.ts';
import type { World, WorldBatch } from './world.ts';

/** How a world goes when nothing goes wrong. */
export interface Course {
  /** Texts about the same have the same key; null for a text the world does not have. */
  keyOf(text: string): string | null;
  /** How often a text takes another one's place. */
  readonly updates: number;
  /** Texts that do not hold in the end. */
  readonly stale: ReadonlySet<string>;
  /** What a question about an earlier time must find, and what it must not. */
  readonly moments: readonly Moment[];
  /** When each text was said. */
  readonly times: ReadonlyMap<string, readonly string[]>;
}

export interface Moment {
  readonly at: string;
  readonly holds: string;
  /** Other texts about the same. */
  readonly others: readonly string[];
}

/**
 * Every text that does not hold in the end was replaced by one that does, said later and beginning alike: subject and
 * relation stand before the value. So the key of a text is the gold text with which it shares the longest beginning.
 */
export function courseOf(world: World): Course {
  const said = world.batches.flatMap(({ at, messages }) =>
    messages.filter(({ role }) => role === 'user').map(({ content }) => ({ at, text: content })),
  );
  const gold = new Set(world.gold);
  const keys = keysOf(
    said.map(({ text }) => text),
    world.gold,
  );
  const keyOf = (text: string): string | null => keys.get(text) ?? null;
  const groups = new Map<string, Said[]>();
  for (const one of said) {
    const key = keyOf(one.text) ?? one.text;
    groups.set(key, [...(groups.get(key) ?? []), one]);
  }
  return {
    keyOf,
    updates: [...groups.values()].reduce((sum, group) => sum + changesIn(group), 0),
    stale: new Set(said.map(({ text }) => text).filter((text) => !gold.has(text))),
    moments: [...groups.values()].flatMap(momentsOf),
    times: timesOf(said),
  };
}

interface Said {
  readonly at: string | null;
  readonly text: string;
}

function keysOf(texts: readonly string[], gold: readonly string[]): ReadonlyMap<string, string> {
  const lastSaid = new Map(texts.map((text, i) => [text, i]));
  const keys = new Map(gold.map((text) => [text, text]));
  texts.forEach((text, i) => {
    if (keys.has(text)) return;
    const later = gold.filter((candidate) => (lastSaid.get(candidate) ?? -1) > i);
    keys.set(text, likest(text, later.length > 0 ? later : gold));
  });
  return keys;
}

/** The longest common beginning decides; where several share it, the words. */
function likest(text: string, candidates: readonly string[]): string {
  const begins = candidates.map((candidate) => commonBeginning(text, candidate));
  const longest = begins.reduce((most, length) => Math.max(most, length), 0);
  const alike = candidates.filter((_, i) => begins[i] === longest);
  if (alike.length === 1) return alike[0] ?? text;
  const [best] = alike
    .map((candidate) => ({ candidate, shared: overlap(text, candidate) }))
    .sort((a, b) => b.shared - a.shared);
  return best?.candidate ?? text;
}

function commonBeginning(a: string, b: string): number {
  let length = 0;
  while (length < a.length && length < b.length && a[length] === b[length]) length += 1;
  return length;
}

const changesIn = (group: readonly Said[]): number =>
  group.filter(({ text }, i) => i > 0 && group[i - 1]?.text !== text).length;

/** One per moment at which something was said of the key: the last text said until then holds. */
function momentsOf(group: readonly Said[]): Moment[] {
  const moments = new Map<string, Moment>();
  const inOrder = group.flatMap(({ at, text }) => (at === null ? [] : [{ at, text }])).sort(byTime);
  for (const { at, text } of inOrder) {
    const others = [...new Set(group.map((one) => one.text))].filter((other) => other !== text);
    moments.set(at, { at, holds: text, others });
  }
  return [...moments.values()];
}

const byTime = (a: { at: string }, b: { at: string }): number => Date.parse(a.at) - Date.parse(b.at);

function timesOf(said: readonly Said[]): ReadonlyMap<string, readonly string[]> {
  const times = new Map<string, string[]>();
  for (const { at, text } of said) if (at !== null) times.set(text, [...(times.get(text) ?? []), at]);
  return times;
}

interface Drive {
  readonly api: Api;
  readonly world: World;
  readonly user: string;
  /** Each batch is consolidated before the next is posted; else all are posted at once. */
  readonly oneByOne: boolean;
  readonly withinMs: number;
  readonly progress: (text: string) => void;
}

interface Posted {
  readonly batchIds: readonly string[];
  readonly statsBefore: Stats;
}

const POLL_MS = 5_000; // how long one question about a batch is held open
const ENDED = new Set(['consolidated', 'empty', 'parked', 'undone']);

/** Posts the world in order, asks for it to be consolidated, and waits until all of it is searchable. */
export async function drive(driving: Drive): Promise<Posted> {
  const { api, world, user, oneByOne, progress } = driving;
  const statsBefore = await api.get<Stats>('/v1/stats');
  const deadline = Date.now() + driving.withinMs;
  const batchIds: string[] = [];
  for (const [i, batch] of world.batches.entries()) {
    progress(`posted ${i} of ${world.batches.length} batches`);
    const id = await post(driving, batch);
    batchIds.push(id);
    if (oneByOne) await settled(driving, { id, deadline });
  }
  await api.post('/v1/flush', { user_id: user });
  for (const [i, id] of batchIds.entries()) {
    progress(`consolidated ${i} of ${batchIds.length} batches`);
    await settled(driving, { id, deadline });
  }
  return { batchIds, statsBefore };
}

async function post({ api, user, oneByOne }: Drive, batch: WorldBatch): Promise<string> {
  const body = {
    user_id: user,
    messages: batch.messages.map(({ id, role, content }) => ({ role, content, ...(id !== null && { id }) })),
    ...(batch.at !== null && { timestamp: batch.at }),
    ...(oneByOne && { flush: true }),
  };
  const headers = { 'idempotency-key': `${user}/${batch.id}` };
  const { batch_id } = await api.post<{ batch_id: string }>('/v1/batches', body, headers);
  return batch_id;
}

/** Waits until a batch has come to its end. */
export async function settled({ api }: Pick<Drive, 'api'>, { id, deadline }: { id: string; deadline: number }) {
  for (;;) {
    const { state } = await api.get<{ state: string }>(`/v1/batches/${id}?wait=${POLL_MS}`);
    if (ENDED.has(state)) return;
    if (Date.now() > deadline) {
      throw new ServerError(`batch ${id} is still ${state} when the time was up; a longer --timeout gives it more`);
    }
  }
}
