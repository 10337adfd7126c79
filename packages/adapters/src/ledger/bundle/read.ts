import type { AskedLines, BundlePage, LaneId, Owner, TenantId } from '@slowwave/engine';
import { FIRST_SUM, InvalidCursorError, isStill, promisedBy, sealed, stampWith } from '@slowwave/engine/storing';
import { inOrder, unclaimedOf } from '../batches.ts';
import type { LaneRow } from '../lane-life.ts';
import { laneOfOwner } from '../lanes.ts';
import { LANE_NUMBER } from '../page.ts';
import { idOfMessage } from '../rows/batch.ts';
import { sha256 } from '../rows/columns.ts';
import { all, allAs, first, type Given, type Row, type Script, type Value } from '../script.ts';
import {
  carriedBy,
  carriedOf,
  DERIVED,
  KINDS,
  type Kind,
  keptRows,
  LANE_COLUMNS,
  LIFE_COLUMNS,
  MOVING_KINDS,
  shown,
} from './kinds.ts';

/** Rows that are read at a time: SQLite hands none of them out before it has all. */
const ROWS_AT_ONCE = 500;
/** Characters of a page, give or take those of one read. */
const PAGE_CHARACTERS = 1_000_000;

/** How far the lines of an owner are read. */
interface Place {
  /** Of KINDS. */
  readonly kind: number;
  /** What the last row was in order by; null: none of the kind is read. */
  readonly after: readonly Value[] | null;
  readonly lines: number;
  readonly sum: string;
  /** The checksum before what is derived; null: that is not reached. */
  readonly state: string | null;
  /** What the lane was when the first line was read. */
  readonly stamp: string;
  /** Whether the owner leaves for good. */
  readonly moving: boolean;
}

/** The next lines of an owner, with what only goes along for good if it is moving. */
export function* linesOf(tenant: TenantId, owner: Owner, { cursor, moving }: AskedLines): Script<BundlePage> {
  const lane = yield* laneOfOwner({ tenant, owner });
  if (lane === null || lane.erasure !== null) return { kind: 'gone' };
  const pen = penAt(cursor === null ? { ...BEGINNING, moving } : placeIn(cursor));
  if (cursor === null) pen.begin(ownerLine(lane), yield* stampOf(lane, moving));
  const isOver = yield* writeKinds(pen, lane.id);
  if (!isOver) return { kind: 'page', lines: pen.lines(), nextCursor: cursorOf(pen.place()), stamp: null };
  const { stamp } = pen.place();
  if (!isStill(promisedBy(stamp), yield* stampOf(lane, pen.place().moving))) return { kind: 'changed' };
  pen.end();
  return { kind: 'page', lines: pen.lines(), nextCursor: null, stamp };
}

/** One kind after the other until a page is full. Returns whether there are no more. */
function* writeKinds(pen: Pen, lane: LaneId): Script<boolean> {
  const scopes = new Map((yield* scopesOf(lane)).map((id, i) => [id, i + 1]));
  for (;;) {
    const kind = pen.kinds[pen.place().kind];
    if (kind === undefined) return true;
    if (pen.written() > PAGE_CHARACTERS) return false;
    const { after } = pen.place();
    const rows = yield* kind.folded === undefined
      ? rowsOf(kind, lane, after)
      : keptRows(kind.folded, lane, { after, least: ROWS_AT_ONCE });
    const sources = kind.type === 'event' ? yield* sourcesOf(rows) : null;
    for (const row of rows) pen.write(lineOf(kind, row, { scopes, sources }), keyOf(kind, row));
    if (rows.length < ROWS_AT_ONCE) pen.nextKind();
  }
}

type Pen = ReturnType<typeof penAt>;

/** Writes lines one under the other, each with its checksum. */
function penAt(from: Place) {
  let place = from;
  const kinds = from.moving ? MOVING_KINDS : KINDS;
  let written = 0;
  const lines: string[] = [];
  const add = (line: object): void => {
    const next = sealed(sha256, place.sum, JSON.stringify(line));
    place = { ...place, lines: place.lines + 1, sum: next.sum };
    written += next.line.length;
    lines.push(next.line);
  };
  return {
    kinds,
    place: () => place,
    written: () => written,
    lines: () => lines,
    begin: (line: object, stamp: string): void => {
      place = { ...place, stamp };
      add(line);
    },
    write: (line: object, after: readonly Value[]): void => {
      add(line);
      place = { ...place, after };
    },
    nextKind: (): void => {
      const kind = place.kind + 1;
      const isDerived = kinds[kind]?.type === DERIVED;
      place = { ...place, kind, after: null, state: isDerived ? place.sum : place.state };
    },
    end: (): void => add({ type: 'end', lines: place.lines + 1, state: place.state }),
  };
}

const BEGINNING = { kind: 0, after: null, lines: 0, sum: FIRST_SUM, state: null, stamp: '' } as const;

const cursorOf = (place: Place): string => {
  const after = place.after?.map((value) => (value instanceof Uint8Array ? { hex: hexOf(value) } : value)) ?? null;
  return Buffer.from(JSON.stringify({ ...place, after })).toString('base64url');
};

