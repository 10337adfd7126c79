import { type Filter, FilterError } from './filter.ts';
import { filterIn } from './read.ts';

/** The filter of what deletes, as JSON in a query string; null without one. Whoever gives a filter does not mean everything. */
export function narrowingFilterIn(text: string | undefined): Filter | null {
  const filter = filterIn(text);
  if (filter === null || !isTrueOfAll(filter)) return filter;
  throw new FilterError('filters', NARROWING, 'a filter that matches every memory');
}

const NARROWING =
  'at least one condition that can rule a memory out (to delete all memories of the owner, omit filters)';

/** What a filter is of every memory, whatever it is like; null: that depends on the memory. */
function constantOf(filter: Filter): boolean | null {
  if (filter.kind === 'condition') return null;
  if (filter.kind === 'not') {
    const of = constantOf(filter.of);
    return of === null ? null : !of;
  }
  const deciding = filter.kind === 'any';
  const parts = filter.of.map(constantOf);
  if (parts.includes(deciding)) return deciding;
  return parts.includes(null) ? null : !deciding;
}

/** Whether it leaves out nothing: it has no condition, or none that matters. */
const isTrueOfAll = (filter: Filter): boolean => constantOf(filter) === true;
