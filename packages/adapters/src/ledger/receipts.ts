import type {
  Credited,
  FoldedRelation,
  LaneId,
  MemoryChange,
  NewReceipt,
  Notice,
  Owner,
  Receipt,
  ReceiptStore,
  TenantId,
  Told,
  Webhook,
} from '@slowwave/engine';
import {
  besideOwner,
  blankedBy,
  creditChanges,
  ID_ALPHABET,
  isRetracting,
  LOOKED_FOR_MAX,
  laneOfReceipts,
  relationNotice,
  retractionNotice,
} from '@slowwave/engine/storing';
import { newestFirst } from './page.ts';
import { type OwnerColumns, ownerFrom } from './rows/columns.ts';
import { all, first, idsOf, insert, lookup, read, run, type Script, storeOf, write } from './script.ts';
import { lockLane } from './turn.ts';
import { activeWebhooks, noteDeliveries } from './webhooks.ts';

export const receiptStore = storeOf<ReceiptStore>('receipts', {
  /** With the lock of the lane: what is forgotten is forgotten before or after this, and never in between. */
  append: write(function* (receipts) {
    const id = laneOfReceipts(receipts);
    const lane = id === null ? null : yield* lockLane(id);
    if (lane === null || (lane.erasure !== null && lane.erasure !== lane.cold)) return;
    const [memories, relations] = [receipts.flatMap(memoriesIn), receipts.flatMap(relationsIn)];
    const live = yield* idsOf('SELECT id FROM memories WHERE id IN :ids AND live', { ids: [...new Set(memories)] });
    const said = relations.length === 0 ? [] : yield* idsOf(SELECT_SAID, { ids: [...new Set(relations)] });
    const standing = new Set([...live, ...said]);
    // Nothing of an owner that sleeps was forgotten since it was read.
    const stands = (one: NewReceipt): boolean =>
      lane.cold !== null || [...memoriesIn(one), ...relationsIn(one)].every((id) => standing.has(id));
    const rows = receipts.flatMap((one) => rowsOf(stands(one) ? one : { ...one, ...BLANK }));
    yield* insert('receipts', rows, 'ON CONFLICT (id) DO NOTHING');
  }),
  get: read((tenant, id) => one(tenant, id)),
  ofMemory: read(function* (tenant, memoryId, page) {
    const heads = yield* newestFirst(OF_MEMORY, page, { tenant, memoryId, packed: packedId(memoryId) });
    return { ...heads, results: yield* whole(heads.results) };
  }),
  asked: read(function* (limit) {
    return yield* whole(yield* all<ReceiptRow>(SELECT_ASKED, { limit }));
  }),
  judge: write(function* (tenant, id, { outcome, now }) {
    const found = yield* one(tenant, id);
    if (found === null) return null;
    yield* lockLane(found.lane);
    const before = yield* one(tenant, id);
    if (before === null || before.outcome === outcome) return before;
    const after = { ...before, outcome };
    yield* run('UPDATE receipts SET outcome = @outcome WHERE id = @id', { id, outcome });
    const there = new Set(yield* idsOf('SELECT id FROM memories WHERE id IN :ids', { ids: memoriesIn(before) }));
    const changed = creditChanges(before, after).filter(({ memoryId }) => there.has(memoryId));
    const rows = changed.map(({ memoryId, ...credit }) => ({ memory_id: memoryId, ...credit, changed_at: now }));
    yield* insert('credits', rows, ADD_CREDIT);
    const memoryIds = [...new Set(changed.map(({ memoryId }) => memoryId))];
    const { lane } = before;
    if (memoryIds.length > 0) yield* run(NEWS, { lane, now });
    yield* insert(
      'outbox',
      memoryIds.map((memory_id) => ({ memory_id, tenant, lane })),
    );
    return after;
  }),
  credits: lookup((memoryIds) => creditsOf(memoryIds)),
  drop: write((before, limit) => run(DROP_OLD, { before, limit })),
});

/** By the key of the table. */
export const creditsOf = (memoryIds: readonly string[]): Script<readonly Credited[]> =>
  all(
    'SELECT memory_id AS "memoryId", version, good, bad, changed_at AS at FROM credits WHERE memory_id IN :memoryIds',
    { memoryIds },
  );

