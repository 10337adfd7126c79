import { expect, test } from 'vitest';
import { consoleBench } from './testing/bench.ts';

const WITHDRAWN = '/v1/ids/memories?run_id=r1';

async function bench() {
  const b = await consoleBench();
  const say = async (text: string, runId: string) => {
    await b.engine.post([text], { scope: { runId } });
    await b.engine.run();
  };
  await say('pet: cat', 'r1');
  await say('home: Oslo', 'r1');
  await say('home: Oslo', 'r2');
  return b;
}

test('a dry run counts what would go and what would stay, and changes nothing', async () => {
  const { send, engine } = await bench();
  const answer = await send('DELETE', `${WITHDRAWN}&dry_run=true`);
  expect(answer.json()).toMatchObject({ deleted: 1, kept: 1, dry_run: true, memories: [{ memory: 'pet: cat' }] });
  expect(await engine.live()).toEqual(['home: Oslo', 'pet: cat']);
});

test('what was said under an id is withdrawn, and its undo is listed and can be redone', async () => {
  const { app, send, engine } = await bench();
  expect((await send('DELETE', WITHDRAWN)).json()).toMatchObject({ deleted: 1, kept: 1, more: false, dry_run: false });
  expect(await engine.live()).toEqual(['home: Oslo']);
  const [undo] = (await app.inject('/v1/undos')).json().results;
  expect(undo).toMatchObject({ kind: 'withdrawal', user_id: 'ann', memories: 1, consolidation_ids: [] });
  expect((await send('POST', `/v1/undos/${undo.id}/redo`, {})).statusCode).toBe(200);
  expect((await send('DELETE', WITHDRAWN)).json()).toMatchObject({ deleted: 0, kept: 1 });
});

test('without an id nothing is withdrawn', async () => {
  const { send, engine } = await bench();
  expect((await send('DELETE', '/v1/ids/memories')).statusCode).toBe(400);
  expect(await engine.live()).toHaveLength(2);
});