const hexOf = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex');

function placeIn(cursor: string): Place {
  try {
    const place = JSON.parse(Buffer.from(cursor, 'base64url').toString(), withBytes) as Place;
    if (Number.isSafeInteger(place.kind) && Number.isSafeInteger(place.lines)) return place;
  } catch {
    // as below
  }
  throw new InvalidCursorError();
}

const withBytes = (_: string, value: unknown): unknown =>
  typeof value === 'object' && value !== null && 'hex' in value ? Buffer.from(String(value.hex), 'hex') : value;

const CARRIED_BY_LANE = carriedOf('lanes').filter(({ name }) =>
  ([...LANE_COLUMNS, ...LIFE_COLUMNS] as readonly string[]).includes(name),
);

const ownerLine = (lane: LaneRow): object => ({
  type: 'owner',
  ...{ kind: lane.owner_kind, id: lane.owner_id },
  ...Object.fromEntries(CARRIED_BY_LANE.map((column) => [column.name, shown(column, lane as unknown as Row)])),
});

/** Scopes are numbered by each ledger: lines count those of their owner, in this order. */
export const scopesOf = (lane: LaneId): Script<readonly number[]> =>
  allAs(({ id }: { id: number }) => id, `SELECT id FROM scopes WHERE lane = ${LANE_NUMBER} ORDER BY id`, { lane });

function* rowsOf(kind: Kind, lane: LaneId, after: readonly Value[] | null): Script<readonly Row[]> {
  const keys = kind.order.map((column, i) => `${column} AS after${i}`).join(', ');
  const given: Given = Object.fromEntries((after ?? [0]).map((value, i) => [`after${i}`, value]));
  const names = kind.order.map((_, i) => `@after${i}`);
  const later = `AND ${kind.order[0]} >= @after0 AND (${kind.order.join(', ')}) > (${names.join(', ')})`;
  const named = (kind.refers ?? []).map(({ row, by, as }) => `, ${row}.${by} AS ${as}`).join('');
  const beside = kind.beside === undefined ? '' : `, ${kind.beside}`;
  const text = `
    SELECT x.*${named}${beside}, ${keys} FROM ${kind.from} ${after === null ? '' : later}
    ORDER BY ${kind.order.join(', ')} LIMIT @limit`;
  const rows = yield* all<Row>(text, { lane, limit: ROWS_AT_ONCE, ...given });
  return kind.table === 'messages' ? yield* withUnclaimed(rows, lane, Number(given.after0)) : rows;
}

/** Messages that are not claimed yet are lines like all others. */
function* withUnclaimed(rows: readonly Row[], lane: LaneId, after: number): Script<readonly Row[]> {
  const waiting = yield* unclaimedOf(lane, { after, limit: ROWS_AT_ONCE });
  if (waiting.length === 0) return rows;
  return inOrder(
    rows as readonly (Row & { seq: number })[],
    waiting.map((row) => ({ ...row, after0: row.seq })),
    ROWS_AT_ONCE,
  );
}

const keyOf = ({ order }: Kind, row: Row): readonly Value[] => order.map((_, i) => row[`after${i}`] ?? null);

/** The messages that events came from. */
function* sourcesOf(events: readonly Row[]): Script<ReadonlyMap<Value, readonly string[]>> {
  const rows = yield* all<{ event_seq: number; message_id: string }>(
    `SELECT x.event_seq, ${idOfMessage('o.lane = x.lane AND o.seq = x.message_seq')} AS message_id
     FROM event_sources x WHERE x.event_seq IN :seqs::bigint ORDER BY 1, 2`,
    { seqs: events.map(({ seq }) => Number(seq)) },
  );
  return new Map(
    [...Map.groupBy(rows, ({ event_seq }) => event_seq)].map(([seq, of]) => [seq, of.map((row) => row.message_id)]),
  );
}

interface Beside {
  readonly scopes: ReadonlyMap<Value, number>;
  readonly sources: ReadonlyMap<Value, readonly string[]> | null;
}

function lineOf(kind: Kind, row: Row, { scopes, sources }: Beside): object {
  const whole = kind.whole?.(row) ?? row;
  const fields = Object.fromEntries(carriedBy(kind).map((column) => [column.name, shown(column, whole)]));
  const line = { type: kind.type, ...fields };
  switch (kind.table) {
    case 'scopes':
      return line;
    case 'webhook_deliveries':
      return { ...line, event: row.type };
    case 'memory_ids':
      return { ...line, beyond: row.beyond !== null };
    case 'events':
      return { ...line, sources: sources?.get(row.seq ?? null) ?? [] };
    case 'batches':
      return { ...line, ...ended(row), scope: scopes.get(row.scope ?? null) };
    default:
      return 'scope' in row ? { ...line, scope: scopes.get(row.scope ?? null) } : line;
  }
}

/** What is applied and not yet projected is projected where it arrives. */
const ended = (row: Row): object =>
  row.state === 'consolidating' && row.outcome !== null
    ? { state: row.outcome, stage: 'done', searchable_at: row.searchable_at ?? row.applied_at }
    : {};

