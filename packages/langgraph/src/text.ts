/** The most characters of a text that can be searched. */
const TEXT_MAX = 8_000;

export type Value = Readonly<Record<string, unknown>>;

/** What a value is found by: what stands at the paths, or everything in it. Empty if there is nothing to read. */
export function textOf(value: Value, paths: readonly string[] | undefined): string {
  const found =
    paths === undefined ? linesOf(value) : paths.flatMap((path) => at(value, stepsOf(path)).flatMap(linesOf));
  return cut(found.join('\n').toWellFormed().trim());
}

/** One line for each text, number and truth in a value, under its name; a single one stands alone. */
function linesOf(value: unknown): string[] {
  const leaves = leavesOf(value, '');
  return leaves.length === 1 ? leaves.map(([, leaf]) => leaf) : leaves.map(([name, leaf]) => `${name}: ${leaf}`);
}

function leavesOf(value: unknown, name: string): (readonly [string, string])[] {
  if (value === null || value === undefined) return [];
  if (typeof value !== 'object') return [[name, String(value)]];
  const inner = Object.entries(value);
  return inner.flatMap(([key, one]) =>
    leavesOf(one, Array.isArray(value) || name === '' ? name || key : `${name}.${key}`),
  );
}

/** "a.b[*].c" → a, b, *, c */
const stepsOf = (path: string): string[] => path.split(/[.[\]]/).filter((step) => step !== '' && step !== '$');

function at(value: unknown, [step, ...rest]: readonly string[]): unknown[] {
  if (step === undefined) return [value];
  if (typeof value !== 'object' || value === null) return [];
  if (step === '*') return Object.values(value).flatMap((one) => at(one, rest));
  const found = Array.isArray(value) ? value.at(Number(step)) : (value as Value)[step];
  return found === undefined ? [] : at(found, rest);
}

/** Never through the middle of a character. */
const cut = (text: string): string => text.slice(0, TEXT_MAX).replace(/[\uD800-\uDBFF]$/, '');
