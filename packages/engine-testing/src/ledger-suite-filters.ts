import {
  type Filterable,
  type IdLists,
  InvalidCursorError,
  type Json,
  matches,
  ownerOf,
  type Page,
  readFilter,
  type Under,
} from '@slowwave/engine';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { anyFilter, anyFilterable } from './any-filters.ts';
import { added, confirmed, home, scope } from './builders.ts';
import { DOCUMENTS, FILTER_CASES, filterable } from './filter-cases.ts';
import { ALL, type Bench, TENANT, write } from './ledger-bench.ts';
import { NOON } from './search-index-suite-points.ts';

const RANDOM_FILTERS = 300;

/** What of an owner's memories a caller asks for. */
export function describeFilters(bench: () => Bench): void {
  const listed = async (json: Json, page: Page = ALL) => {
    const asked = { scope: scope(), where: readFilter(json), now: NOON };
    const { results, nextCursor } = await bench().ledger.filtered.list(TENANT, asked, page);
    return { ids: results.map(({ id }) => id), nextCursor };
  };

  describe('a list with a filter', () => {
    it('has what the filter says', async () => {
      await bring(bench(), DOCUMENTS);
      const wrong = [];
      for (const { says, filter, finds } of FILTER_CASES) {
        const { ids } = await listed(filter);
        if (ids.sort().join() !== [...finds].sort().join()) wrong.push({ says, filter, finds, ids });
      }
      expect(wrong).toEqual([]);
    });

    it('has what the filter says of anything', async () => {
      const documents = fc.sample(anyFilterable, { numRuns: 60, seed: 3 });
      const known = documents.map((of, i) => ({ ...of, memoryId: `m${i}` }));
      await bring(bench(), known);
      const wrong = [];
      for (const filter of fc.sample(anyFilter, { numRuns: RANDOM_FILTERS, seed: 5 })) {
        const where = readFilter(filter);
        const expected = known.filter((of) => matches(where, of)).map(({ memoryId }) => memoryId);
        const { ids } = await listed(filter);
        if (ids.sort().join() !== expected.sort().join()) wrong.push({ filter, ids, expected });
      }
      expect(wrong).toEqual([]);
    });

    it('comes newest first, in pages that are full and miss nothing, however few fit', async () => {
      const rare = (i: number) => i % 90 === 7;
      const many = Array.from({ length: 700 }, (_, i) =>
        filterable(`m${String(i).padStart(3, '0')}`, {
          createdAt: NOON + Math.floor(i / 3),
          metadata: { rare: rare(i) },
        }),
      );
      await bring(bench(), many);
      const pages: string[][] = [];
      let cursor: string | null = null;
      do {
        const page = await listed({ 'metadata.rare': true }, { limit: 3, cursor });
        pages.push(page.ids);
        cursor = page.nextCursor;
      } while (cursor !== null);
      expect(pages).toEqual([
        ['m637', 'm547', 'm457'],
        ['m367', 'm277', 'm187'],
        ['m097', 'm007'],
      ]);
    });

    it('shows nothing of other scopes, and nothing that has expired', async () => {
      const inApp = { scope: scope({ userId: 'ann', appId: 'web' }) };
      await bring(bench(), [filterable('mine', inApp), filterable('gone', { expiresAt: NOON }), filterable('other')]);
      expect((await listed({})).ids.sort()).toEqual(['mine', 'other']);
      const asked = { where: readFilter({ OR: [{}, { user_id: 'ann' }] }), now: NOON };
      const ids = async (given: Parameters<typeof scope>[0]) => {
        const page = await bench().ledger.filtered.list(TENANT, { ...asked, scope: scope(given) }, ALL);
        return page.results.map(({ id }) => id);
      };
      expect(await ids({ userId: 'bob' })).toEqual([]);
      expect(await ids({ userId: 'ann', appId: 'web' })).toEqual(['mine']);
    });

    it('refuses a cursor it has not given out', async () => {
      await expect(listed({}, { limit: 3, cursor: 'elsewhere' })).rejects.toThrow(InvalidCursorError);
    });
  });
}

/** Memories that are as given. */
async function bring(bench: Bench, documents: readonly Filterable[]): Promise<void> {
  const { ledger, tools } = bench;
  const lane = await ledger.memories.laneOf(TENANT, ownerOf(scope()), tools.now());
  const changes = documents.map((of) => {
    const { category, metadata, immutable, trust, expiresAt, saidAt, validFrom, text } = of;
    const flagged = of.flagged ? { flagged: true as const } : {};
    const details = { category, metadata, immutable, trust, ...flagged, expiresAt };
    const happening = { memoryId: of.memoryId, text, saidAt, validFrom, details };
    const [first, ...others] = sayings(of.ids);
    const born = added(tools, home(lane, { scope: of.scope }), { ...happening, ...(first && { under: first }) });
    const change = others.reduce((made, under) => {
      const next = confirmed(tools, made.memory, { ...happening, under });
      return { ...next, expectedRevision: 0, events: [...made.events, ...next.events] };
    }, born);
    const { confirmations, createdAt, updatedAt } = of;
    return { ...change, memory: { ...change.memory, confirmations, createdAt, updatedAt } };
  });
  await write(bench, ...changes);
}

/** As few sayings as it takes for all of these ids. */
function sayings({ agentId, runId, appId }: IdLists): Under[] {
  const count = Math.max(1, agentId.length, runId.length, appId.length);
  return Array.from({ length: count }, (_, i) => ({
    agentId: agentId[i] ?? null,
    runId: runId[i] ?? null,
    appId: appId[i] ?? null,
  }));
}
