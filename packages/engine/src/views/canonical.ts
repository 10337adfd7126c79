/** JSON with the keys of every object in order: equal values give equal texts. */
export function canonical(value: unknown): string {
  return JSON.stringify(value, (_key, child: unknown) => (isPlain(child) ? sorted(child) : child));
}

const isPlain = (value: unknown): value is object =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const sorted = (value: object): object =>
  Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0)));
