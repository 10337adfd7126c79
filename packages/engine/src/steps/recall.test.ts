import { expect, test } from 'vitest';
import type { IndexQuery, SearchIndex } from '../ports/search-index.ts';
import { takeTurn } from '../take-turn.ts';
import { echoExtract, engineBench, fakeChat, NEVER } from '../testing/index.ts';
import { project } from './project.ts';

test('a memory that another process tells the index while it is being asked is known all the same', async () => {
  const bench = await engineBench({ chat: fakeChat({ extract_facts: echoExtract }) });
  const { deps } = bench;
  const away = async (): Promise<void> => {
    throw new Error('the index does not answer');
  };
  const handleAway = takeTurn({ ...deps, index: { ...deps.index, upsert: away } });
  await bench.post(['lives: in Oslo']);
  const [first] = await deps.ledger.lanes.withWork(null, 1);
  if (first !== undefined) await handleAway(first, NEVER);
  expect(await deps.ledger.outbox.pending(10)).toHaveLength(1);

  const search = async (queries: readonly IndexQuery[]): ReturnType<SearchIndex['search']> => {
    const answer = await deps.index.search(queries);
    await project(deps, { entries: await deps.ledger.outbox.pending(10), batches: [] }, NEVER);
    return answer;
  };
  const handle = takeTurn({ ...deps, index: { ...deps.index, search } });
  await bench.post(['lives: in Oslo']);
  const [second] = await deps.ledger.lanes.withWork(null, 1);
  if (second !== undefined) await handle(second, NEVER);
  expect(await bench.live()).toEqual(['lives: in Oslo']);
  expect((await bench.memories()).map((memory) => memory.confirmations)).toEqual([1]);
});
