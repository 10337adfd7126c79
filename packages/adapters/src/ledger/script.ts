/**
 * What a ledger does, written once for SQLite and PostgreSQL: a script yields statements one after the other and is given
 * their rows. SQLite runs it inside one call of a thread, PostgreSQL waits for each answer. A statement is written as
 * PostgreSQL reads it; for SQLite the casts (`::type`), `COLLATE "C"` and the locks of rows are left out. Both take
 *   @name            a value; a flag is 0 or 1
 *   IN :name         one of a list of texts; of numbers it says so: IN :name::bigint
 *   :rows            a table of the rows given as `rows`: value ->> 'column'. Not for what users wrote: SQLite ends a text
 *                    that comes out of JSON at a character of zero
 *   IN FEW (SELECT …;)   one of the few that a select finds: PostgreSQL looks each of them up, where its planner would read the
 *                    whole of a young table, and go on so while it grows
 *   INDEXED BY name  the index SQLite has to take; PostgreSQL's planner finds it
 *   +column = x      a condition that rows must not be looked up by; <> and IN, too. SQLite takes the first that it can, and PostgreSQL
 *                    takes a lane or a tenant of a young table for a row or two
 *   :place           where a row lies until somebody changes it: CAST(:place AS text), and then :place IN :places::tid
 *   pg_column_size(x)   how many bytes x takes in its row, known without reading them
 *   position(x IN y)  whether the bytes x stand in the column y: above 0
 *   decode(x, 'hex')  the bytes that x spells
 *   jsonb_agg(x), jsonb_build_array(x, …)   a list of JSON; what is JSON itself is written json(x) in it
 *   jsonb_array_elements_text(x) AS a   a table of the texts in a list of JSON: a.value; jsonb_array_elements(x) of anything
 *   LOCK TABLE name IN SHARE MODE   whoever has written to the table has committed, and nobody writes to it meanwhile; SQLite has one writer
 *   :number(table)   the next number of the table for each of the rows r, which come from :rows
 *   :slot            which of a counter's rows this connection adds to; SQLite has one writer, and needs one
 *   :held            the condition of `ifHeld`; true elsewhere
 */
export type Script<T> = Generator<Step, T, unknown>;

export type Value = string | number | null | Uint8Array;
export type Given = Readonly<Record<string, Value | readonly string[] | readonly number[] | readonly object[]>>;

export type Step =
  /** all: its rows; once: the same of a statement that is as a caller's filter is, and not kept. */
  | { readonly kind: 'all' | 'once'; readonly text: string; readonly given: Given }
  | WriteStep
  | { readonly kind: 'together'; readonly steps: readonly Step[] }
  /** Answers as its step does. */
  | { readonly kind: 'last'; readonly step: Step }
  /** Answers nothing. */
  | { readonly kind: 'unawaited'; readonly steps: readonly Step[] }
  /** Answers whether the row of `held` was found. */
  | { readonly kind: 'inOne'; readonly steps: readonly WriteStep[]; readonly held: Held | null };

export interface RowsStep {
  readonly kind: 'insert' | 'update';
  readonly table: string;
  readonly rows: readonly Row[];
  /** By which column an update finds its rows. */
  readonly key: string;
  /** What follows the rows of an insert. */
  readonly onConflict: string;
}

/** Answers how many rows changed. */
export type WriteStep = RowsStep | { readonly kind: 'run'; readonly text: string; readonly given: Given };

/** A select of one row, and its lock. */
export interface Held {
  readonly text: string;
  readonly given: Given;
}

export function* all<Found>(text: string, given: Given = {}): Script<readonly Found[]> {
  return (yield { kind: 'all', text, given }) as readonly Found[];
}

/** The same of a statement that is as a caller's filter is: it is not kept. */
export function* once<Found>(text: string, given: Given = {}): Script<readonly Found[]> {
  return (yield { kind: 'once', text, given }) as readonly Found[];
}

export function* first<Found>(text: string, given: Given = {}): Script<Found | null> {
  return ((yield { kind: 'all', text, given }) as readonly Found[])[0] ?? null;
}

/** All rows as what is made of each. */
export function* allAs<Found, Made>(make: (row: Found) => Made, text: string, given: Given = {}): Script<Made[]> {
  return (yield* all<Found>(text, given)).map(make);
}

