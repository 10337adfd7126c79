import type { LaneId } from '@slowwave/engine';
import { packed, unpacked } from '../../packed.ts';
import { type KeptThought, shownIn, type ThoughtRow, thoughtsFrom } from '../kept-thoughts.ts';
import { OF_LANE, USES_OF_LANE } from '../limits.ts';
import { LANE_NUMBER } from '../page.ts';
import { keptId } from '../rows/batch.ts';
import { type EventRow, keptEvent, wholeEvent } from '../rows/memory.ts';
import { BESIDE_VERSION, type WholeVersionRow, wholeVersion } from '../rows/version.ts';
import { type Column, columnsOf, messageId } from '../schema.ts';
import { all, type Given, type Row, type Script, type Value } from '../script.ts';

/** A column that has the number of a row. */
interface Reference {
  readonly column: string;
  readonly table: string;
  /** By what lines name the row, and as what. */
  readonly by: string;
  readonly as: string;
  /** What `from` calls the row. */
  readonly row: string;
}

/** A kind of thing that travels with its owner: the rows of a table. */
export interface Kind {
  /** How lines call it. */
  readonly type: string;
  readonly table: string;
  /** Where its rows `x` are found, with a condition on @lane. */
  readonly from: string;
  /** By what they are in order, which is how they are stored again. */
  readonly order: readonly [string, ...string[]];
  /** What belongs to a ledger and its index: it stays, and this stands there in the other one. */
  readonly own?: Readonly<Record<string, Value>>;
  /** The row that it hangs on, which is of the same lane. */
  readonly parent?: { readonly column: string; readonly table: string };
  /** What it refers to by numbers, which each ledger gives anew: lines name it. */
  readonly refers?: readonly Reference[];
  /** What is selected besides, of `from`. */
  readonly beside?: string;
  /** A row as lines have it, and as it is kept: what is as usual, or follows from other rows, is not. */
  readonly whole?: (row: Row) => Row;
  readonly kept?: (row: Row) => Row;
  /** Of consolidations that have ended they are no rows. */
  readonly folded?: Folded;
  /** What stands behind the insert. */
  readonly onConflict?: string;
}

const ofLane = (table: string): string => `${table} x WHERE x.lane = @lane`;
const ofNumbered = (table: string): string => `${table} x WHERE x.lane = ${LANE_NUMBER}`;
const ofMemories = (table: string): string =>
  `memories p JOIN ${table} x ON x.memory_id = p.id WHERE p.lane = ${LANE_NUMBER}`;
const ofConsolidations = (table: string): string =>
  `consolidations p JOIN ${table} x ON x.consolidation_id = p.id WHERE p.lane = ${LANE_NUMBER}`;

const OF_MEMORY = { column: 'memory_id', table: 'memories' } as const;
const TO_MEMORY = { column: 'memory', table: 'memories', by: 'id', as: 'memory_id', row: 'p' } as const;
const TO_CONSOLIDATION = {
  ...{ column: 'consolidation', table: 'consolidations', by: 'id', as: 'consolidation_id', row: 'c' },
} as const;
const WITH_CONSOLIDATION = 'LEFT JOIN consolidations c ON c.number = x.consolidation';
const OF_CONSOLIDATION = { column: 'consolidation_id', table: 'consolidations' } as const;
const OF_BATCH = { column: 'batch_id', table: 'batches' } as const;

/** One consolidation after the other. */
const OF_CONSOLIDATIONS = {
  from: ofNumbered('consolidations'),
  order: ['x.created_at', 'x.id'] as [string, ...string[]],
} as const;

/** What the index has of a batch: nothing yet. */
const UNTOLD = { speech_revision: 0, speech_revised_at: null, projected_revision: 0, points: 0 } as const;
/** It may be older than what is stripped here. */
const LATE = { late: 1 } as const;
const UNPROJECTED = { revision: 0, unprojected_at: null } as const;

