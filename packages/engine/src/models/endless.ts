/** What is said so often, each time in the same words and at once, goes on for ever. */
const TIMES_MIN = 6;
/** Less of it may be meant: laughter, or a line of dashes. In characters, as the others. */
const REPEATED_CHARS_MIN = 1_200;
/** A dozen facts: the longest stretch that small models are known to repeat. */
const STRETCH_CHARS_MAX = 2_000;
/** So many characters in a row are new where anything is. */
const NEW_CHARS = 24;
/** So much of the end of a text shows whether it repeats itself. */
export const REPEATED_SHOWS_IN = TIMES_MIN * STRETCH_CHARS_MAX;

/**
 * What an answer says over and over at its end, as far as it takes to see that: it would never have come to another end; null: it
 * does not. In linear time. The loops of single facts, which are shorter, are known by text/loops.ts.
 */
export function repeatedAtEnd(text: string): string | null {
  const end = text.slice(-REPEATED_SHOWS_IN);
  // Nearly every answer ends with something new, which is found out at once.
  if (
    !end
      .slice(0, -1)
      .slice(-STRETCH_CHARS_MAX - NEW_CHARS)
      .includes(end.slice(-NEW_CHARS))
  )
    return null;
  const last = end.length - 1;
  const isSame = (at: number, other: number): boolean => end.charCodeAt(last - at) === end.charCodeAt(last - other);
  // Read from its end: how much of its beginning stands once more where each of its parts ends.
  const again = new Uint16Array(end.length);
  for (let at = 1; at <= last; at += 1) {
    let same = again[at - 1] ?? 0;
    while (same > 0 && !isSame(at, same)) same = again[same - 1] ?? 0;
    if (isSame(at, same)) same += 1;
    again[at] = same;
    const length = at + 1;
    const stretch = length - same;
    // A longer part repeats nothing shorter.
    if (stretch > STRETCH_CHARS_MAX) return null;
    if (length >= REPEATED_CHARS_MIN && length >= TIMES_MIN * stretch) return end.slice(-length);
  }
  return null;
}