/** The first row as what is made of it; null: there is none. */
export function* firstAs<Found, Made>(
  make: (row: Found) => Made,
  text: string,
  given: Given = {},
): Script<Made | null> {
  const row = yield* first<Found>(text, given);
  return row === null ? null : make(row);
}

/** What a statement counts `AS count`. */
export function* counted(text: string, given: Given = {}): Script<number> {
  return (yield* first<{ count: number }>(text, given))?.count ?? 0;
}

export const idsOf = <Id extends string = string>(text: string, given: Given = {}): Script<Id[]> =>
  allAs(({ id }: { id: Id }) => id, text, given);

export function* run(text: string, given: Given = {}): Script<number> {
  return (yield { kind: 'run', text, given }) as number;
}

type Results<Scripts extends readonly Script<unknown>[]> = {
  -readonly [Place in keyof Scripts]: Scripts[Place] extends Script<infer Result> ? Result : never;
};

/** Runs scripts side by side that need no answers of each other: what they ask next goes to the server in one go, in this order. */
export function* together<const Scripts extends readonly Script<unknown>[]>(
  ...scripts: Scripts
): Script<Results<Scripts>> {
  const runs = scripts.map((script) => ({ script, step: script.next() }));
  for (;;) {
    const asking = runs.flatMap((run) => (run.step.done === true ? [] : [{ run, step: run.step.value }]));
    if (asking.length === 0) return runs.map(({ step }) => step.value) as Results<Scripts>;
    const answers = (yield { kind: 'together', steps: asking.map(({ step }) => step) }) as readonly unknown[];
    for (const [i, { run }] of asking.entries()) run.step = run.script.next(answers[i]);
  }
}

/**
 * What a transaction asks for at its end: PostgreSQL gets the COMMIT along with it, so that nobody waits for one more round trip. What
 * a script asks for even later sees what was committed, and stands outside the transaction.
 */
export function* lastly<T>(script: Script<T>): Script<T> {
  let step = script.next();
  while (step.done !== true) step = script.next(yield { kind: 'last', step: step.value });
  return step.value;
}

/** Writes of one statement each whose answers nobody needs: PostgreSQL gets them along with what is asked next, or with the COMMIT. */
export function* unawaited(...writes: readonly Script<unknown>[]): Script<void> {
  const steps = stepsOf<Step>(writes);
  if (steps.length > 0) yield { kind: 'unawaited', steps };
}

/**
 * Writes of which none needs or touches what another one writes: one statement on PostgreSQL. All of them see what was there
 * before; on SQLite, where they run in their order, the first must change nothing that a later one looks at.
 */
export function* inOne(...writes: readonly Script<unknown>[]): Script<void> {
  const steps = stepsOf(writes);
  if (steps.length > 0) yield { kind: 'inOne', steps, held: null };
}

/**
 * The same if a row is found, which stays locked meanwhile, and whether it was: each write has the condition `:held`. A
 * transaction of its own needs nothing else: it is one statement.
 */
export function* ifHeld(held: Held, ...writes: readonly Script<unknown>[]): Script<boolean> {
  return (yield { kind: 'inOne', steps: stepsOf(writes), held }) as boolean;
}

/** The one statement of each, if it has any. */
function stepsOf<One extends Step = WriteStep>(writes: readonly Script<unknown>[]): readonly One[] {
  return writes.flatMap((write) => {
    const { done, value } = write.next();
    return done === true ? [] : [value as One];
  });
}

export type Row = Readonly<Record<string, Value>>;
type Columns<One> = { readonly [Name in keyof One]: Value };

/** Inserts rows, all of the same columns, in their order, whatever is in them. Returns how many were inserted. */
export function* insert<One extends Columns<One>>(
  table: string,
  rows: readonly One[],
  onConflict = '',
): Script<number> {
  return rows.length === 0
    ? 0
    : ((yield { kind: 'insert', table, rows: rows as readonly Row[], key: '', onConflict }) as number);
}

/** Writes the other columns of the rows with these ids, or values of another key. Returns how many there were. */
export function* update<One extends Columns<One>>(
  table: string,
  rows: readonly One[],
  key: keyof One & string = 'id' as keyof One & string,
): Script<number> {
  if (rows.length === 0) return 0;
  return (yield { kind: 'update', table, rows: rows as readonly Row[], key, onConflict: '' }) as number;
}