/** In the order in which they refer to each other. Scopes and events are read in ways of their own. */
export const KINDS: readonly Kind[] = [
  { type: 'scope', table: 'scopes', from: ofNumbered('scopes'), order: ['x.id'] },
  {
    ...{ type: 'consolidation', table: 'consolidations', ...OF_CONSOLIDATIONS },
    own: { thought: null, ...LATE },
  },
  {
    ...{
      type: 'batch',
      table: 'batches',
      order: ['x.position'],
      own: { ...UNTOLD, ...LATE },
      refers: [TO_CONSOLIDATION],
    },
    from: `batches x ${WITH_CONSOLIDATION} WHERE x.lane = ${LANE_NUMBER}`,
  },
  {
    ...{ type: 'message', table: 'messages', order: ['x.seq'], parent: OF_BATCH },
    from: `batches p JOIN messages x ON x.batch = p.number WHERE x.lane = ${LANE_NUMBER}`,
    refers: [{ column: 'batch', table: 'batches', by: 'id', as: 'batch_id', row: 'p' }],
    own: { place: null },
    beside: `${messageId('x', 'p')} AS id`,
    kept: (row) => ({ ...row, ...keptId(String(row.id), String(row.batch_id)) }),
  },
  {
    ...{ type: 'key', table: 'idempotency_keys', parent: OF_BATCH },
    from: `batches p JOIN idempotency_keys x ON x.batch_id = p.id WHERE p.lane = ${LANE_NUMBER}`,
    order: ['p.position', 'x.key'],
    // Somebody has posted the same here in the meantime.
    onConflict: 'ON CONFLICT (tenant, key) DO NOTHING',
  },
  {
    ...{ type: 'answer', table: 'answers', folded: 'answers', parent: OF_CONSOLIDATION },
    ...OF_CONSOLIDATIONS,
  },
  {
    ...{ type: 'plan', table: 'plans', folded: 'plans', parent: OF_CONSOLIDATION },
    ...OF_CONSOLIDATIONS,
  },
  {
    ...{ type: 'night', table: 'nights', from: ofLane('nights'), parent: OF_CONSOLIDATION },
    order: ['x.created_at', 'x.consolidation_id'],
  },
  { type: 'memory', table: 'memories', from: ofNumbered('memories'), order: ['x.number'] },
  {
    ...{ type: 'version', table: 'versions', parent: OF_MEMORY, refers: [TO_MEMORY] },
    from: `memories p JOIN versions x ON x.memory = p.number JOIN events o ON o.memory = x.memory AND o.revision = x.number
      WHERE p.lane = ${LANE_NUMBER}`,
    order: ['p.number', 'x.number'],
    beside: BESIDE_VERSION,
    whole: (row) => ({ ...wholeVersion(row as unknown as WholeVersionRow) }),
  },
  {
    ...{ type: 'said_under', table: 'memory_ids', from: ofMemories('memory_ids'), parent: OF_MEMORY },
    order: ['p.number', 'x.kind', 'x.id'],
  },
  {
    ...{ type: 'tombstone', table: 'tombstones', from: ofLane('tombstones'), parent: OF_MEMORY },
    order: ['x.text_hash', 'x.memory_id'],
  },
  {
    ...{ type: 'event', table: 'events', parent: OF_MEMORY, refers: [TO_MEMORY, TO_CONSOLIDATION] },
    whole: (row) => wholeEvent(row as unknown as EventRow),
    kept: keptEvent,
    // All of a lane is sorted for each page; of what it says only a page is read.
    from: `events x JOIN memories p ON p.number = x.memory ${WITH_CONSOLIDATION} WHERE x.seq IN FEW (
      SELECT e.seq FROM memories m JOIN events e ON e.memory = m.number
      WHERE m.lane = ${LANE_NUMBER} AND e.seq > @after0 ORDER BY e.seq LIMIT @limit;)`,
    order: ['x.seq'],
  },
  {
    ...{ type: 'credit', table: 'credits', from: ofMemories('credits'), parent: OF_MEMORY },
    order: ['p.number', 'x.version'],
  },
  {
    ...{ type: 'wish', table: 'wishes', from: ofConsolidations('wishes'), parent: OF_CONSOLIDATION },
    order: ['p.created_at', 'p.id', 'x.number'],
  },
  { type: 'review', table: 'reviews', from: ofLane('reviews'), order: ['x.created_at', 'x.id'] },
  { type: 'undo', table: 'undos', from: ofLane('undos'), order: ['x.number'] },
  { type: 'task_state', table: 'task_states', from: ofLane('task_states'), order: ['x.run_id', 'x.version'] },
  { type: 'entity', table: 'graph_entities', from: ofLane('graph_entities'), order: ['x.id'], own: UNPROJECTED },
  {
    ...{ type: 'entity_name', table: 'graph_names', from: ofLane('graph_names'), order: ['x.name', 'x.entity'] },
    parent: { column: 'entity', table: 'graph_entities' },
  },
  { type: 'statement', table: 'graph_statements', from: ofLane('graph_statements'), order: ['x.id'] },
  { type: 'relation', table: 'graph_relations', from: ofLane('graph_relations'), order: ['x.id'], own: UNPROJECTED },
  {
    ...{ type: 'study', table: 'graph_studies', from: ofLane('graph_studies'), order: ['x.seq'] },
    parent: OF_CONSOLIDATION,
  },
  {
    ...{ type: 'proposal', table: 'graph_proposals', from: ofLane('graph_proposals') },
    order: ['x.consolidation_id', 'x.source', 'x.destination'],
    parent: OF_CONSOLIDATION,
  },
  {
    ...{ type: 'vector', table: 'vectors', order: ['x.embedder', 'x.text_hash'] },
    from: `embedders p JOIN vectors x ON x.embedder = p.number WHERE x.lane = ${LANE_NUMBER}`,
    refers: [{ column: 'embedder', table: 'embedders', by: 'fingerprint', as: 'fingerprint', row: 'p' }],
  },
];

