import { echoExtract, engineBench, fakeChat, keyedDecide } from '@slowwave/engine-testing';
import { expect, it } from 'vitest';
import type { IndexPoint } from '../ports/search-index.ts';
import { terms } from '../text/terms.ts';
import { undoer } from '../undo/undo.ts';
import { DEFAULT_TENANT } from '../words.ts';

const WORD = 'xylophone';
const stems = terms(WORD);
const TALK = ['first: aardvark', `plays: ${WORD}`, 'lives: in Oslo', 'likes: tea'];

/** A talk of which each batch was written to the index as soon as it was applied, and what the index was given, by point. */
async function talked() {
  const decide = keyedDecide((text) => text.split(':')[0] ?? text);
  const engine = await engineBench({ chat: fakeChat({ extract_facts: echoExtract, decide_operations: decide }) });
  const { deps } = engine;
  const given = new Map<string, IndexPoint>();
  const written: IndexPoint[] = [];
  const { index } = deps;
  const noting: typeof index = {
    ...index,
    upsert: async (points) => {
      await index.upsert(points);
      written.push(...points);
      for (const point of points) {
        const known = given.get(point.memoryId);
        if (known === undefined || known.revision <= point.revision) given.set(point.memoryId, point);
      }
    },
  };
  Object.assign(deps, { index: noting });
  const batches: string[] = [];
  for (const text of TALK) {
    batches.push(await engine.post([text]));
    await engine.run();
  }
  const batch = await deps.ledger.batches.get(DEFAULT_TENANT, batches[1] ?? '');
  /** The texts of the points that are found by the word. */
  const foundBy = async (): Promise<readonly string[]> => {
    const { points } = await index.page(null, 1_000);
    const found = points.flatMap(({ memoryId }) => given.get(memoryId) ?? []);
    return found
      .filter((point) => [...point.terms, ...point.contextTerms].some((term) => stems.includes(term)))
      .map(({ shelf, text }) => `${shelf}: ${text}`)
      .sort();
  };
  return { deps, written, foundBy, undo: undoer(deps), consolidationId: batch?.consolidationId ?? '' };
}

it('nothing is found by words that are undone, also where somebody who read them before writes late', async () => {
  const { deps, written, foundBy, undo, consolidationId } = await talked();
  expect(await foundBy()).toEqual([
    'memories: lives: in Oslo',
    'memories: plays: xylophone',
    'messages: first: aardvark',
    'messages: likes: tea',
    'messages: lives: in Oslo',
    'messages: plays: xylophone',
  ]);
  const early = written.filter(({ text }) => !text.includes(WORD));
  expect(await undo.undo(DEFAULT_TENANT, consolidationId, { cascade: false, dryRun: false })).toMatchObject({
    kind: 'done',
  });
  expect(await foundBy()).toEqual([]);
  await deps.index.upsert(early.filter(({ shelf }) => shelf === 'messages'));
  expect(await foundBy()).toEqual([]);
});

it('what is said next is found by it again when it is redone', async () => {
  const { foundBy, undo, consolidationId } = await talked();
  const before = await foundBy();
  const undone = await undo.undo(DEFAULT_TENANT, consolidationId, { cascade: false, dryRun: false });
  expect(await foundBy()).toEqual([]);
  const id = undone.kind === 'done' ? (undone.report.undo?.id ?? '') : '';
  expect(await undo.redo(DEFAULT_TENANT, id, { dryRun: false })).toMatchObject({ kind: 'done' });
  expect(await foundBy()).toEqual(before);
});
