import { join } from 'node:path';
import { openSqliteLedger } from '@slowwave/adapters/sqlite';
import { systemTools } from '@slowwave/adapters/system';
import { DEFAULT_TENANT, dayOf } from '@slowwave/engine';
import { expect, vi } from 'vitest';
import { type Answer, call } from '../client.ts';

type Query = Readonly<Record<string, unknown>>;

/** Who asks, and the things that examples are about: each made when it is needed, of a user of its own. */
export interface World {
  send(line: string, given?: { query?: Query; body?: unknown; key?: string | undefined }): Promise<Answer>;
  /** The same, of which success is expected. */
  done(line: string, body?: unknown): Promise<Answer['body']>;
  /** Something said and consolidated. */
  consolidated(userId?: string): Promise<Consolidated>;
  memory(): Promise<string>;
  /** Of an answer, as soon as it is kept. */
  receipt(): Promise<string>;
  relation(): Promise<Related>;
  undo(): Promise<string>;
  review(): Promise<string>;
  /** One whose plan waits. */
  night(): Promise<string>;
  whatIf(): Promise<string>;
  /** Its name. */
  suite(): Promise<string>;
  /** A run of a suite, with a message that can be assessed. */
  sampledRun(): Promise<{ name: string; id: string; message: string }>;
  /** No canary is open any more. */
  noCanary(): Promise<void>;
  /** The move of the index can be switched, or is. */
  readyMove(): Promise<void>;
  canary(): Promise<string>;
  hold(): Promise<string>;
  key(): Promise<string>;
  /** The secret of one that is not opened yet. */
  link(): Promise<string>;
  webhook(): Promise<string>;
  delivery(): Promise<{ id: string; delivery_id: string }>;
  /** Begun, or gone on with, for a user of a bundle. */
  importOf(id: string): Promise<string>;
  /** Nothing is under way any more. */
  quiet(): Promise<void>;
}

interface Consolidated {
  readonly user: string;
  readonly batch: string;
  readonly consolidation: string;
  readonly memory: string;
  readonly event: string;
}

interface Related {
  readonly id: string;
  readonly source: { readonly id: string };
  readonly destination: { readonly id: string };
}

/** As the examples of the description have it. */
const BEGUN = {
  ...{ format: 1, ledger_id: 'led_0198c1a2', kind: 'user', read_at: '2026-03-01T09:30:00Z', lines: 2 },
  sum: '45728b8c9e2a4df9ca7a30276dc13748',
};

const OPEN = ['preparing', 'running', 'discarding'];
const WITHIN = { timeout: 60_000, interval: 100 };
const NIGHTS_AT_ONCE = 4;

