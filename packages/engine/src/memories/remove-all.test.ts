import { echoExtract, engineBench, fakeChat, keyedDecide } from '@slowwave/engine-testing';
import { expect, it } from 'vitest';
import type { Ledger } from '../ports/ledger/ledger.ts';
import { filterIn } from '../search/filter/read.ts';
import { undoer } from '../undo/undo.ts';
import { DEFAULT_TENANT, type Scope } from '../words.ts';
import { memoryWriter, SLICE } from './write.ts';

const ANN: Scope = { userId: 'ann', agentId: null, runId: null, appId: null };
const TEMPORARY = filterIn('{"metadata.tmp": true}');

it('what stops matching the filter before it is deleted stays', async () => {
  const b = await bench();
  const [kept] = [await b.add('keep me'), await b.add('drop me')];
  const ledger = after(b.deps.ledger, () => b.writer.change(DEFAULT_TENANT, kept, { metadata: { tmp: false } }));
  const removed = await memoryWriter({ ...b.deps, ledger }).removeAll(DEFAULT_TENANT, ANN, { where: TEMPORARY });
  expect(removed).toMatchObject({ kind: 'written', count: 1 });
  expect(await b.engine.live()).toEqual(['keep me']);
});

it('what still matches goes, however it was changed meanwhile', async () => {
  const b = await bench();
  const id = await b.add('drop me');
  const ledger = after(b.deps.ledger, () => b.writer.change(DEFAULT_TENANT, id, { text: 'drop me, too' }));
  const removed = await memoryWriter({ ...b.deps, ledger }).removeAll(DEFAULT_TENANT, ANN, { where: TEMPORARY });
  expect(removed).toMatchObject({ kind: 'written', count: 1 });
  expect(await b.engine.live()).toEqual([]);
});

it('what was said in a run no more, since that was undone, is not deleted with the run', async () => {
  const b = await bench();
  await b.engine.post(['lives: in Oslo']);
  await b.engine.run();
  await b.engine.post(['lives: in Oslo'], { scope: { runId: 'r1' } });
  await b.engine.run();
  const ledger = after(b.deps.ledger, async () => {
    const { results } = await b.deps.ledger.thoughts.list(DEFAULT_TENANT, {}, { limit: 1, cursor: null });
    await undoer(b.deps).undo(DEFAULT_TENANT, results[0]?.id ?? '', { cascade: false, dryRun: false });
  });
  const inRun = { ...ANN, runId: 'r1' };
  const writer = memoryWriter({ ...b.deps, ledger });
  expect(await writer.removeAll(DEFAULT_TENANT, inRun)).toMatchObject({ kind: 'written', count: 0 });
  expect(await b.engine.live()).toEqual(['lives: in Oslo']);
});

it('more than one slice of them is read slice by slice, for show and to delete', async () => {
  const b = await bench();
  for (let i = 0; i <= SLICE; i += 1) await b.add(`number ${i}`);
  const pages: number[] = [];
  const { filtered } = b.deps.ledger;
  const ledger: Ledger = {
    ...b.deps.ledger,
    filtered: {
      list: async (...asked) => {
        const page = await filtered.list(...asked);
        pages.push(page.results.length);
        return page;
      },
    },
  };
  const writer = memoryWriter({ ...b.deps, ledger });
  const shown = await writer.removeAll(DEFAULT_TENANT, ANN, { where: TEMPORARY, dryRun: true, named: 3 });
  expect(shown).toMatchObject({ kind: 'written', count: SLICE + 1, first: [{}, {}, {}] });
  const gone = await writer.removeAll(DEFAULT_TENANT, ANN, { where: TEMPORARY });
  expect(gone).toMatchObject({ kind: 'written', count: SLICE + 1 });
  expect(pages).toEqual([SLICE, 1, SLICE, 1]);
  expect(await b.engine.live()).toEqual([]);
});

/** A ledger in which somebody does something right after it has said which memories there are. */
function after(ledger: Ledger, happens: () => Promise<unknown>): Ledger {
  return {
    ...ledger,
    memories: {
      ...ledger.memories,
      liveIds: async (...asked) => {
        const ids = await ledger.memories.liveIds(...asked);
        await happens();
        return ids;
      },
    },
    filtered: {
      list: async (...asked) => {
        const page = await ledger.filtered.list(...asked);
        await happens();
        return page;
      },
    },
  };
}

async function bench() {
  const decide = keyedDecide((text) => text.split(':')[0] ?? text);
  const engine = await engineBench({ chat: fakeChat({ extract_facts: echoExtract, decide_operations: decide }) });
  const { deps } = engine;
  const writer = memoryWriter(deps);
  const given = {
    scope: ANN,
    category: null,
    metadata: { tmp: true },
    immutable: false,
    validFrom: null,
    expiresAt: null,
  };
  const add = async (text: string): Promise<string> => {
    const written = await writer.add(DEFAULT_TENANT, { ...given, text });
    return 'memory' in written ? written.memory.id : '';
  };
  return { engine, deps, writer, add };
}
