import type { LaneId, Owner, Scope, TenantId } from '@slowwave/engine';
import { noteSources, REPLACE_VERSION } from '../changes.ts';
import { foldEnded, openEmbedder } from '../kept-thoughts.ts';
import { LANE_NUMBER, numbersIn } from '../page.ts';
import { NAMED_MESSAGES, naming } from '../rows/batch.ts';
import { scopeFrom, storedScopeKey } from '../rows/columns.ts';
import type { EventRow } from '../rows/memory.ts';
import { keptVersion, type VersionRow } from '../rows/version.ts';
import { columnsOf } from '../schema.ts';
import { all, firstAs, idsOf, insert, type Row, run, type Script, type Value } from '../script.ts';
import { count } from '../usage.ts';
import { type Carried, carriedBy, carriedOf, type Kind, LANE_COLUMNS, LIFE_COLUMNS, MOVING_KINDS } from './kinds.ts';
import { scopesOf } from './read.ts';

/** The import that lines are of. */
export interface Import {
  readonly id: string;
  readonly tenant: TenantId;
  readonly lane: LaneId;
  readonly owner: Owner;
}

interface RefusedLine {
  readonly line: number;
  readonly problem: string;
}

/** A line, read. */
interface Read {
  readonly line: number;
  readonly kind: Kind;
  readonly fields: Fields;
  readonly row: Row;
}

type Fields = Readonly<Record<string, unknown>>;

/** Stores what whole lines say. Everything is looked at first: where one cannot be stored, none is. */
export function* storeLines(of: Import, from: number, texts: readonly string[]): Script<RefusedLine | null> {
  const reads: Read[] = [];
  let life: Fields | null = null;
  for (const [i, text] of texts.entries()) {
    const line = from + i + 1;
    const fields: Fields = JSON.parse(text);
    const read = readLine(of, line, fields);
    if (typeof read === 'string') return { line, problem: read };
    if (read === OWNER) life = fields;
    else if (read !== END) reads.push(read);
  }
  const groups = [...Map.groupBy(reads, ({ kind }) => kind)];
  for (const [kind, group] of groups) {
    const refused = (yield* knownElsewhere(kind, group)) ?? (yield* withoutParent(of, { kind, group, reads }));
    if (refused !== null) return refused;
  }
  if (life !== null) yield* storeLife(of, life);
  for (const [kind, group] of groups) yield* storeRows(of, kind, group);
  yield* foldEnded(consolidationsIn(reads));
  return null;
}

/** Whose thoughts came as lines of their own. */
const consolidationsIn = (reads: readonly Read[]): readonly string[] => {
  const thought = new Set(['answers', 'plans', 'usage']);
  return [
    ...new Set(reads.flatMap(({ kind, row }) => (thought.has(kind.table) ? [String(row.consolidation_id)] : []))),
  ];
};

const OWNER = Symbol('the line of the owner');
const END = Symbol('the last line');
const BY_TYPE = new Map(MOVING_KINDS.map((kind) => [kind.type, kind]));

/** What a line says; a text: why it cannot be taken over. */
function readLine(of: Import, line: number, fields: Fields): Read | typeof OWNER | typeof END | string {
  const { type } = fields;
  if ((type === 'owner') !== (line === 1))
    return `expected the owner in the first line and nowhere else, got "${type}"`;
  if (type === 'owner') {
    const { kind, id } = of.owner;
    const isSame = fields.kind === kind && fields.id === id;
    const mistake = rowOf(LANE, fields, new Set(['kind', 'id']));
    if (typeof mistake === 'string') return mistake;
    return isSame ? OWNER : `expected the ${kind} ${id}, got the ${fields.kind} ${fields.id}`;
  }
  if (type === 'end')
    return fields.lines === line ? END : `expected ${fields.lines} lines before and with the last, got ${line}`;
  const kind = BY_TYPE.get(String(type));
  if (kind === undefined) return `unknown type "${type}"; a newer release wrote it, so import it with that release`;
  const row = rowOf(carriedBy(kind), fields, MORE);
  return typeof row === 'string' ? row : { line, kind, fields, row };
}

/** What lines have beside columns. */
const MORE = new Set(['sources', 'beyond', 'event']);

/** The columns of a line as they are stored; a text: what is wrong with one. */
function rowOf(columns: readonly Carried[], fields: Fields, more: ReadonlySet<string>): Row | string {
  const row: Record<string, Value> = {};
  for (const { name, nullable, form } of columns) {
    const shown = fields[name];
    if (shown === undefined) continue; // what a later release has added has a default
    const stored = shown === null ? null : form.stored(shown);
    if (stored === undefined || (stored === null && !nullable)) {
      return `${name}: expected ${form.expected}, got ${JSON.stringify(shown)?.slice(0, 80)}`;
    }
    row[name] = stored;
  }
  const known = new Set(columns.map(({ name }) => name));
  const strange = Object.keys(fields).find((name) => name !== 'type' && !known.has(name) && !more.has(name));
  return strange === undefined
    ? row
    : `unknown field "${strange}"; a newer release wrote it, so import it with that release`;
}

