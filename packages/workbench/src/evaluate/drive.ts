import { type Api, ServerError } from '../api.ts';
import type { Stats } from './evidence.ts';
import type { World, WorldBatch } from './world.ts';

export interface Drive {
  readonly api: Api;
  readonly world: World;
  readonly user: string;
  /** Each batch is consolidated before the next is posted; else all are posted at once. */
  readonly oneByOne: boolean;
  readonly withinMs: number;
  readonly progress: (text: string) => void;
}

export interface Posted {
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