/**
 * What else goes along with an owner that leaves for good, and would be of no use in a bundle: what is still to be done for it here, and
 * what is counted of it. The rest stays: what the index has to be told (outbox, unprojected_lanes) and who worked on studies (graph_turns)
 * are made anew, what-ifs (replay_batches) and canaries (canary_lanes) are over, or the owner would wait for them, questions of bulk jobs
 * (bulk_questions) are asked again, and where the owner came from (imports) is no news.
 */
const MOVING: readonly Kind[] = [
  {
    ...{ type: 'delivery', table: 'webhook_deliveries', from: ofLane('webhook_deliveries'), order: ['x.seq'] },
    // A line has a type of its own.
    own: { type: null },
  },
  { type: 'receipt', table: 'receipts', from: ofLane('receipts'), order: ['x.at', 'x.id'] },
  { type: 'telling', table: 'tellings', from: ofLane('tellings'), order: ['x.conversation'] },
  { type: 'use', table: 'uses', from: `uses x WHERE ${USES_OF_LANE}`, order: ['x.day', 'x.slot'] },
  { type: 'hold', table: 'holds', from: `holds x WHERE ${OF_LANE}`, order: ['x.held_at', 'x.id'] },
  { ...{ type: 'call', table: 'usage', folded: 'calls' }, ...OF_CONSOLIDATIONS },
  { type: 'call', table: 'usage', from: ofLane('usage'), order: ['x.at', 'x.id'] },
  {
    ...{ type: 'sleep', table: 'sleeps', from: ofLane('sleeps'), order: ['x.looked_at'] },
    own: { held: null, held_until: 0 },
  },
  { type: 'case', table: 'suite_cases', from: ofLane('suite_cases'), order: ['x.place', 'x.id'] },
  {
    ...{ type: 'audit', table: 'trail', order: ['x.at', 'x.id'] },
    from: `lanes p JOIN trail x INDEXED BY trail_by_subject
      ON x.tenant = p.tenant AND x.subject_id = p.owner_id AND x.subject_kind = p.owner_kind AND x.subject_id IS NOT NULL
      WHERE p.id = @lane`,
    onConflict: 'ON CONFLICT (tenant, at, id) DO NOTHING',
  },
];

/** What comes of the rest, and need not be the same everywhere: the checksum before it says what an owner is. */
export const DERIVED = 'vector';