const LANE: readonly Carried[] = carriedOf('lanes').filter(({ name }) =>
  ([...LANE_COLUMNS, ...LIFE_COLUMNS] as readonly string[]).includes(name),
);

/** Ids are nobody else's: the same thing cannot be in a ledger twice. */
function* knownElsewhere(kind: Kind, group: readonly Read[]): Script<RefusedLine | null> {
  const named = group.flatMap((read) => {
    const id = ownIdIn(kind, read);
    return id === null ? [] : [{ id, line: read.line }];
  });
  const lines = new Map<string, number>();
  for (const { id, line } of named) {
    const before = lines.get(id);
    if (before !== undefined) return { line, problem: `${id} is in line ${before} already; export the owner again` };
    lines.set(id, line);
  }
  const ids = [...lines.keys()];
  if (ids.length === 0) return null;
  const [taken] = yield* kind.table === 'messages'
    ? idsOf(`SELECT id FROM ${NAMED_MESSAGES} AS m LIMIT 1`, naming(ids))
    : idsOf(`SELECT id FROM ${kind.table} WHERE id IN :ids LIMIT 1`, { ids });
  const line = lines.get(taken ?? '');
  if (line === undefined) return null;
  const problem = `${taken} already exists in this ledger, under another owner or tenant; a bundle can only be imported once`;
  return { line, problem };
}

/** The id that a row is kept with; null: it has none, or one that follows from what it hangs on. */
function ownIdIn({ table, kept }: Kind, { row }: Read): string | null {
  if (WITHOUT_OWN_IDS.includes(table)) return null;
  const column = columnsOf(table).find(({ name, type }) => name === 'id' && type === 'text');
  if (column === undefined) return null;
  const { id = null } = column.nullable && kept !== undefined ? kept(row) : row;
  return id === null ? null : String(id);
}

/** Ids of what memories were said under; and of what may be here already, from a time when the owner was. */
const WITHOUT_OWN_IDS: readonly string[] = ['memory_ids', 'trail'];

interface Grouped {
  readonly kind: Kind;
  readonly group: readonly Read[];
  readonly reads: readonly Read[];
}

/** What a thing hangs on is of the same owner. */
function* withoutParent({ lane }: Import, { kind, group, reads }: Grouped): Script<RefusedLine | null> {
  const { parent } = kind;
  if (parent === undefined) return null;
  const near = new Set(reads.flatMap(({ kind: { table }, row }) => (table === parent.table ? [row.id] : [])));
  const far = group.filter(({ row }) => !near.has(row[parent.column] ?? null));
  if (far.length === 0) return null;
  const isOfLane = isNumbered(parent.table) ? `x.lane + 0 = ${LANE_NUMBER}` : '+x.lane = @lane';
  const found = new Set<Value>(
    yield* idsOf(`SELECT x.id FROM ${parent.table} x WHERE x.id IN :ids AND ${isOfLane}`, {
      ...{ lane, ids: [...new Set(far.map(({ row }) => String(row[parent.column])))] },
    }),
  );
  const read = far.find(({ row }) => !found.has(row[parent.column] ?? null));
  if (read === undefined) return null;
  return { line: read.line, problem: `expected ${read.row[parent.column]} in an earlier line, got none` };
}

/** Its rows refer to their lane by its number. */
const isNumbered = (table: string): boolean =>
  columnsOf(table).some(({ name, type }) => name === 'lane' && type === 'bigint');

function* storeLife({ id, lane }: Import, fields: Fields): Script<void> {
  const row = rowOf(LANE, fields, new Set(['kind', 'id']));
  if (typeof row === 'string') throw new Error(row);
  const changes = LANE_COLUMNS.map((name) => `${name} = ${CAST[name] ?? `@${name}`}`);
  const given = Object.fromEntries(LANE_COLUMNS.map((name) => [name, row[name] ?? null]));
  yield* run(`UPDATE lanes SET ${changes.join(', ')} WHERE id = @lane`, { ...given, lane });
  const life = JSON.stringify(Object.fromEntries(LIFE_COLUMNS.map((name) => [name, fields[name] ?? null])));
  yield* run('UPDATE imports SET life = @life::jsonb WHERE id = @id', { life, id });
}

const CAST: Readonly<Record<string, string>> = {
  pauses: '@pauses::jsonb',
  nudged_backfill: '@nudged_backfill::int::boolean',
};