const memoriesIn = ({ told }: Pick<Receipt, 'told'>): readonly string[] =>
  told.flatMap((one) => (one.kind === 'memory' ? [one.id] : []));

const relationsIn = ({ told }: Pick<Receipt, 'told'>): readonly string[] =>
  told.flatMap((one) => (one.kind === 'relation' ? [one.id] : []));

const SELECT_SAID = 'SELECT id FROM graph_relations WHERE id IN :ids AND counts = 1';

/** Where something was told that is forgotten since. */
const BLANK = { question: null, filters: null } as const;

/** SQLite reads the tables of a cross join in this order: receipts as an index has them, and the lane of each. */
const SELECT_RECEIPTS = 'SELECT r.*, l.tenant, l.owner_kind, l.owner_id FROM receipts r CROSS JOIN lanes l';
const OF_STANDING_LANE = 'l.id = r.lane AND l.erasure IS NULL';

function* one(tenant: TenantId, id: string): Script<Receipt | null> {
  const [receipt = null] = yield* whole(yield* all<ReceiptRow>(SELECT_ONE, { tenant, id }));
  return receipt;
}

/** Receipts with what they told beyond their first row. */
function* whole(heads: readonly ReceiptRow[]): Script<Receipt[]> {
  const ids = heads.flatMap(({ id, parts }) => Array.from({ length: parts }, (_, i) => partId(id, i + 1)));
  const text = 'SELECT id, told FROM receipts WHERE id IN :ids ORDER BY id';
  const parts = ids.length === 0 ? [] : yield* all<ToldRow>(text, { ids });
  const ofHead = Map.groupBy(parts, ({ id }) => headOf(id));
  return heads.map((head) => receiptFrom(head, ofHead.get(head.id) ?? []));
}

const SELECT_ONE = `${SELECT_RECEIPTS} WHERE r.id = @id AND r.parts >= 0 AND ${OF_STANDING_LANE} AND l.tenant = @tenant`;

/** Ids rise with time. */
const SELECT_ASKED = `
  ${SELECT_RECEIPTS} WHERE r.id > '' AND r.parts >= 0 AND r.question IS NOT NULL AND ${OF_STANDING_LANE}
  ORDER BY r.id DESC LIMIT @limit`;

/** That a receipt told something, by a condition on `told` of one of its rows. */
const inAnyPart = (receipt: string, told: (row: string) => string): string => `(${told(receipt)}
  OR (${receipt}.parts > 0 AND EXISTS (
    SELECT 1 FROM receipts p WHERE p.id > ${receipt}.id || '~' AND p.id < ${receipt}.id || '~~' AND ${told('p')})))`;

const OF_MEMORY = {
  select: SELECT_RECEIPTS,
  by: ['r.at', 'r.id'] as const,
  always: [OF_STANDING_LANE, 'r.parts >= 0'],
  asked: {
    tenant: 'l.tenant = @tenant',
    memoryId: 'r.lane = (SELECT l.id FROM memories m JOIN lanes l ON l.number = m.lane WHERE m.id = @memoryId)',
    packed: inAnyPart('r', (row) => `position(decode(@packed, 'hex') IN ${row}.told) > 0`),
  },
  make: (row: ReceiptRow) => row,
};

/** What became of answers is looked at in the next night. */
const NEWS = 'UPDATE sleeps SET next_at = least(coalesce(next_at, @now), @now) WHERE lane = @lane';

const ADD_CREDIT = `ON CONFLICT (memory_id, version) DO UPDATE SET
  good = credits.good + excluded.good, bad = credits.bad + excluded.bad, changed_at = excluded.changed_at`;

/** Ids rise with time: the oldest come first, and no index by age is needed. What another one is just changing can wait. */
const DROP_OLD = `
  DELETE FROM receipts WHERE id IN (
    SELECT id FROM (
      SELECT id, at FROM receipts WHERE id > '' ORDER BY id LIMIT @limit FOR UPDATE SKIP LOCKED
    ) AS oldest WHERE at < @before)`;