/** Everything that travels with an owner that leaves. */
export const MOVING_KINDS: readonly Kind[] = [
  ...KINDS.filter(({ type }) => type !== DERIVED),
  ...MOVING,
  ...KINDS.filter(({ type }) => type === DERIVED),
];

/** Columns of a lane that travel with its owner, beside its ids. */
export const LANE_COLUMNS = [
  'next_position',
  'next_seq',
  'nudged_backfill',
  'oldest_at',
  'newest_at',
  'pace_ms',
  'pauses',
  'flush_through',
  'window_limit',
  'attempts',
  'created_at',
  'updated_at',
] as const;
/** What it does, which it only goes on with when all of it is there. */
export const LIFE_COLUMNS = ['state', 'consolidation_id', 'due_at'] as const;

/** A value of a row as a line has it, and back. */
interface Form {
  shown(stored: Value): unknown;
  /** undefined: it is of another form. */
  stored(shown: unknown): Value | undefined;
  /** What is expected, for people. */
  readonly expected: string;
}

const TEXT: Form = {
  shown: (stored) => stored,
  stored: (shown) => (typeof shown === 'string' ? shown : undefined),
  expected: 'a text',
};
const NUMBER: Form = {
  shown: (stored) => stored,
  stored: (shown) => (Number.isSafeInteger(shown) ? (shown as number) : undefined),
  expected: 'a whole number',
};
const FLOAT: Form = {
  ...NUMBER,
  stored: (shown) => (typeof shown === 'number' && Number.isFinite(shown) ? shown : undefined),
  expected: 'a number',
};
const FLAG: Form = {
  shown: (stored) => stored === 1,
  stored: (shown) => (typeof shown === 'boolean' ? Number(shown) : undefined),
  expected: 'true or false',
};
const JSON_TEXT: Form = {
  shown: (stored) => sorted(JSON.parse(String(stored))),
  stored: (shown) => JSON.stringify(shown),
  expected: 'a JSON value',
};
const BYTES: Form = {
  shown: (stored) => Buffer.from(stored as Uint8Array).toString('base64'),
  stored: (shown) => (typeof shown === 'string' ? Buffer.from(shown, 'base64') : undefined),
  expected: 'bytes as base64',
};

const HEX: Form = {
  shown: (stored) => Buffer.from(stored as Uint8Array).toString('hex'),
  stored: (shown) => (typeof shown === 'string' && HEX_DIGITS.test(shown) ? Buffer.from(shown, 'hex') : undefined),
  expected: 'hexadecimal digits',
};
const HEX_DIGITS = /^(?:[0-9a-f]{2})*$/;

const PACKED_TEXT: Form = {
  shown: (stored) => (typeof stored === 'string' ? stored : unpacked(stored as Uint8Array)),
  stored: (shown) => (typeof shown === 'string' ? packed(shown) : undefined),
  expected: TEXT.expected,
};
const PACKED_JSON: Form = {
  shown: (stored) => JSON_TEXT.shown(PACKED_TEXT.shown(stored) as string),
  stored: (shown) => packed(JSON.stringify(shown)),
  expected: JSON_TEXT.expected,
};

const FORMS: Readonly<Record<string, Form>> = {
  ...{ text: TEXT, bigint: NUMBER, int: NUMBER, boolean: FLAG, jsonb: JSON_TEXT, bytea: BYTES, hex: HEX },
  ...{ packed_text: PACKED_TEXT, packed_json: PACKED_JSON, 'double precision': FLOAT },
};

/** One order of keys, whatever the ledger has made of it: PostgreSQL keeps none. */
function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== 'object' || value === null) return value;
  const fields = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(fields.map(([name, inner]) => [name, sorted(inner)]));
}

export interface Carried extends Column {
  readonly form: Form;
}

/** Filled in by the ledger in which a line arrives. */
const FILLED = new Set(['tenant', 'lane', 'key of scopes', 'beyond of memory_ids', 'who of uses', 'who of holds']);

