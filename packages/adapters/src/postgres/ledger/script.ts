import { typesOf } from '../../ledger/schema.ts';
import {
  type Given,
  type Held,
  madeOfColumns,
  madeOnce,
  type RowsStep,
  type Script,
  type Step,
  toPostgres,
  type WriteStep,
} from '../../ledger/script.ts';
import type { Answer, Ask } from './asking.ts';
import { askOf, askOnce, nameInPart, type Params, type Sql } from './sql.ts';

/** Runs a script to its end: what it asks for at once is sent in one piece. */
export async function runScript<T>(sql: Sql, script: Script<T>): Promise<T> {
  let step = script.next();
  while (step.done !== true) step = script.next(await answerTo(sql, step.value));
  return step.value;
}

async function answerTo(sql: Sql, step: Step): Promise<unknown> {
  const asks = asksOf(step);
  if (step.kind === 'unawaited') return sql.askLater(asks);
  const answers = isLast(step) ? await sql.askLast(asks) : await sql.ask(asks);
  return answerOf(step, answers.values());
}

/** Scripts that run side by side are at their end when all of them are. */
const isLast = (step: Step): boolean => step.kind === 'last' || (step.kind === 'together' && step.steps.every(isLast));

function asksOf(step: Step): readonly Ask[] {
  switch (step.kind) {
    case 'all':
      return [askOf(statements.of(step.text), bound(step.given))];
    case 'once':
      return [askOnce(toPostgres(step.text), bound(step.given))];
    case 'run':
    case 'insert':
    case 'update': {
      const { text, params } = writeOf(step);
      return [askOf(unconditional.of(text), params)];
    }
    case 'together':
    case 'unawaited':
      return step.steps.flatMap(asksOf);
    case 'last':
      return asksOf(step.step);
    case 'inOne':
      return [askInOne(step)];
  }
}

/** Takes as many of the answers as the step has asked for. */
function answerOf(step: Step, answers: Iterator<Answer>): unknown {
  if (step.kind === 'last') return answerOf(step.step, answers);
  if (step.kind === 'together') return step.steps.map((one) => answerOf(one, answers));
  if (step.kind === 'unawaited') {
    for (const one of step.steps) answerOf(one, answers);
    return;
  }
  const { value, done } = answers.next();
  if (done === true) throw new Error('a statement was left without an answer');
  switch (step.kind) {
    case 'all':
    case 'once':
      return value.rows;
    case 'run':
    case 'insert':
    case 'update':
      return value.count;
    case 'inOne':
      return (value.rows as readonly { readonly held: number }[]).some(({ held }) => held > 0);
  }
}

interface Write {
  readonly text: string;
  readonly params: Params;
}

function writeOf(step: WriteStep): Write {
  switch (step.kind) {
    case 'run':
      return { text: statements.of(step.text), params: bound(step.given) };
    case 'insert':
    case 'update':
      return { text: ofRows(step), params: byColumn(step) };
  }
}

/** One statement whose parts all see the same moment. */
function askInOne({ steps, held }: { steps: readonly WriteStep[]; held: Held | null }): Ask {
  const parts = steps.map(writeOf);
  const text = joinedOnce(held === null ? null : statements.of(held.text), parts);
  return askOf(
    text,
    held === null ? {} : bound(held.given),
    parts.map(({ params }) => params),
  );
}

/** Texts that were joined before, by the numbers of their parts: putting them together takes longer than to send them. */
const joined = new Map<string, string>();
const numbers = madeOnce((_: string) => numbered++);
let numbered = 0;

function joinedOnce(head: string | null, parts: readonly Write[]): string {
  const key = [head ?? '', ...parts.map(({ text }) => text)].map(numbers.of).join();
  const text = joined.get(key) ?? joinedText(head, parts);
  joined.set(key, text);
  return text;
}

function joinedText(head: string | null, parts: readonly Write[]): string {
  const condition = head === null ? 'true' : IS_HELD;
  const texts = parts.map(({ text }, i) => `w${i} AS (${renamed(text, i).replaceAll(HELD, condition)})`);
  return head === null
    ? `WITH ${texts.join(', ')} SELECT 1 AS held`
    : `WITH ${[`held AS (${head})`, ...texts].join(', ')} SELECT count(*) AS held FROM held`;
}

const HELD = ':held';
const IS_HELD = 'EXISTS (SELECT 1 FROM held)';

const renamed = (text: string, part: number): string =>
  text.replace(/@([a-z]\w*)/gi, (_, name: string) => `@${nameInPart(part, name)}`);

/** Tables travel as lists of JSON: the planner takes a list for short, and looks its rows up by their keys. */
function bound(given: Given): Params {
  const { rows } = given;
  return (Array.isArray(rows) ? { ...given, rows: rows.map((row) => JSON.stringify(row)) } : given) as Params;
}

/** An array of values for each column: one statement for all rows. */
const byColumn = ({ rows }: RowsStep): Params =>
  Object.fromEntries(Object.keys(rows[0] ?? {}).map((column) => [column, rows.map((row) => row[column])])) as Params;

function rowsStatement({ kind, table, key, onConflict }: RowsStep, columns: readonly string[]): string {
  const types = typesOf(table);
  const arrays = columns.map((column) => `@${column}::${types.get(column)}[]`).join(', ');
  const names = columns.join(', ');
  if (kind === 'insert') {
    return `INSERT INTO ${table} (${names}) SELECT * FROM unnest(${arrays}) AS n WHERE :held ${onConflict}`;
  }
  const changing = columns.filter((column) => column !== key).map((column) => `${column} = n.${column}`);
  return `UPDATE ${table} SET ${changing.join(', ')} FROM unnest(${arrays}) AS n (${names}) WHERE ${table}.${key} = n.${key} AND :held`;
}

const statements = madeOnce(toPostgres);
const unconditional = madeOnce((text: string) => text.replaceAll(HELD, 'true'));
const ofRows = madeOfColumns(rowsStatement);