interface Columns {
  readonly id: string;
  readonly lane: LaneId;
  readonly at: number;
  readonly route: Receipt['route'];
  readonly agent_id: string | null;
  readonly run_id: string | null;
  readonly app_id: string | null;
  readonly own_app: 0 | 1;
  readonly question: string | null;
  readonly filters: string | null;
  readonly as_of: number | null;
  readonly position: number;
  readonly told: Uint8Array;
  readonly parts: number;
}

interface ReceiptRow extends Columns, OwnerColumns {
  readonly tenant: Receipt['tenant'];
  readonly outcome: Receipt['outcome'];
}

/** A row has no more bytes than this, whatever was told, but for the ids of agent, run and app that were asked with. */
const ROW_MAX = 400;
/** What ids, times, numbers, an outcome and the row itself take at most, and the name of a part. */
const ROW_REST = 160;
const PART_DIGITS = 3;

const partId = (id: string, part: number): string => `${id}~${String(part).padStart(PART_DIGITS, '0')}`;
const headOf = (id: string): string => id.split('~', 1)[0] ?? id;

/** One row, and further ones for what does not fit into it. */
function rowsOf(receipt: NewReceipt): readonly Columns[] {
  const { agentId = null, runId = null, appId = null } = besideOwner(receipt.scope);
  const { id, lane, at, route, question, position } = receipt;
  const filters = receipt.filters === null ? null : JSON.stringify(receipt.filters);
  const next = ROW_MAX - ROW_REST;
  const first = next - Buffer.byteLength(question ?? '') - Buffer.byteLength(filters ?? '');
  const [told = Buffer.alloc(0), ...others] = packedTold(receipt.told, { first, next });
  const head: Columns = {
    ...{ id, lane, at, route, agent_id: agentId, run_id: runId, app_id: appId, own_app: receipt.ownApp ? 1 : 0 },
    ...{ question, filters, as_of: receipt.asOf, position, told, parts: others.length },
  };
  const part = { ...head, ...BLANK, agent_id: null, run_id: null, app_id: null, as_of: null, parts: -1 };
  return [head, ...others.map((rest, i) => ({ ...part, id: partId(id, i + 1), told: rest }))];
}

function receiptFrom(row: ReceiptRow, parts: readonly ToldRow[]): Receipt {
  return {
    id: row.id,
    tenant: row.tenant,
    lane: row.lane,
    at: row.at,
    route: row.route,
    scope: scopeFrom(row, ownerFrom(row)),
    ownApp: row.own_app === 1,
    question: row.question,
    filters: row.filters === null ? null : JSON.parse(row.filters),
    asOf: row.as_of,
    position: row.position,
    told: [row, ...parts].flatMap(({ told }) => unpackedTold(told)),
    outcome: row.outcome,
  };
}

/** The owner is that of the lane; the row has the ids that only filtered. */
const scopeFrom = ({ agent_id, run_id, app_id }: Columns, { kind, id }: Owner): Receipt['scope'] => ({
  userId: kind === 'user' ? id : null,
  agentId: kind === 'agent' ? id : agent_id,
  runId: kind === 'run' ? id : run_id,
  appId: app_id,
});

/** That a row says that one of the ids in `:rows` was told. */
const toldAny = (row: string): string =>
  `EXISTS (SELECT 1 FROM :rows AS k WHERE position(decode(k.value ->> 'packed', 'hex') IN ${row}.told) > 0)`;

const packedOf = (ids: readonly string[]) => ids.map((id) => ({ packed: packedId(id) }));

/** Questions go with what is forgotten by these changes. They do not come back when the memory does. */
export function* blankQuestions(changes: readonly MemoryChange[]): Script<void> {
  for (const [lane, memoryIds] of blankedBy(changes)) yield* blankAnyOf(lane, memoryIds);
}

/** null: all questions of the lane. */
const blankAnyOf = (lane: LaneId, ids: readonly string[] | null): Script<number> =>
  ids === null
    ? run(BLANK_ALL, { lane })
    : run(`${BLANK_ALL} AND ${inAnyPart('receipts', toldAny)}`, { lane, rows: packedOf(ids) });

/**
 * Relations that are no longer so: the questions of answers that told one which nothing says any more go with it, and webhooks
 * are notified of the answers.
 */