/** The columns of a table that lines have, with their forms. */
export const carriedOf = (
  table: string,
  { own = {}, refers = [] }: Pick<Kind, 'own' | 'refers'> = {},
): readonly Carried[] =>
  columnsOf(table).flatMap((column) => {
    const { name, type, counted } = column;
    const referring = refers.find((one) => one.column === name);
    if (referring !== undefined) return [{ ...column, name: referring.as, type: 'text', form: TEXT }];
    if (counted || FILLED.has(name) || FILLED.has(`${name} of ${table}`) || name in own) return [];
    const form = FORMS[type];
    if (form === undefined) throw new Error(`no line can have the type ${type} of ${table}.${name}`);
    return [{ ...column, form }];
  });

/** Looked up for each line, and found in the text of the schema once. */
const carried = new Map<Kind, readonly Carried[]>();

export function carriedBy(kind: Kind): readonly Carried[] {
  const known = carried.get(kind);
  if (known !== undefined) return known;
  const made = carriedOf(kind.table, kind);
  carried.set(kind, made);
  return made;
}

/** As a line shows a column of a row. */
export const shown = ({ name, form }: Carried, row: Readonly<Record<string, Value>>): unknown => {
  const stored = row[name] ?? null;
  return stored === null ? null : form.shown(stored);
};

/** What is kept with consolidations that have ended. */
type Folded = 'answers' | 'plans' | 'calls';

/** A window may have been long, and so what was thought of it. */
const AT_ONCE = 50;

/** At least so many rows, unless there are no more: what is kept of consolidations, and what is still rows, one consolidation after the other. */
export function* keptRows(
  kept: Folded,
  lane: LaneId,
  { after, least }: { readonly after: readonly Value[] | null; readonly least: number },
): Script<readonly Row[]> {
  const rows: Row[] = [];
  for (let place = after; rows.length < least; ) {
    const given: Given = place === null ? {} : { after0: place[0] ?? 0, after1: place[1] ?? '' };
    const found = yield* all<PlaceRow>(place === null ? FIRST : LATER, { lane, limit: AT_ONCE, ...given });
    const thoughts = yield* thoughtsFrom(found.filter((row): row is PlaceRow & ThoughtRow => row.thought !== null));
    const open = yield* openRows(kept, found);
    for (const { id, created_at } of found) {
      const of = [...rowsIn(kept, thoughts.get(id)), ...(open.get(id) ?? [])];
      rows.push(...of.map((row) => ({ ...row, after0: created_at, after1: id })));
    }
    const last = found.at(-1);
    if (last === undefined || found.length < AT_ONCE) break;
    place = [last.created_at, last.id];
  }
  return rows;
}

interface PlaceRow {
  readonly id: string;
  readonly created_at: number;
  readonly thought: Uint8Array | null;
}

type OpenRow = Row & { readonly consolidation_id: string };

const PLACES = `SELECT id, created_at, thought FROM consolidations WHERE lane = ${LANE_NUMBER}`;
const IN_ORDER = 'ORDER BY created_at, id LIMIT @limit';
const FIRST = `${PLACES} ${IN_ORDER}`;
const LATER = `${PLACES} AND created_at >= @after0 AND (created_at, id) > (@after0, @after1) ${IN_ORDER}`;

/** Calls that are rows are lines of their own. */
function* openRows(kept: Folded, found: readonly PlaceRow[]): Script<ReadonlyMap<string, readonly OpenRow[]>> {
  if (kept === 'calls') return new Map();
  const rows = yield* all<OpenRow>(OPEN[kept], { ids: found.map(({ id }) => id) });
  return Map.groupBy(rows, (row) => row.consolidation_id);
}

const OPEN = {
  answers: 'SELECT * FROM answers WHERE consolidation_id IN :ids ORDER BY seq',
  plans: 'SELECT * FROM plans WHERE consolidation_id IN :ids ORDER BY round',
} as const;

/** As they were before they were folded. */
function rowsIn(kept: Folded, thought: KeptThought | undefined): readonly Row[] {
  if (thought === undefined) return [];
  if (kept !== 'plans') return thought[kept] as unknown as readonly Row[];
  return thought.plans.map((plan) => ({
    consolidation_id: plan.consolidationId,
    round: plan.round,
    plan: JSON.stringify(plan),
    shown: shownIn(plan),
  }));
}
