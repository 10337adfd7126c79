import { expect, it } from 'vitest';
import { call, done, get, post } from './client.ts';
import { standalone } from './setups.ts';

const WITHIN = { timeout: 60_000 };
const NOWHERE = 'http://127.0.0.1:9/hook';

interface Slot {
  readonly name: string;
  readonly lines: readonly { readonly memory: string; readonly by: string; readonly memory_id: string }[];
}

it(
  'a night sorts the profile and remembers what a run came to, tells a webhook, and is undone; an erasure leaves nothing of it',
  async () => {
    const setup = await standalone({ SLOWWAVE_ALLOW_PRIVATE_URLS: '127.0.0.1' });
    const api = setup.console;
    const put = (url: string, body: unknown) => call('PUT', url, { body });
    const lines = async (): Promise<Record<string, string[]>> => {
      const { slots } = (await get(`${api}/v1/users/ana/profile`)).body as { slots: readonly Slot[] };
      const filled = slots.filter((slot) => slot.lines.length > 0);
      return Object.fromEntries(
        filled.map((slot) => [slot.name, slot.lines.map(({ by, memory }) => `${by}: ${memory}`)]),
      );
    };
    const memories = async () =>
      ((await get(`${api}/v1/memories?user_id=ana`)).body.results as { memory: string; task?: object }[]).toSorted(
        (a, b) => (a.memory < b.memory ? -1 : 1),
      );
    try {
      const hook = { url: NOWHERE, events: ['night.applied'] };
      const { id: webhook } = (await post(`${api}/v1/webhooks`, hook)).body;
      const memory = { user_id: 'ana', memory: 'Ana lives in Oslo', categories: ['personal_details'] };
      await done(post(`${api}/v1/memories`, memory));
      await done(put(`${api}/v1/users/ana/profile/name`, { memory: 'Ana goes by Annie' }));
      const run = `${api}/v1/runs/trip/state?user_id=ana`;
      await done(
        put(run, {
          goal: 'Book a trip',
          steps: [{ id: 'a', title: 'Find a flight', state: 'done', result: 'LH 2454' }],
        }),
      );
      await done(post(`${api}/v1/runs/trip/end?user_id=ana`, {}));
      expect(await lines()).toEqual({ name: ['person: Ana goes by Annie'], other: ['rule: Ana lives in Oslo'] });

      await done(put(`${api}/v1/settings`, { sleep: { mode: 'auto', idle_hours: 0 } }));
      const told = async () => (await get(`${api}/v1/webhooks/${webhook}/deliveries`)).body.results[0]?.body.data;
      await expect.poll(told, WITHIN).toBeDefined();
      const came = 'Task: Book a trip. Done: Find a flight → LH 2454.';
      const { night_id: night, text, acts } = await told();
      expect(text).toBe(`runs: new “${came}”\nprofile: “Ana lives in Oslo” under home`);
      expect(acts).toHaveLength(2);
      const sorted = { name: ['person: Ana goes by Annie'], home: ['night: Ana lives in Oslo'] };
      expect(await lines()).toEqual(sorted);
      expect(await memories()).toMatchObject([
        { memory: 'Ana goes by Annie', pinned: true },
        { memory: 'Ana lives in Oslo' },
        { memory: came, trust: 'agent', run_id: 'trip', task: { run_id: 'trip', version: 2 } },
      ]);
      const asked = { user_id: 'ana', query: 'Which flight?', format: 'text' };
      // The index follows.
      const context = async () => (await post(`${setup.search}/v1/context`, asked)).body.text;
      await expect.poll(context, WITHIN).toMatch(/# Profile\n(?:.*\n)*.*Annie[\s\S]*LH 2454/u);
      const exported = JSON.stringify((await get(`${api}/v1/users/ana/export`)).body);
      expect(exported).toContain('"profile');

      await done(put(`${api}/v1/settings`, {}));
      const { undo } = (await post(`${api}/v1/consolidations/${night}/undo`, {})).body;
      expect(await lines()).toEqual({ name: sorted.name, other: ['rule: Ana lives in Oslo'] });
      expect((await memories()).map((one) => one.memory)).toEqual(['Ana goes by Annie', 'Ana lives in Oslo']);
      await done(post(`${api}/v1/undos/${undo.id}/redo`, {}));
      expect(await lines()).toEqual(sorted);

      await done(call('DELETE', `${api}/v1/users/ana`));
      expect(await lines()).toEqual({});
    } finally {
      await setup.close();
    }
  },
  WITHIN.timeout * 2,
);