export function world(
  base: string,
  { key, receiver, dataDir }: { key: string; receiver: string; dataDir: string },
): World {
  let users = 0;
  const newUser = (): string => {
    users += 1;
    return `user-${users}`;
  };

  const send: World['send'] = (line, { query = {}, body, key: sent = key } = {}) => {
    const headers = { authorization: `Bearer ${sent}` };
    const [method = '', path = ''] = line.split(' ');
    const search = new URLSearchParams(
      Object.entries(query).map(([name, value]): [string, string] => [name, String(value)]),
    );
    return call(method, `${base}${path}${search.size === 0 ? '' : `?${search}`}`, { body, headers });
  };

  const done: World['done'] = async (line, body) => {
    const answer = await send(line, { body });
    expect(answer.status, `${line}: ${JSON.stringify(answer.body)}`).toBeLessThan(300);
    return answer.body;
  };

  const consolidated: World['consolidated'] = async (userId = newUser()) => {
    const messages = [{ role: 'user', content: 'I live in Lisbon.' }];
    const batch = await done('POST /v1/batches?wait=60000', { user_id: userId, messages, flush: true });
    const { id, consolidation_id, events } = batch;
    // What waits for a review has made no event yet.
    const { memory_id: memory, id: event } = events[0] ?? {};
    return { user: userId, batch: id, consolidation: consolidation_id, memory, event };
  };

  const webhook: World['webhook'] = async () =>
    (await done('POST /v1/webhooks', { url: receiver, events: ['memory.added'], user_id: newUser() })).id;

  const quiet: World['quiet'] = async () => {
    const waiting = async (): Promise<number> => {
      const [{ batches, outbox }, replays] = [await done('GET /v1/stats'), await done('GET /v1/replays')];
      const open = replays.results.filter(({ state }: { state: string }) => OPEN.includes(state));
      return batches.pending + batches.consolidating + outbox + open.length;
    };
    await vi.waitFor(async () => expect(await waiting()).toBe(0), WITHIN);
  };

  const noCanary: World['noCanary'] = async () => {
    for (const { id, finished_at } of (await done('GET /v1/canaries')).results)
      if (finished_at === null) await send(`POST /v1/canaries/${id}/stop`, {});
    const open = async () =>
      (await done('GET /v1/canaries')).results.filter(
        (one: { finished_at: string | null }) => one.finished_at === null,
      );
    await expect.poll(open, WITHIN).toEqual([]);
  };

  /** Several at once: who has come to rest is looked for every ten seconds. */
  const newNights = async (): Promise<readonly string[]> => {
    await done('PUT /v1/settings', { sleep: { mode: 'preview', idle_hours: 0 } });
    const sleepers = Array.from({ length: NIGHTS_AT_ONCE }, newUser);
    for (const user_id of sleepers)
      for (const memory of ['Likes tea', 'Likes green tea']) await done('POST /v1/memories', { user_id, memory });
    const waiting = async (): Promise<string[]> => {
      const { results } = await done('GET /v1/nights?state=waiting&limit=100');
      const ours = results.filter(({ user_id }: { user_id: string }) => sleepers.includes(user_id));
      return ours.map(({ id }: { id: string }) => id);
    };
    await expect.poll(waiting, { ...WITHIN, interval: 500 }).toHaveLength(NIGHTS_AT_ONCE);
    await done('PUT /v1/settings', {});
    return waiting();
  };
  const nights: string[] = [];

  const move = async (): Promise<{ state: string } | null> => (await done('GET /v1/index/move')).move;

  /** It takes the server a while to write it down. */
  let description: Answer['body'] | null = null;
  const suite = async (): Promise<string> => {
    description ??= await done('GET /openapi.json');
    const [, { file }] = description.components.schemas.PostSuite.examples;
    return (await done('POST /v1/suites', { name: newUser().replaceAll(/[^a-z0-9]/gu, '-'), file })).name;
  };
  return {
    send,
    done,
    consolidated,
    noCanary,
    readyMove: async () => {
      if ((await move()) === null) await done('POST /v1/index/move', { auto: false });
      await expect.poll(async () => (await move())?.state, WITHIN).toMatch(/^(ready|switched)$/);
    },
    canary: async () => {
      await noCanary();
      return (await done('POST /v1/canaries', { changes: { instructions: 'Remember allergies.' } })).id;
    },
    // It takes a week of others who use less: it is written into the ledger.
    hold: async () => {
      const ledger = await openSqliteLedger({ path: join(dataDir, 'ledger.db'), tools: systemTools });
      const id = systemTools.id('hld');
      const heldAt = systemTools.now();
      const over = { measure: 'calls', used: 400, limit: 400 } as const;
      await ledger.limits.hold({
        ...{ id, tenant: DEFAULT_TENANT, kind: 'app', who: newUser(), day: dayOf(heldAt), heldAt },
        ...over,
      });
      await ledger.close();
      return id;
    },
    webhook,
    quiet,
    importOf: async (id) => (await done('POST /v1/bundle/imports', { ...BEGUN, id })).import_id,
    memory: async () => (await done('POST /v1/memories', { user_id: newUser(), memory: 'Lives in Lisbon' })).id,
    receipt: async () => {
      const { user } = await consolidated();
      const { receipt_id: id } = await done('POST /v1/search', { user_id: user, query: 'Where do I live?' });
      await expect.poll(async () => (await send(`GET /v1/receipts/${id}`)).status, WITHIN).toBe(200);
      return id;
    },
    relation: () =>
      done('POST /v1/relations', {
        user_id: newUser(),
        source: { name: 'Bea' },
        relationship: 'knows',
        destination: { name: 'Bee' },
        valid_from: '2024-05-01T00:00:00Z',
      }),
    link: async () => (await done(`POST /v1/users/${newUser()}/links`, {})).path.replace('/me#', ''),
    key: async () => (await done('POST /v1/keys', { name: 'k', scopes: ['search'] })).id,
    undo: async () => (await done(`POST /v1/consolidations/${(await consolidated()).consolidation}/undo`, {})).undo.id,
    review: async () => {
      await done('PUT /v1/settings', { review: ['ADD'] });
      const { user } = await consolidated();
      await done('PUT /v1/settings', {});
      return (await done(`GET /v1/reviews?user_id=${user}`)).results[0].id;
    },
    night: async () => {
      if (nights.length === 0) nights.push(...(await newNights()));
      return nights.pop() ?? '';
    },
    whatIf: async () => {
      const { user } = await consolidated();
      return (await done('POST /v1/replays', { filter: { user_id: user }, shadow: true })).id;
    },
    suite,
    sampledRun: async () => {
      const name = await suite();
      const { id } = await done(`POST /v1/suites/${name}/runs`, {});
      const message = async () => (await done(`GET /v1/suites/${name}/runs/${id}/sample`)).messages[0]?.id ?? null;
      await expect.poll(message, WITHIN).not.toBeNull();
      return { name, id, message: await message() };
    },
    delivery: async () => {
      const id = await webhook();
      const { user_id } = await done(`GET /v1/webhooks/${id}`);
      await done('POST /v1/memories', { user_id, memory: 'Lives in Lisbon' });
      const ended = async () => (await done(`GET /v1/webhooks/${id}/deliveries`)).results[0]?.ended_at ?? null;
      await expect.poll(ended, WITHIN).not.toBeNull();
      return { id, delivery_id: (await done(`GET /v1/webhooks/${id}/deliveries`)).results[0].id };
    },
  };
}