export function* withdrawRelations(
  { tenant, lane }: { readonly tenant: TenantId; readonly lane: LaneId },
  lost: readonly FoldedRelation[],
): Script<void> {
  const gone = lost.filter(({ counts }) => !counts).map(({ id }) => id);
  if (gone.length > 0) yield* blankAnyOf(lane, gone.length > LOOKED_FOR_MAX ? null : gone);
  const listening = lost.length === 0 ? [] : (yield* activeWebhooks(tenant)).filter(hearsOfRelations);
  if (listening.length === 0) return;
  const owner = yield* first<OwnerColumns>('SELECT owner_kind, owner_id FROM lanes WHERE id = @lane', { lane });
  if (owner === null) return;
  const of = { lane, owner: ownerFrom(owner) };
  const told = yield* newestTelling(
    lane,
    lost.map(({ id }) => id),
  );
  const byId = Map.groupBy(told, ({ one }) => one.id);
  const notices = lost.flatMap((relation) =>
    relationNotice(
      relation,
      of,
      (byId.get(relation.id) ?? []).map(({ receipt }) => receipt),
    ),
  );
  yield* noteDeliveries(listening, notices);
}

const hearsOfRelations = ({ events }: Webhook): boolean => events.includes('relation.retracted');

const BLANK_ALL = `
  UPDATE receipts SET question = NULL, filters = NULL
  WHERE lane = @lane AND (question IS NOT NULL OR filters IS NOT NULL)`;

/** Rows of a lane that are looked through when something is retracted: a change must not wait for more. */
const LOOKED_THROUGH = 1_000;

/** What webhooks are to be notified of where something was told that no longer holds: by the newest receipts of the lanes. */
export function* retractions(changes: readonly MemoryChange[]): Script<readonly Notice[]> {
  const notices: Notice[] = [];
  for (const [lane, some] of Map.groupBy(changes.filter(isRetracting), ({ memory }) => memory.lane)) {
    const found = yield* newestTelling(
      lane,
      some.map(({ memory }) => memory.id),
    );
    const told = found.flatMap(({ receipt, one }) =>
      one.kind === 'memory' ? [{ receipt, memory: one.id, version: one.version }] : [],
    );
    const byMemory = Map.groupBy(told, ({ memory }) => memory);
    notices.push(...some.flatMap((change) => retractionNotice(change, byMemory.get(change.memory.id) ?? [])));
  }
  return notices;
}

/** What the newest receipts of a lane told: those that told one of these, or all of them where these are many. */
function* newestTelling(
  lane: LaneId,
  ids: readonly string[],
): Script<readonly { readonly receipt: string; readonly one: Told }[]> {
  const newest = { lane, limit: LOOKED_THROUGH };
  const found = yield* ids.length > LOOKED_FOR_MAX
    ? all<ToldRow>(selectTold(), newest)
    : all<ToldRow>(selectTold(toldAny('newest')), { ...newest, rows: packedOf(ids) });
  return found.flatMap((row) => unpackedTold(row.told).map((one) => ({ receipt: headOf(row.id), one })));
}

type ToldRow = Pick<Columns, 'id' | 'told'>;

const selectTold = (condition = 'TRUE'): string => `
  SELECT id, told FROM (
    SELECT id, at, told FROM receipts WHERE lane = @lane ORDER BY at DESC, id DESC LIMIT @limit
  ) AS newest WHERE ${condition} ORDER BY at DESC, id DESC`;

/**
 * What an answer told, in as few bytes as ids need, in one piece or several. Each entry:
 *   a number in groups of 7 bits, the lowest first: version × 4 + form
 *   form 0, 1   the 26 digits of a memory's id, of another one's: 130 bits in 17 bytes
 *   form 2, 3   an id of any other shape, of a memory, of something else: its length in the same way, and its text
 * What is no memory has no version, and its kind in place of it: 0 a message, 1 a relation.
 */
export function packedTold(told: readonly Told[], room: Room): Uint8Array[] {
  const pieces: Uint8Array[][] = [[]];
  let left = room.first;
  for (const entry of told.map((one) => Buffer.concat(packedOne(one)))) {
    const piece = pieces.at(-1) ?? [];
    if (entry.length <= left || piece.length === 0) piece.push(entry);
    else pieces.push([entry]);
    left = (piece === pieces.at(-1) ? left : room.next) - entry.length;
  }
  return pieces.map((piece) => Buffer.concat(piece));
}

