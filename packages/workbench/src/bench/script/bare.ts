import { markedOf, type RowsStep, type Sql, type Step } from '@slowwave/adapters/sqlite/inside';
import type { Operation, Recorded } from './record.ts';

/**
 * A statement as code written for it alone would run it: kept in a variable, and given the values of the row or the list that a
 * script's step has, each read by its name. Values that lie ready in arrays would be somebody else's work, left out.
 */
export interface Bare {
  readonly kind: Operation['kind'];
  readonly statement: ReturnType<Sql['kept']>;
  readonly given: object;
  readonly read: Reader;
}

type Reader = (given: object) => never;

/** What a call asks, statement by statement. Refuses to measure anything else than what the call was seen to ask. */
export function bareOf(sql: Sql, { parts, operations }: Recorded): readonly Bare[] {
  const sources = parts.flatMap(({ asked, inserted, steps }) => [
    ...(asked === null ? [] : [{ given: asked.params, read: asGiven }]),
    ...(inserted === null ? steps : [inserted]).flatMap(sourcesOf),
  ]);
  if (sources.length !== operations.length) {
    throw new Error(`expected ${operations.length} statements, found values for ${sources.length}`);
  }
  return operations.map(({ kind, text, params }, i) => {
    const { given, read } = sources[i] ?? { given: params, read: asGiven };
    if (JSON.stringify(read(given)) !== JSON.stringify(params)) throw new Error(`expected other values for ${text}`);
    return { kind, statement: sql.kept(text), given, read };
  });
}

export function runBare(bares: readonly Bare[]): void {
  for (const { kind, statement, given, read } of bares) statement[kind](read(given));
}

interface Source {
  readonly given: object;
  readonly read: Reader;
}

const asGiven: Reader = (given) => given as never;

function sourcesOf(step: Step): readonly Source[] {
  switch (step.kind) {
    case 'all':
    case 'once':
    case 'run': {
      const { given, text } = step;
      const isList = (name: string): boolean => Array.isArray(given[name]);
      return [{ given, read: readerOf(markedOf(text).names, isList) }];
    }
    case 'insert':
    case 'update':
      return step.rows.map((row) => ({ given: row, read: readerOf(namesOf(step, Object.keys(row)), () => false) }));
    case 'together':
    case 'unawaited':
      return step.steps.flatMap(sourcesOf);
    case 'last':
      return sourcesOf(step.step);
    case 'inOne':
      return [
        ...(step.held === null ? [] : sourcesOf({ kind: 'all', ...step.held })),
        ...step.steps.flatMap(sourcesOf),
      ];
  }
}

const namesOf = ({ kind }: RowsStep, columns: readonly string[]): readonly string[] =>
  kind === 'insert' ? columns : [...columns.filter((column) => column !== 'id'), 'id'];

const readers = new Map<string, Reader>();

/** `[row.id, row.lane, JSON.stringify(row.ids)]`, compiled: what one would write by hand. Once for the same names. */
function readerOf(names: readonly string[], isList: (name: string) => boolean): Reader {
  const values = names.map((name) => (isList(name) ? `JSON.stringify(given.${name})` : `given.${name}`));
  const body = `return [${values.join(', ')}];`;
  const known = readers.get(body);
  if (known !== undefined) return known;
  const made = new Function('given', body) as Reader;
  readers.set(body, made);
  return made;
}
