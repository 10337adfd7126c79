import type { Filter, IndexQuery, SearchIndex } from '@slowwave/engine';
import { indexPoint, indexQuery } from '@slowwave/engine-testing';
import { expect } from 'vitest';

const IDS = Array.from({ length: 40 }, (_, i) => `m${String(i).padStart(2, '0')}`);
const REVISIONS = 200;

/** Points of one owner are written, changed and withdrawn through one index, until few are left; the others find what it finds. */
export async function expectSameWhileWritten(index: SearchIndex, others: readonly SearchIndex[]): Promise<void> {
  for (let revision = 1; revision <= REVISIONS; revision += 1) {
    const memoryId = IDS[(revision * 7) % IDS.length] ?? '';
    const metadata = revision % 3 === 0 ? { part: revision % 6 } : {};
    const point = indexPoint({
      ...{ memoryId, revision, metadata, createdAt: revision, text: `said ${revision}` },
      terms: ['tea', `word${revision % 9}`],
    });
    if (revision % 11 === 0) await index.withdraw([point]);
    else await index.upsert([point]);
    if (revision % 20 === 0) await expectSame(index, others);
  }
  for (const [n, memoryId] of IDS.entries()) {
    await index.withdraw([indexPoint({ memoryId, revision: REVISIONS + 1 })]);
    if (n % 9 === 0) await expectSame(index, others);
  }
}

/** Opens the same index once more, with limits of its own for what it keeps in memory. */
type OpenWith = (changed: {
  readonly cache?: { readonly bytes?: number; readonly bytesOfMany?: number; readonly many?: number };
}) => Promise<SearchIndex>;

/** More than may stay in memory when it is gone. */
const VERY_MANY = 700;
const AT_A_TIME = 100;

/** Nearly all points of one owner are withdrawn, whom the others have in memory; they find what is left, and nothing else. */
export async function expectSameWhileWithdrawn(open: OpenWith): Promise<void> {
  const index = await open({ cache: { bytes: 0, bytesOfMany: 0 } });
  const others = [await open({}), await open({ cache: { many: 1 } }), await open({ cache: { many: 30 } })];
  const points = Array.from({ length: VERY_MANY }, (_, i) =>
    indexPoint({ memoryId: `m${String(i).padStart(3, '0')}`, text: `said ${i}`, terms: ['tea', `word${i % 9}`] }),
  );
  await index.upsert(points);
  for (let from = 0; from < VERY_MANY; from += AT_A_TIME) {
    await expectSame(index, others);
    await index.withdraw(points.slice(from + 1, from + AT_A_TIME).map((point) => ({ ...point, revision: 2 })));
  }
  await expectSame(index, others);
}

async function expectSame(index: SearchIndex, others: readonly SearchIndex[]): Promise<void> {
  const questions = [null, ...FILTERS].map(
    (where): IndexQuery => indexQuery({ terms: ['tea', 'word3'], limit: 100, where }),
  );
  const found = await index.search(questions);
  for (const other of others) {
    for (const [i, question] of questions.entries()) expect(await other.search([question])).toEqual([found[i]]);
  }
}

const FILTERS: readonly Filter[] = [
  { kind: 'condition', field: { name: 'text' }, test: { kind: 'contains', text: 'said 1', folded: true } },
  {
    kind: 'not',
    of: { kind: 'condition', field: { name: 'metadata', keys: ['part'] }, test: { kind: 'equals', values: [3] } },
  },
  { kind: 'condition', field: { name: 'createdAt' }, test: { kind: 'compares', by: 'gte', to: 100 } },
];
