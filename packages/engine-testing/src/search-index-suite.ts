import type { SearchIndex } from '@slowwave/engine';
import { afterEach, beforeEach, describe } from 'vitest';
import { describeAnything } from './search-index-suite-anything.ts';
import { describeFilters } from './search-index-suite-filters.ts';
import { describeForgetting } from './search-index-suite-forgetting.ts';
import { describePages } from './search-index-suite-pages.ts';
import { describeRanking } from './search-index-suite-ranking.ts';
import { describeShelves } from './search-index-suite-shelves.ts';
import { describeSight } from './search-index-suite-sight.ts';
import { describeStatistics, type KeywordStatistics } from './search-index-suite-statistics.ts';
import { describeStoring } from './search-index-suite-storing.ts';

/** An empty index without a marker, opened for SUITE_SPACE. */
export interface SearchIndexFixture {
  readonly index: SearchIndex;
  /** Called after the index is closed. */
  close(): Promise<void>;
}

interface SuiteOptions {
  readonly statistics?: KeywordStatistics;
  /** How many filters are made up for the test of anything. */
  readonly randomFilters?: number;
}

/** What every search index promises, whatever it is made of. */
export function describeSearchIndex(
  name: string,
  open: () => Promise<SearchIndexFixture>,
  { statistics = 'owner', randomFilters = 1_000 }: SuiteOptions = {},
): void {
  describe(`the search index ${name}`, () => {
    let fixture: SearchIndexFixture;

    beforeEach(async () => {
      fixture = await open();
    });
    afterEach(async () => {
      await fixture.index.close();
      await fixture.close();
    });

    const index = (): SearchIndex => fixture.index;
    describeStoring(index);
    describePages(index);
    describeForgetting(index);
    describeSight(index);
    describeRanking(index, statistics);
    describeStatistics(index, statistics);
    describeShelves(index, statistics);
    if (statistics === 'owner') describeAnything(index);
    describeFilters(index, randomFilters);
  });
}
