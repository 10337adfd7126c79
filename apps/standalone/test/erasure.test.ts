import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { call, done, found, get, post, quiet, said } from './client.ts';
import { type Setup, standalone } from './setups.ts';

const MARKER = 'Xyzzy';
const USER = `${MARKER}-user`;
/** An erasure waits until nobody can be writing to the index any more; the rest is for a busy machine. */
const ERASED_WITHIN_MS = 60_000;

/** What holds in all ways of running it stands in way-of-a-batch.ts; here all is in files of one process. */
describe('a user who is erased', () => {
  let setup: Setup;

  beforeAll(async () => {
    setup = await standalone();
  });
  afterAll(() => setup.close());

  const post1 = async (text: string): Promise<string> => {
    const { body } = await post(`${setup.ingest}/v1/batches?wait=60000`, { ...said(USER, text), flush: true });
    expect(body.state).toBe('consolidated');
    return body.batch_id;
  };

  /** What the audit log has of a user, or of an erasure. */
  const actionsOn = async (id: string): Promise<string[]> => {
    const { results } = (await get(`${setup.console}/v1/audit?subject=${id}`)).body;
    return results.map(({ action }: { action: string }) => action);
  };

  it('is gone to the last byte, though the process is killed midway; what is said meanwhile stays', async () => {
    const batch = await post1(`My name is ${MARKER} and I live in Oslo.`);
    await done(post(`${setup.ingest}/v1/batches?wait=60000`, { ...said('bob', 'I live in Rome.'), flush: true }));
    const [memory] = (await get(`${setup.search}/v1/memories?user_id=${USER}`)).body.results;
    expect(memory.memory).toContain('Oslo');
    const exported = await (await fetch(`${setup.console}/v1/users/${USER}/export`)).text();
    expect(exported).toContain('"type":"end"');
    await expect.poll(() => actionsOn(USER)).toEqual(['GET /v1/users/{id}/export']);
    const { status, body } = await call('DELETE', `${setup.console}/v1/users/${USER}`);
    expect(status).toBe(202);
    await setup.crash();
    await setup.start();
    const erasure = await untilErased(`${setup.console}${body.status_url}`);
    expect(erasure).toMatchObject({ state: 'erased', remains: [], counts: { batches: 1 } });
    expect(await filesWithMarker(setup.dataDir)).toEqual([]);
    expect(await actionsOn(body.erasure_id)).toContain('GET /v1/users/{id}/export');
    for (const url of [`/v1/memories/${memory.id}`, `/v1/batches/${batch}`]) {
      expect((await get(`${setup.search}${url}`)).status).toBe(404);
    }
    expect(await found(setup.search, USER, 'where does she live?')).toEqual([]);
    expect((await found(setup.search, 'bob', 'where does he live?'))[0]).toContain('Rome');
    await post1('I moved to Lima.');
    expect((await found(setup.search, USER, 'where does she live?'))[0]).toContain('Lima');
    const { accepted, erased, gap } = await quiet(setup.search);
    expect({ accepted, erased, gap }).toEqual({ accepted: 3, erased: 1, gap: 0 });
  });
});

async function untilErased(url: string): Promise<unknown> {
  const deadline = Date.now() + ERASED_WITHIN_MS;
  for (;;) {
    const { body } = await get(url);
    if (body.state === 'erased' || Date.now() > deadline) return body;
    await sleep(200);
  }
}

/** Of everything the process keeps on its disk. */
async function filesWithMarker(folder: string): Promise<string[]> {
  const names = await readdir(folder);
  const contents = await Promise.all(names.map((name) => readFile(join(folder, name)).catch(() => Buffer.alloc(0))));
  return names.filter((_, i) => contents[i]?.includes(MARKER));
}
