import { problem } from '@slowwave/http';

/** A memory keeps one category; more are refused rather than dropped. */
export function categoryOf(categories: readonly string[]): string | null {
  if (categories.length <= 1) return categories[0] ?? null;
  throw problem(
    'invalid_request',
    `a memory keeps one category, got ${categories.length}; send the one that fits best`,
    {
      errors: [{ path: 'categories', message: `expected at most 1 item, got an array of ${categories.length}` }],
    },
  );
}
