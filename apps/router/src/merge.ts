/** What cells answer put together, so that it reads as if one had answered. */

/** Not the sum, but the largest: how long something took or is waited for, and parts of a whole. */
const LARGEST = /(?:_ms|_at|share|ratio|rate|confidence|p\d+|most|max|rung|per_(?:day|call|batch))$/;
/** The oldest. */
const SMALLEST = /^(?:oldest|first|since|from)/;

/** Numbers are added, lists put one after the other, objects field by field; of what cannot be added, the first that says something. */
export function summed(values: readonly unknown[], name = ''): unknown {
  const said = values.filter((value) => value !== null && value !== undefined);
  const [first] = said;
  if (first === undefined) return null;
  if (typeof first === 'number') return ofNumbers(said as number[], name);
  if (typeof first === 'boolean') return said.some(Boolean);
  if (Array.isArray(first)) return said.flat();
  if (typeof first === 'object') {
    const names = new Set(said.flatMap((value) => Object.keys(value as object)));
    const fieldOf = (field: string) => said.map((value) => (value as Record<string, unknown>)[field]);
    return Object.fromEntries([...names].map((field) => [field, summed(fieldOf(field), field)]));
  }
  if (typeof first === 'string' && SMALLEST.test(name)) return [...(said as string[])].sort()[0];
  return first;
}

function ofNumbers(numbers: readonly number[], name: string): number {
  if (SMALLEST.test(name)) return Math.min(...numbers);
  if (LARGEST.test(name)) return Math.max(...numbers);
  return numbers.reduce((sum, number) => sum + number, 0);
}

type Fields = Readonly<Record<string, unknown>>;

/** Rows of the same day, model and so on become one. */
export function grouped(values: readonly unknown[]): unknown {
  const lists = values as readonly (Fields & { readonly results: readonly Fields[] })[];
  const rows = lists.flatMap(({ results }) => results);
  const groups = Map.groupBy(rows, (row) =>
    JSON.stringify(Object.entries(row).filter(([, value]) => typeof value === 'string' || value === null)),
  );
  return { ...lists[0], results: [...groups.values()].map((same) => summed(same)) };
}
