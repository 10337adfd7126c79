import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { freePort, programFile, type Service, spawnService, tempDir } from '@slowwave/testkit';
import { expect, test } from 'vitest';
import { type Api, apiAt } from '../src/api.ts';
import { untilQuiet } from '../src/fleet/quiet.ts';

// biome-ignore lint/style/noProcessEnv: ./scripts/prove cold says how large it is
const given = (name: string, usual: number): number => Number(process.env[name] ?? usual);

const KILLS = given('COLD_KILLS', 20);
const OWNERS = given('COLD_OWNERS', 6);
const SAYINGS = given('COLD_SAYINGS', 20);
/** A process is killed within so many ms of being asked to lay owners to sleep or to wake them. */
const WITHIN_MS = 1_500;
const LIMIT_MS = 3_600_000;

const owners = Array.from({ length: OWNERS }, (_, i) => `user-${i + 1}`);
const say = (text: string): void => void process.stderr.write(`${text}\n`);

interface Hit {
  readonly id: string;
  readonly memory: string;
}

/** What is remembered of somebody, by the search that reads where it sleeps. */
async function found(api: Api, user_id: string): Promise<readonly string[]> {
  const query = 'What is the code of the locker?';
  const { results } = await api.post<{ results: readonly Hit[] }>('/v1/search', { user_id, query, top_k: 100 });
  return results.map(({ id, memory }) => `${id} ${memory}`).sort();
}

const sleepers = async (api: Api): Promise<number> =>
  (await api.get<{ results: readonly unknown[] }>('/v1/cold?limit=100')).results.length;

test(
  'a process that is killed while it lays owners to sleep or wakes them loses nothing, doubles nothing, and finds everybody throughout',
  async () => {
    const folder = await tempDir();
    const port = await freePort();
    const url = `http://127.0.0.1:${port}`;
    const api = apiAt(url, '');
    const start = (): Promise<Service> =>
      spawnService({
        main: programFile('standalone'),
        env: {
          ...{ SLOWWAVE_PORT: String(port), SLOWWAVE_DATA_DIR: join(folder.path, 'data'), SLOWWAVE_LOG_LEVEL: 'error' },
          ...{ SLOWWAVE_COLD_DAYS: '0', SLOWWAVE_BATCH_IDLE_MS: '100' },
        },
        ready: { url: `${url}/readyz` },
      });
    let service = await start();
    try {
      for (const user_id of owners) {
        for (let n = 1; n <= SAYINGS; n += 1) {
          const content = `Locker ${n} of ${user_id} has the code ${n * 7}.`;
          await api.post('/v1/batches', {
            user_id,
            messages: [{ role: 'user', content }],
            mode: 'verbatim',
            flush: true,
          });
        }
      }
      await untilQuiet(api, { withinMs: 600_000 });
      const before = new Map<string, readonly string[]>();
      for (const owner of owners) before.set(owner, await found(api, owner));
      expect(new Set([...before.values()].map((all) => all.length))).toEqual(new Set([SAYINGS]));
      const kept = { asleep: 0, awake: 0 };
      for (let kill = 1; kill <= KILLS; kill += 1) {
        const way = kill % 2 === 1 ? 'cool' : 'wake';
        const asked = owners.map((id) => api.post(`/v1/cold/${way}`, { kind: 'user', id }).catch(() => null));
        await sleep(Math.random() * WITHIN_MS);
        await service.kill();
        await Promise.all(asked);
        service = await start();
        const asleep = await sleepers(api);
        kept.asleep += asleep;
        kept.awake += OWNERS - asleep;
        for (const owner of owners) expect([owner, await found(api, owner)]).toEqual([owner, before.get(owner)]);
        say(`${kill} of ${KILLS}: killed while asked to ${way}; ${asleep} of ${OWNERS} sleep, everybody is found`);
      }
      for (const id of owners) await api.post('/v1/cold/wake', { kind: 'user', id });
      expect(await sleepers(api)).toBe(0);
      for (const owner of owners) expect(await found(api, owner)).toEqual(before.get(owner));
      const { batches } = await api.get<{ batches: { accepted: number; gap: number } }>('/v1/stats');
      expect(batches).toMatchObject({ accepted: OWNERS * SAYINGS, gap: 0 });
      expect((await api.get<{ findings: readonly unknown[] }>('/v1/doctor')).findings).toEqual([]);
      // Else nobody was killed in the middle of anything.
      expect([kept.asleep > 0, kept.awake > 0]).toEqual([true, true]);
      say(`${KILLS} kills: ${kept.asleep} owners slept and ${kept.awake} were awake afterwards`);
    } finally {
      await service.kill().catch(() => {});
      await folder.remove();
    }
  },
  LIMIT_MS,
);
