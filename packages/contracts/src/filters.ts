import { z } from 'zod';
import { fewPartsOf } from './common.ts';

/** Enough for a thousand values of a hundred characters and the maximum number of conditions. */
const FILTER_MAX = 130_000;
/** More than a hundred deeply nested conditions with a thousand values consist of. */
const PARTS_MAX = 5_000;

/** A filter as JSON; the engine parses it and reports where a mistake is. */
export const Filters = fewPartsOf(PARTS_MAX, FILTER_MAX).meta({
  id: 'Filters',
  description:
    'Conditions that memories must match: fields with a value, a list of values, "*" or operators (eq, ne, in, nin, ' +
    'gt, gte, lt, lte, contains, icontains), combined with AND, OR and NOT. Filters narrow the scope and never ' +
    'widen it. agent_id, run_id and app_id match every id under which a memory was said or confirmed. See docs/filters.md.',
  examples: [
    { categories: { in: ['food', 'travel'] }, created_at: { gte: '2026-03-01' } },
    { AND: [{ agent_id: '*' }, { NOT: [{ 'metadata.source': 'import' }] }] },
    { OR: [{ metadata: { priority: { gt: 3 } } }, { memory: { icontains: 'tea' } }] },
  ],
});

/** Characters of a filter in a query: servers and proxies accept URLs of about 8,000. */
const QUERY_TEXT_MAX = 6_000;

export const FiltersText = z
  .string()
  .max(QUERY_TEXT_MAX)
  .meta({
    description: 'A filter as percent-encoded JSON, with the same syntax as in POST /v1/search. See docs/filters.md.',
    examples: ['{"categories":"food"}'],
  });