/**
 * Goes up with all that is written to what travels of a lane. Read with the first line and again with the last: what lies between them is of
 * one moment if it is the same.
 */
export function* stampOf(lane: LaneRow, isMoving: boolean): Script<string> {
  const counts: unknown[] = [];
  for (const text of [...STAMPS, ...(isMoving ? MOVING_STAMPS : [])])
    counts.push(yield* first(text, { lane: lane.id }));
  // Whoever moves away and comes back has another lane: a request of the first time must not make it depart once more.
  // And whoever gives a move up says so by another time until which work is kept back: what was copied before is void then.
  const whose = isMoving ? [lane.id, lane.leaving_until] : [];
  const promised = sha256(JSON.stringify([...whose, lane.epoch, lane.generation, ownerLine(lane), counts])).slice(
    0,
    16,
  );
  if (!isMoving) return promised;
  const receipts = yield* first('SELECT count(*) AS n, max(at) AS last FROM receipts WHERE lane = @lane', {
    lane: lane.id,
  });
  return stampWith(promised, sha256(JSON.stringify(receipts)).slice(0, 8));
}

const STAMPS: readonly string[] = [
  `SELECT count(*) AS n, sum(attempts) AS tries, sum(length(formers::text)) AS formers, count(stripped_at) AS stripped,
     count(outcome) AS applied FROM batches WHERE lane = ${LANE_NUMBER}`,
  'SELECT sum(length(content::text)) AS said, count(unhidden) AS hidden FROM lane_messages WHERE lane = @lane',
  `SELECT count(*) AS n, sum(attempts) AS tries, count(applied_at) AS applied, count(stripped_at) AS stripped, count(summary) AS summaries,
     sum(octet_length(thought)) AS thought FROM consolidations WHERE lane = ${LANE_NUMBER}`,
  `SELECT count(*) AS n, max(x.seq) AS last FROM consolidations p JOIN answers x ON x.consolidation_id = p.id WHERE p.lane = ${LANE_NUMBER}`,
  `SELECT count(*) AS n, sum(x.round) AS rounds FROM consolidations p JOIN plans x ON x.consolidation_id = p.id WHERE p.lane = ${LANE_NUMBER}`,
  `SELECT count(*) AS n, sum(revision) AS revisions, sum(confirmations) AS confirmed, max(updated_at) AS last, count(gone_since) AS gone,
     count(history_from) AS former, count(expires_at) AS expiring FROM memories WHERE lane = ${LANE_NUMBER}`,
  `SELECT count(*) AS n, sum(length(x.text)) AS said FROM memories p JOIN versions x ON x.memory = p.number WHERE p.lane = ${LANE_NUMBER}`,
  `SELECT count(*) AS n, max(x.seq) AS last, sum(length(x.text)) AS said FROM memories p JOIN events x ON x.memory = p.number
   WHERE p.lane = ${LANE_NUMBER}`,
  `SELECT sum(x.good) AS good, sum(x.bad) AS bad, max(x.changed_at) AS last FROM memories p JOIN credits x ON x.memory_id = p.id WHERE p.lane = ${LANE_NUMBER}`,
  'SELECT count(*) AS n FROM tombstones WHERE lane = @lane',
  'SELECT count(*) AS n, count(settled_at) AS settled FROM reviews WHERE lane = @lane',
  'SELECT count(*) AS n FROM undos WHERE lane = @lane',
  'SELECT count(*) AS n, sum(version) AS versions FROM task_states WHERE lane = @lane',
  `SELECT count(*) AS n, sum(summary_revision) AS summaries FROM scopes WHERE lane = ${LANE_NUMBER}`,
  'SELECT count(*) AS n, sum(counts) AS counting, sum(fallen) AS fallen FROM graph_statements WHERE lane = @lane',
  'SELECT count(*) AS n, sum(revision) AS revisions FROM graph_entities WHERE lane = @lane',
  'SELECT count(*) AS n, sum(revision) AS revisions FROM graph_relations WHERE lane = @lane',
  'SELECT count(*) AS n, sum(attempts) AS tries, count(applied_at) AS applied FROM graph_studies WHERE lane = @lane',
  'SELECT count(*) AS n, count(ended_at) AS ended FROM nights WHERE lane = @lane',
];

/** Of what travels only with an owner that leaves. */
const MOVING_STAMPS: readonly string[] = [
  'SELECT count(*) AS n, max(seq) AS last FROM webhook_deliveries WHERE lane = @lane',
  'SELECT count(*) AS n FROM suite_cases WHERE lane = @lane',
  // Answers that told nothing have no credits. Times tell which are rated: of two that change their ratings the counts stay.
  `SELECT count(outcome) AS n, count(CASE outcome WHEN 'good' THEN 1 END) AS good, sum(CASE WHEN outcome IS NOT NULL THEN at % 1000003 END) AS rated,
     sum(CASE outcome WHEN 'good' THEN at % 1000003 END) AS rated_good FROM receipts WHERE lane = @lane`,
];