/** So many bytes may each piece have, and one entry anyway: the row of the first has more besides. */
interface Room {
  readonly first: number;
  readonly next: number;
}

/** What an id is among the bytes of what was told, in hex. */
export const packedId = (id: string): string => idBytes(id).toString('hex');

/** What was told, one by one. */
export function unpackedTold(bytes: Uint8Array): Told[] {
  const all = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const told: Told[] = [];
  for (let at = 0; at < all.length; ) {
    const head = numberAt(all, at);
    const form = head.value % FORMS;
    const length = form < LITERAL ? { value: PACKED_BYTES, next: head.next } : numberAt(all, head.next);
    at = length.next + length.value;
    const id = idFrom(all.subarray(length.next, at), head.value);
    const number = Math.floor(head.value / FORMS);
    told.push(isMemory(form) ? { kind: 'memory', id, version: number } : { kind: OTHERS[number] ?? 'message', id });
  }
  return told;
}

const DIGITS = 26;
const PACKED_BYTES = 17;
const BASE = 32n;
const DIGITS_OF_ID = new RegExp(`^(?:mem|msg|sta)_([${ID_ALPHABET}]{${DIGITS}})$`);

/** The first form of ids that are no digits. */
const LITERAL = 2;
const FORMS = 4;

const isMemory = (form: number): boolean => form % 2 === 0;

/** Kinds without versions, by their number, and how their ids begin. */
const OTHERS = ['message', 'relation'] as const;
const PREFIXES = ['msg', 'sta'] as const;

function packedOne(told: Told): Uint8Array[] {
  const id = idBytes(told.id);
  const isDigits = DIGITS_OF_ID.test(told.id);
  const form = (isDigits ? 0 : LITERAL) + (told.kind === 'memory' ? 0 : 1);
  const head = packedNumber((told.kind === 'memory' ? told.version : OTHERS.indexOf(told.kind)) * FORMS + form);
  return isDigits ? [head, id] : [head, packedNumber(id.length), id];
}

function idBytes(id: string): Buffer {
  const digits = DIGITS_OF_ID.exec(id)?.[1];
  return digits === undefined ? Buffer.from(id) : packedDigits(digits);
}

function idFrom(bytes: Buffer, head: number): string {
  const form = head % FORMS;
  if (form >= LITERAL) return bytes.toString();
  const prefix = isMemory(form) ? 'mem' : (PREFIXES[Math.floor(head / FORMS)] ?? 'msg');
  return `${prefix}_${unpackedDigits(bytes)}`;
}

/** Numbers in groups of 7 bits, the lowest first. */
const GROUP = 128;

export function packedNumber(value: number): Uint8Array {
  const bytes: number[] = [];
  for (let rest = value; ; rest = Math.floor(rest / GROUP)) {
    if (rest < GROUP) return Buffer.from([...bytes, rest]);
    bytes.push((rest % GROUP) + GROUP);
  }
}

export function numberAt(bytes: Uint8Array, from: number): { readonly value: number; readonly next: number } {
  let value = 0;
  for (let at = from, factor = 1; ; at += 1, factor *= GROUP) {
    const byte = bytes[at] ?? 0;
    value += (byte % GROUP) * factor;
    if (byte < GROUP) return { value, next: at + 1 };
  }
}

function packedDigits(digits: string): Buffer {
  const number = [...digits].reduce((sum, digit) => sum * BASE + BigInt(ID_ALPHABET.indexOf(digit)), 0n);
  return Buffer.from(number.toString(16).padStart(PACKED_BYTES * 2, '0'), 'hex');
}

function unpackedDigits(bytes: Buffer): string {
  let digits = '';
  for (let rest = BigInt(`0x${bytes.toString('hex')}`), i = 0; i < DIGITS; i += 1, rest /= BASE) {
    digits = (ID_ALPHABET[Number(rest % BASE)] ?? '') + digits;
  }
  return digits;
}
