import {
  type Access,
  append,
  laneStore,
  madeOnce,
  memoryStore,
  noSteps,
  postedFrom,
  type Row,
  type RowsStep,
  runScript,
  type Script,
  type Sql,
  type Step,
} from '@slowwave/adapters/sqlite/inside';
import type { LaneId, Nudge, Tools, Turn } from '@slowwave/engine';
import { added, bitsOf, fixedTools, home, newBatch, newMessage, scope, user } from '@slowwave/engine-testing';

/** One statement as SQLite is given it. */
export interface Operation {
  readonly kind: 'get' | 'all' | 'run';
  readonly text: string;
  readonly params: never;
  /** Whether it is a step of a script, or asked for by itself. */
  readonly scripted: boolean;
}

/** What one call of the writer asks: the scripts it runs and what it asks by itself, in order; and the statements alone. */
export interface Recorded {
  readonly phase: Phase;
  readonly parts: readonly Part[];
  readonly operations: readonly Operation[];
}

/** One of the three. All have the same fields, so that telling them apart costs nearly nothing: the writer knows what it asks. */
interface Part {
  readonly asked: Operation | null;
  readonly inserted: RowsStep | null;
  readonly steps: readonly Step[];
}

export const PHASES = ['append', 'claim', 'apply'] as const;
export type Phase = (typeof PHASES)[number];

/** Batches of each user, which one consolidation takes. */
const BATCHES = 4;
/** Memories that a consolidation makes. */
const MEMORIES = 3;
const POLICY = { tokens: 1_024, idleMs: 1, maxAgeMs: 10 };
const WINDOW = { maxTokens: 8_000, maxBatches: 50 };
const LATER_MS = 10_000;

/** Posts, claims and applies for so many users, on an empty ledger; answers with all that was asked of it, in order. */
export async function recorded(sql: Sql, users: number): Promise<readonly Recorded[]> {
  const calls: Recorded[] = [];
  const tools = fixedTools();
  const record = recorder(sql, calls);
  const nudges = posted(record, tools, users);
  tools.advance(LATER_MS);
  const turns: Turn[] = [];
  for (const [n, nudge] of nudges.entries()) {
    const bits = bitsOf(tools, user(userId(n)));
    const how = { now: tools.now(), window: WINDOW, newConsolidationId: tools.id('con', bits) };
    const claim = await laneStore(record.access('claim')).claim(nudge, how);
    if (claim.kind !== 'claimed') throw new Error(`expected a turn of ${nudge.lane}, got ${claim.kind}`);
    turns.push(claim.turn);
  }
  for (const turn of turns) {
    const by = { actor: 'consolidation', consolidationId: turn.consolidationId } as const;
    const changes = Array.from({ length: MEMORIES }, (_, i) =>
      added(tools, home(turn.lane, { scope: turn.scope }), { ...by, text: `Likes tea number ${i}` }),
    );
    const applied = await memoryStore(record.access('apply'), () => turn.lane).apply(turn, {
      ...{
        plan: null,
        changes,
        tombstones: [],
        reviews: [],
        attacks: [],
        wishes: [],
        graph: false,
        measured: null,
        now: tools.now(),
        policy: POLICY,
      },
      batches: new Map(turn.batchIds.map((id) => [id, 'consolidated'])),
    });
    if (applied.kind !== 'applied') throw new Error(`expected ${turn.consolidationId} to be applied`);
  }
  return calls;
}

const userId = (n: number): string => `user-${n}`;

/** Batches of each user, of which the last is due at once; answers with the last turn that each is due for. */
function posted({ append: store }: Recorder, tools: Tools, users: number): readonly Nudge[] {
  const nudges = new Map<number, Nudge>();
  for (let i = 0; i < BATCHES * users; i += 1) {
    const n = i % users;
    const bits = bitsOf(tools, user(userId(n)));
    const messages = [newMessage(tools, {}, bits), newMessage(tools, { role: 'assistant' }, bits)];
    const given = { scope: scope({ userId: userId(n) }), messages, flush: i >= (BATCHES - 1) * users };
    const batch = newBatch(tools, given);
    const appended = store({ posted: postedFrom(batch), policy: POLICY, newLaneId: tools.id('lane', bits) as LaneId });
    if (appended.kind === 'stored' && appended.nudge !== null) nudges.set(n, appended.nudge);
  }
  return [...nudges.values()];
}

