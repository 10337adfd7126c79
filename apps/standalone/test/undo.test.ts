import { afterEach, beforeEach, expect, it } from 'vitest';
import { found, get, post, said } from './client.ts';
import { type Setup, standalone } from './setups.ts';

let setup: Setup;
beforeEach(async () => {
  setup = await standalone();
});
afterEach(() => setup.close());

it('what was remembered is undone, redone, rolled back and restored, and searches follow at once', async () => {
  await consolidated('I live in Oslo');
  const before = new Date().toISOString();
  const second = await consolidated('Actually I live in Bergen now');
  expect(await where()).toContain('Bergen');

  const undone = await manage(`/v1/consolidations/${second.consolidation_id}/undo`, {});
  expect(undone).toMatchObject({ status: 200, body: { changed: 1, undone: [second.consolidation_id] } });
  expect(await where()).toContain('Oslo');
  expect(await states()).toMatchObject({ consolidated: 1, undone: 1, gap: 0 });

  const redone = await manage(`/v1/undos/${undone.body.undo.id}/redo`, {});
  expect(redone.body.redone).toEqual([second.consolidation_id]);
  expect(await where()).toContain('Bergen');
  expect(await states()).toMatchObject({ consolidated: 2, undone: 0, gap: 0 });

  const [{ memory_id: id }] = second.events;
  expect(await manage('/v1/users/ana/rollback', { to: before })).toMatchObject({ status: 200, body: { changed: 1 } });
  expect(await where()).toContain('Oslo');
  const restored = await manage(`/v1/memories/${id}/restore`, { version: 2 });
  expect(restored).toMatchObject({ status: 200, body: { memory: expect.stringContaining('Bergen') } });
  expect(await where()).toContain('Bergen');

  const { results } = (await get(`${setup.search}/v1/memories/${id}/history`)).body;
  expect(results.map(({ event, actor }: { event: string; actor: string }) => `${event} by ${actor}`)).toEqual([
    'ADD by consolidation',
    'UPDATE by consolidation',
    'UNDO by undo',
    'UNDO by undo',
    'UNDO by rollback',
    'UPDATE by api',
  ]);
  await setup.stop();
  await setup.start();
  expect(await where()).toContain('Bergen');
});

it('what depends on a consolidation is named first, and goes with it on request', async () => {
  const first = await consolidated('I live in Oslo');
  const second = await consolidated('Actually I live in Bergen now');
  const route = `/v1/consolidations/${first.consolidation_id}/undo`;
  expect(await manage(route, {})).toMatchObject({
    status: 409,
    body: { code: 'has_dependents', dependents: [{ kind: 'consolidation', id: second.consolidation_id }] },
  });
  expect(await where()).toContain('Bergen');
  expect((await manage(route, { cascade: true })).status).toBe(200);
  expect(await found(setup.search, 'ana', 'where does she live?')).toEqual([]);
  expect(await states()).toMatchObject({ undone: 2, gap: 0 });
});

const manage = (route: string, body: object) => post(`${setup.console}${route}`, body);

const where = async (): Promise<string> => (await found(setup.search, 'ana', 'where does she live?')).join();

const states = async () => (await get(`${setup.search}/v1/stats`)).body.batches;

async function consolidated(content: string) {
  const { body } = await post(`${setup.ingest}/v1/batches?wait=60000`, { ...said('ana', content), flush: true });
  expect(body.state).toBe('consolidated');
  return body;
}
