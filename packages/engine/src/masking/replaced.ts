/** Something found in a text. */
export interface Place<K extends string> {
  readonly kind: K;
  readonly start: number;
  readonly end: number;
}

/** The text with another in place of each; of two that overlap the one that begins first counts, of those the longer. */
export function replaced<K extends string>(
  text: string,
  places: readonly Place<K>[],
  by: (kind: K) => string,
): { readonly text: string; readonly found: readonly K[] } {
  const found: K[] = [];
  let done = '';
  let from = 0;
  for (const { kind, start, end } of places.toSorted((a, b) => a.start - b.start || b.end - a.end)) {
    if (start < from) continue;
    done += text.slice(from, start) + by(kind);
    from = end;
    found.push(kind);
  }
  return { text: done + text.slice(from), found };
}
