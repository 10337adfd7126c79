import { describeIndexBuild, describeSearchIndex, recordingLog, SUITE_SPACE } from '@slowwave/engine-testing';
import { afterAll } from 'vitest';
import { openPostgresBuild, openPostgresIndex } from '../src/postgres/index.ts';
import { givenServer } from './conformance-server.ts';

const url = givenServer('INDEX_URL');
if (url !== null) await describeOn(url);

async function describeOn(url: string): Promise<void> {
  const at = { url, schema: 'slowwave_index', log: recordingLog(), ...SUITE_SPACE };
  const index = await openPostgresIndex(at);
  const builds: { close(): Promise<void> }[] = [];
  afterAll(async () => {
    for (const open of [index, ...builds]) await open.close();
  });
  const emptied = async () => {
    await index.clear();
    return { ...index, close: async () => {} };
  };
  const close = async () => {};
  describeSearchIndex('in PostgreSQL', async () => ({ index: await emptied(), close }));
  describeIndexBuild('in PostgreSQL', async () => ({
    index: await emptied(),
    openBuild: async () => {
      const build = await openPostgresBuild(at);
      builds.push(build);
      return build;
    },
    close,
  }));
}
