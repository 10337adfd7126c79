import { type Filter, FilterError, readFilter } from '@slowwave/engine';

/** The filter of a body; null without one. */
export const filterOf = (json: unknown): Filter | null => (json === undefined ? null : readFilter(json));

/** The filter of a query, as JSON in one text; null without one. */
export const filterIn = (text: string | undefined): Filter | null =>
  text === undefined ? null : readFilter(parsed(text));

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new FilterError('filters', 'an object as JSON, percent-encoded', 'text that is not JSON');
  }
}
