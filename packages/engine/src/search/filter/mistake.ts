/** What is wrong with a filter, and where. */
export class FilterError extends Error {
  /** As in filters.AND[0].created_at.gte. */
  readonly path: string;
  readonly expected: string;
  readonly got: string;

  constructor(path: string, expected: string, got: string) {
    super(`${path}: expected ${expected}, got ${got}`);
    this.name = 'FilterError';
    this.path = path;
    this.expected = expected;
    this.got = got;
  }
}

export const mistake = (path: string, expected: string, value: unknown): FilterError =>
  new FilterError(path, expected, shown(value));

/** Longest piece of a filter that a message repeats, in characters. */
const ECHO_MAX = 60;

export const shortened = (text: string): string => (text.length > ECHO_MAX ? `${text.slice(0, ECHO_MAX)}…` : text);

function shown(value: unknown): string {
  if (Array.isArray(value)) return `a list of ${value.length}`;
  if (typeof value === 'string') return shortened(JSON.stringify(value));
  if (typeof value === 'object' && value !== null)
    return `an object with ${shortened(Object.keys(value).join(', ')) || 'no keys'}`;
  return value === undefined ? 'nothing' : String(value);
}