interface Recorder {
  append(given: Parameters<typeof append>[1]): ReturnType<typeof append>;
  access(phase: Phase): Access;
}

function recorder(sql: Sql, calls: Recorded[]): Recorder {
  const called = <T>(phase: Phase, run: (heard: Sql, steps: Step[]) => T): T => {
    const [steps, operations]: [Step[], Operation[]] = [[], []];
    const result = run(hearing(sql, operations), steps);
    const ofScript = { asked: null, inserted: null, steps };
    const parts = steps.length > 0 ? [ofScript] : operations.map(partOf);
    calls.push({ phase, parts, operations });
    return result;
  };
  const through = async <Input, Result>(phase: Phase, script: (input: Input) => Script<Result>, input: Input) =>
    called(phase, (heard, steps) => runScript(heard, noting(script(input), steps)));
  return {
    append: (given) => called('append', (heard) => append(heard, given)),
    access: (phase) => ({
      read: ({ script }, input) => through(phase, script, input),
      write: ({ script }, input) => through(phase, script, input),
    }),
  };
}

/** The same script, of which each step is noted. */
function* noting<T>(script: Script<T>, steps: Step[]): Script<T> {
  let step = script.next();
  while (step.done !== true) {
    steps.push(step.value);
    step = script.next(yield step.value);
  }
  return step.value;
}

/** The same connection, of which each statement is noted. */
function hearing(sql: Sql, operations: Operation[]): Sql {
  const note = (one: Omit<Operation, 'params'>, params: unknown): void => {
    // Rows are given in one list, again and again.
    operations.push({ ...one, params: (Array.isArray(params) ? [...params] : params) as never });
  };
  return {
    ...sql,
    steps: noSteps(),
    get: (text, params = {}) => {
      note({ kind: 'get', text, scripted: false }, params);
      return sql.get(text, params);
    },
    run: (text, params = {}) => {
      note({ kind: 'run', text, scripted: false }, params);
      return sql.run(text, params);
    },
    kept: (text) => {
      const statement = sql.kept(text);
      const heard = {
        all: (params: never) => {
          note({ kind: 'all', text, scripted: true }, params);
          return statement.all(params);
        },
        run: (params: never) => {
          note({ kind: 'run', text, scripted: true }, params);
          return statement.run(params);
        },
      };
      return heard as unknown as typeof statement;
    },
  };
}

/** An append is no script: it inserts rows and asks by itself, and runs scripts of one step for the rest. */
function partOf(operation: Operation): Part {
  if (!operation.scripted) return { asked: operation, inserted: null, steps: [] };
  const step = asStep(operation);
  return step.kind === 'insert'
    ? { asked: null, inserted: step, steps: [] }
    : { asked: null, inserted: null, steps: [step] };
}

const INSERT = /^INSERT INTO (\w+) \(([^)]*)\) VALUES \([^)]*\) ?(.*)$/s;
const UPDATE = /^UPDATE (\w+) SET (.*) WHERE (\w+) = \?$/s;

/** A step that SQLite was given so. */
function asStep({ kind, text, params }: Operation): Step {
  const values = params as readonly Value[];
  const [, inserted, columns = '', onConflict = ''] = INSERT.exec(text) ?? [];
  if (inserted !== undefined) {
    return { kind: 'insert', table: inserted, rows: [rowOf(columns.split(', '), values)], key: '', onConflict };
  }
  const [, updated, changes = '', key = ''] = UPDATE.exec(text) ?? [];
  if (updated !== undefined) {
    const changing = changes.split(' = ?').map((name) => name.replace(', ', ''));
    const rows = [rowOf([...changing.slice(0, -1), key], values)];
    return { kind: 'update', table: updated, rows, key, onConflict: '' };
  }
  return {
    kind: kind === 'run' ? 'run' : 'all',
    text: named.of(text),
    given: Object.fromEntries(values.map((value, i) => [`v${i}`, value])),
  };
}

/** One text for each statement, as scripts have: looking up a copy would compare it letter by letter. */
const named = madeOnce((text) => {
  let place = 0;
  return text.replace(/\?/g, () => `@v${place++}`);
});

const rowOf = (names: readonly string[], values: readonly Value[]): Row =>
  Object.fromEntries(names.map((name, i) => [name, values[i] ?? null]));

type Value = string | number | null;