function* storeRows(of: Import, kind: Kind, group: readonly Read[]): Script<void> {
  const { table, own = {}, onConflict = '' } = kind;
  const columns = new Set(columnsOf(table).map(({ name }) => name));
  const scopes = columns.has('scope') ? yield* scopesOf(of.lane) : [];
  const laneNumber = isNumbered(table) ? yield* numberOfLane(of.lane) : null;
  const filled = (read: Read): Row => ({
    ...read.row,
    ...own,
    ...(columns.has('tenant') && { tenant: of.tenant }),
    ...(columns.has('lane') && { lane: laneNumber ?? of.lane }),
    ...(columns.has('scope') && { scope: scopes[Number(read.row.scope) - 1] ?? null }),
    ...(table === 'scopes' && { key: storedScopeKey(scopeOf(read.row)) }),
    ...((table === 'uses' || table === 'holds') && { who: of.lane }),
    ...(table === 'webhook_deliveries' && { type: String(read.fields.event) }),
    ...(table === 'memory_ids' && { beyond: read.fields.beyond === true ? of.lane : null }),
  });
  const named = yield* referring(kind, group.map(filled).map(kind.kept ?? ((row) => row)));
  const rows = yield* fitting(table, named);
  // Rows of one statement have the same columns.
  for (const [, alike] of Map.groupBy(rows, (row) => Object.keys(row).join())) yield* insert(table, alike, onConflict);
  if (table === 'batches') yield* count([{ tenant: of.tenant, name: 'accepted', value: rows.length }]);
  if (table !== 'events') return;
  yield* noteSources(
    rows.map(({ memory, revision }, i) => ({
      memory: Number(memory),
      revision: Number(revision),
      sourceIds: (group[i]?.fields.sources ?? []) as readonly string[],
    })),
  );
  yield* leanVersions(rows);
}

const numberOfLane = (id: LaneId): Script<number | null> =>
  firstAs(({ number }: { number: number }) => number, 'SELECT number FROM lanes WHERE id = @id', { id });

/** By the numbers that this ledger has given to what lines name. */
function* referring({ refers = [] }: Kind, rows: readonly Row[]): Script<readonly Row[]> {
  let referred = rows;
  for (const { column, table, as } of refers) {
    const names = [...new Set(rows.flatMap(({ [as]: name = null }) => (name === null ? [] : [String(name)])))];
    const numbers = yield* table === 'embedders' ? embeddersOf(names) : numbersIn(table, names);
    referred = referred.map(({ [as]: name = null, ...row }) => ({ ...row, [column]: numbers.get(name) ?? null }));
  }
  return referred;
}

function* embeddersOf(fingerprints: readonly string[]): Script<ReadonlyMap<Value, number>> {
  const numbers = new Map<Value, number>();
  for (const fingerprint of fingerprints) numbers.set(fingerprint, yield* openEmbedder(fingerprint));
  return numbers;
}

/** As they fit with what is tenant-wide here. */
function* fitting(table: string, rows: readonly Row[]): Script<readonly Row[]> {
  if (table === 'webhook_deliveries') {
    // One whose webhook is gone would be delivered to nobody.
    const ids = rows.map(({ webhook }) => String(webhook));
    const known = new Set<Value>(yield* idsOf('SELECT id FROM webhooks WHERE id IN :ids', { ids }));
    return rows.filter(({ webhook }) => known.has(webhook ?? null));
  }
  return table === 'suite_cases' ? yield* placed(rows) : rows;
}

/** Behind the cases that their suites have here. Those of a suite that is gone go with it. */
function* placed(rows: readonly Row[]): Script<readonly Row[]> {
  const found = yield* all<{ id: string; last: number }>(SELECT_LAST_PLACES, {
    ids: rows.map(({ suite_id }) => String(suite_id)),
  });
  const last = new Map<Value, number>(found.map(({ id, last: place }) => [id, place]));
  return rows.flatMap((row) => {
    const before = last.get(row.suite_id ?? null);
    if (before === undefined) return [];
    last.set(row.suite_id ?? null, before + 1);
    return [{ ...row, place: before + 1 }];
  });
}

const SELECT_LAST_PLACES = `
  SELECT s.id, coalesce((SELECT max(c.place) FROM suite_cases c WHERE c.suite_id = s.id), 0) AS last
  FROM suites s WHERE s.id IN :ids`;

const scopeOf = (row: Row): Scope => scopeFrom(row as unknown as Parameters<typeof scopeFrom>[0]);

/** Versions come before the events that say the same: from now on these alone do. */
function* leanVersions(rows: readonly Row[]): Script<void> {
  const events = new Map(rows.map((row) => [`${row.memory} ${row.revision}`, row as unknown as EventRow]));
  const memories = [...new Set(rows.map(({ memory }) => Number(memory)))];
  const text = 'SELECT * FROM versions WHERE memory IN :memories::bigint AND text IS NOT NULL';
  const versions = yield* all<VersionRow>(text, { memories });
  const lean = versions.flatMap((version) => {
    const event = events.get(`${version.memory} ${version.number}`);
    return event === undefined ? [] : [keptVersion(version, event)];
  });
  yield* insert('versions', lean, REPLACE_VERSION);
}