const CASTS = /::\w+(\[\])?/g;
const LOCKS = / FOR (?:NO KEY UPDATE|UPDATE|KEY SHARE|SHARE)(?: OF \w+)?(?: SKIP LOCKED)?/g;

/** One within another: the inner ones first. */
function withFew(text: string, written: string): string {
  const next = text.replace(INNERMOST_FEW, written);
  return next === text ? text : withFew(next, written);
}

const INNERMOST_FEW = /IN FEW \(((?:(?!IN FEW \()[^;])+);\)/g;

/** A statement as SQLite reads it. */
export const toSqlite = (text: string): string =>
  withFew(text, 'IN ($1)')
    .replace(/IN :(\w+)(?:::\w+)?/g, 'IN (SELECT value FROM json_each(@$1))')
    .replace(/:rows\b/g, 'json_each(@rows)')
    .replace(/:number\((\w+)\)/g, '(SELECT coalesce(max(number), 0) FROM $1) + r.key + 1')
    .replace(/:place\b/g, 'rowid')
    .replace(/:slot\b/g, '0')
    .replace(/:held\b/g, 'true')
    .replace(CASTS, '')
    .replace(LOCKS, '')
    .replace(/^LOCK TABLE .*/, 'SELECT 1 WHERE false')
    .replaceAll(' COLLATE "C"', '')
    .replaceAll('pg_column_size(', 'octet_length(')
    .replace(/\bjsonb_array_elements(?:_text)?\(/g, 'json_each(')
    .replace(/\bposition\((.+?) IN ([\w.]+)\)/g, 'instr($2, $1)')
    .replace(/\bdecode\(([^()]+), 'hex'\)/g, 'unhex($1)')
    .replaceAll('jsonb_agg(', 'json_group_array(')
    .replaceAll('jsonb_build_array(', 'json_array(')
    .replace(/\b(greatest|least)\(/gi, (_, name: string) => (name.toLowerCase() === 'greatest' ? 'max(' : 'min('));

/** A statement as PostgreSQL reads it. */
export const toPostgres = (text: string): string =>
  withFew(text, '= ANY(ARRAY($1))')
    .replace(/IN :(\w+)(?:::(\w+))?/g, (_, name: string, type = 'text') => `= ANY(@${name}::${type}[])`)
    .replace(/:rows\b/g, '(SELECT value FROM unnest(@rows::jsonb[]) AS e (value))')
    .replace(/:number\((\w+)\)/g, "nextval('$1_number_seq')")
    .replace(/:place\b/g, 'ctid')
    .replace(/\bjson\(/g, '(')
    .replace(/:slot\b/g, 'pg_backend_pid() % 16')
    .replace(/ INDEXED BY \w+/g, '')
    .replace(UNINDEXED, '$1coalesce($2, false)');

/** What a comparison finds is never few in the planner's eyes, once it is an argument: half of the rows. */
const UNINDEXED = /([\s(])\+([a-z][\w.]* (?:=|<>|IN) (?:@\w+|'[^']*'|ANY\([^()]*\)|\([^()]*\)))/gi;

/** What is made of a statement, each once. */
export function madeOnce<Made>(make: (text: string) => Made): { of(text: string): Made } {
  const known = new Map<string, Made>();
  return {
    of: (text) => {
      const made = known.get(text) ?? make(text);
      known.set(text, made);
      return made;
    },
  };
}

/** What is made of the columns of rows, once for each statement that has the same. */
export function madeOfColumns<Made>(
  make: (step: RowsStep, columns: readonly string[]) => Made,
): (step: RowsStep) => Made {
  const known = new Map<string, { readonly columns: readonly string[]; readonly made: Made }>();
  return (step) => {
    const columns = Object.keys(step.rows[0] ?? {});
    const key = `${step.kind} ${step.table} ${step.key} ${step.onConflict}`;
    const before = known.get(key);
    if (before?.columns.length === columns.length && before.columns.every((name, i) => name === columns[i])) {
      return before.made;
    }
    const made = make(step, columns);
    known.set(key, { columns, made });
    return made;
  };
}

/**
 * How the stores reach the ledger, whichever it is. A script goes by its name to the thread that runs it, so what it is
 * given and what it answers are values that can be cloned.
 */
export interface Access {
  /** Runs a script that changes nothing. */
  read<Input, Result>(script: Read<Input, Result>, input: Input): Promise<Result>;
  /** Runs a script as one transaction. On the disk when it resolves. */
  write<Input, Result>(script: Write<Input, Result>, input: Input): Promise<Result>;
}

interface Named<Input, Result> {
  readonly name: string;
  readonly script: (input: Input) => Script<Result>;
}

interface Read<Input, Result> extends Named<Input, Result> {
  readonly kind: 'read';
  /** Whether all its statements have to see the same moment. */
  readonly atOnce: boolean;
  readonly reach: Reach;
}

/**
 * How much a script reads. lookup: a row or two by their keys, which takes less time than to ask another thread. few: few rows by an
 * index, so that nobody is held up who waits for it as well; PostgreSQL reads both beside others in one transaction. audit: whole tables, which takes seconds in a large ledger: nobody else may have to wait for it.
 */
type Reach = 'lookup' | 'few' | 'rows' | 'audit';

interface Write<Input, Result> extends Named<Input, Result> {
  readonly kind: 'write';
  /** Whether it is one statement, which needs no more of a transaction than that. */
  readonly isStatement: boolean;
}

/** Every script by its name. A thread knows those of the modules it has loaded. */
const scripts = new Map<string, Named<never, unknown>>();

function registered<One extends Named<never, unknown>>(one: One): One {
  if (scripts.has(one.name)) throw new Error(`two scripts of the ledger are named ${one.name}`);
  scripts.set(one.name, one);
  return one;
}

/** A method of a store: a script of its parameters, and how it is run. */
type Method<Given extends readonly unknown[], Result> = (
  | Pick<Read<Given, Result>, 'kind' | 'atOnce' | 'reach'>
  | Pick<Write<Given, Result>, 'kind' | 'isStatement'>
) & { readonly script: (...given: Given) => Script<Result> };

type Methods<Store> = {
  readonly [Name in keyof Store]: Store[Name] extends (...given: infer Given) => Promise<infer Result>
    ? Method<Given, Result>
    : never;
};

type MethodOf = <Given extends readonly unknown[], Result>(
  script: (...given: Given) => Script<Result>,
) => Method<Given, Result>;

/** Finds a row or two by their keys, and is asked often. */
export const lookup: MethodOf = (script) => ({ kind: 'read', atOnce: false, reach: 'lookup', script });
/** Finds few rows by an index, and is asked by many at once. */
export const few: MethodOf = (script) => ({ kind: 'read', atOnce: false, reach: 'few', script });
/** The same, of one moment. */
export const fewAtOnce: MethodOf = (script) => ({ kind: 'read', atOnce: true, reach: 'few', script });
/** One statement, or several that need not see the same moment. */
export const read: MethodOf = (script) => ({ kind: 'read', atOnce: false, reach: 'rows', script });
/** All its statements see the same moment. */
export const snapshot: MethodOf = (script) => ({ kind: 'read', atOnce: true, reach: 'rows', script });
/** Looks through whole tables, as they are at one moment. */
export const audit: MethodOf = (script) => ({ kind: 'read', atOnce: true, reach: 'audit', script });
export const write: MethodOf = (script) => ({ kind: 'write', isStatement: false, script });
/** Changes something with one statement. */
export const statement: MethodOf = (script) => ({ kind: 'write', isStatement: true, script });

/** A store of these methods. Its scripts are known to every thread by the names of the store and the method. */
export function storeOf<Store>(name: string, methods: Methods<Store>): (access: Access) => Store {
  const known = Object.entries<Method<never, unknown>>(methods).map(([method, { script, ...how }]) => {
    const named = { ...how, name: `${name}.${method}`, script: (given: never) => script(...(given as never)) };
    return [method, registered(named)] as const;
  });
  return (access) =>
    Object.fromEntries(
      known.map(([method, one]) => [
        method,
        (...given: never) => (one.kind === 'read' ? access.read(one, given) : access.write(one, given)),
      ]),
    ) as Store;
}

export const scriptNamed = (name: string): ((input: never) => Script<unknown>) | undefined => scripts.get(name)?.script;
