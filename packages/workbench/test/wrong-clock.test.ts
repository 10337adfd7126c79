import { join } from 'node:path';
import {
  answers,
  askerOf,
  echoExtractor,
  freePort,
  keyedDecider,
  programFile,
  type ScriptedCall,
  startModelServer,
  tempDir,
} from '@slowwave/testkit';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Member, openMember } from '../src/chaos/member.ts';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

let folder: Awaited<ReturnType<typeof tempDir>>;
let model: Awaited<ReturnType<typeof startModelServer>>;
let member: Member;
beforeAll(async () => {
  folder = await tempDir();
  const script = answers({ extract_facts: echoExtractor(), decide_operations: keyedDecider((text) => text) });
  model = await startModelServer({ script });
  const port = String(await freePort());
  member = openMember({
    ...{ name: 'standalone', main: programFile('standalone'), url: `http://127.0.0.1:${port}` },
    clockFile: join(folder.path, 'clock'),
    env: {
      SLOWWAVE_PORT: port,
      SLOWWAVE_DATA_DIR: join(folder.path, 'data'),
      SLOWWAVE_BATCH_IDLE_MS: '1500', // what is posted under the wrong clock still waits when it is right again
      SLOWWAVE_EMBEDDING_MODEL: 'builtin',
      OPENAI_BASE_URL: model.baseUrl,
    },
  });
  await member.start();
});
afterAll(async () => {
  await member?.end();
  await model?.close();
  await folder?.remove();
});

const ask = askerOf(() => member.url);

/** What each user said, by batch. */
const said = new Map<string, { user: string; text: string }>();

/** When it was accepted, by the clock of the process. */
async function say(user: string): Promise<number> {
  const text = `thing ${said.size} of ${user} is here`;
  const { body } = await ask('POST /v1/batches', { user_id: user, messages: [{ role: 'user', content: text }] });
  said.set(body.batch_id, { user, text });
  return Date.parse((await ask(`GET /v1/batches/${body.batch_id}`)).body.timings.accepted_at);
}

const batches = () => Promise.all([...said.keys()].map(async (id) => (await ask(`GET /v1/batches/${id}`)).body));
const messagesIn = ({ input }: Pick<ScriptedCall, 'input'>): readonly string[] =>
  ((input?.messages ?? []) as { content: string }[]).map(({ content }) => content);

test('a clock that jumps ahead by a day and back loses nothing, does nothing twice, and holds up nobody', async () => {
  await say('ana');
  await member.setClock(DAY_MS);
  await expect.poll(() => say('ben')).toBeGreaterThan(Date.now() + DAY_MS - HOUR_MS);
  await say('ana');
  await member.setClock(0);
  await expect.poll(() => say('cem')).toBeLessThan(Date.now() + HOUR_MS);
  await say('ana');

  await expect
    .poll(async () => new Set((await batches()).map(({ state }) => state)))
    .toEqual(new Set(['consolidated']));
  for (const { id, events } of await batches()) expect(events, said.get(id)?.text).toHaveLength(1);
  for (const user of ['ana', 'ben', 'cem']) {
    const own = [...said.values()].filter((one) => one.user === user).map(({ text }) => text);
    const { results } = (await ask(`GET /v1/memories?user_id=${user}&limit=100`)).body;
    expect(results.map(({ memory }: { memory: string }) => memory).sort()).toEqual(own.sort());
  }
  const asked = model.calls.filter(({ name }) => name === 'extract_facts').flatMap(messagesIn);
  expect(asked.sort(), 'each message once').toEqual([...said.values()].map(({ text }) => text).sort());
  expect((await ask('GET /v1/stats')).body.batches).toMatchObject({ consolidated: said.size, parked: 0, gap: 0 });
});
