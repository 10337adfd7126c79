import type {
  Candidate,
  Consolidation,
  KnownVectors,
  LaneId,
  MemoryEvent,
  Plan,
  StoredAnswer,
  TenantId,
} from '@slowwave/engine';
import { eventIdOf, packedVector, unpackedVector } from '@slowwave/engine/storing';
import { unpacked } from '../packed.ts';
import { LANE_NUMBER, laneIdOf } from './page.ts';
import { type ScopeColumns, scopeFrom } from './rows/columns.ts';
import { packedRecord, unpackedRecord } from './rows/packed-record.ts';
import { all, first, firstAs, idsOf, inOne, insert, run, type Script, together, unawaited } from './script.ts';
import { addToHours, CALL_COLUMNS, type CallRow, openKinds } from './usage-hours.ts';

/**
 * What a consolidation thought is rows while it is open: each answer is stored once, and who takes the turn over goes on with what is there.
 * When it has ended, all of it is one value in its own row: plans, answers, and what they were charged for. A graph's study, which
 * asks later, adds its answers to it in the same way. Whatever reads thoughts looks in both.
 *
 * Of a memory that was shown to the model the value has no text. An event has it, which never changes, and goes when it is to go.
 */
export interface KeptThought {
  /** By their rounds. */
  readonly plans: readonly Plan[];
  /** In the order they came. */
  readonly answers: readonly KeptAnswer[];
  readonly calls: readonly KeptCall[];
}

type KeptAnswer = Omit<AnswerRow, 'seq' | 'text'> & { readonly text: string };
export type KeptCall = Omit<CallRow, 'tenant' | 'lane'>;

/** As it is packed. What is the same in all of them is left out. */
interface Packed {
  readonly plans: readonly PackedPlan[];
  readonly answers: readonly PackedAnswer[];
  readonly calls: readonly Omit<KeptCall, 'consolidation_id'>[];
  /** What each of the plans showed to the model. */
  readonly shown: readonly (readonly Shown[])[];
}

type PackedPlan = Omit<Plan, 'candidates' | 'consolidationId' | 'events'> & { readonly events: readonly PackedEvent[] };
/** Its id is missing where it follows from that of its memory. */
type PackedEvent = Omit<MemoryEvent, 'id'> & Partial<Pick<MemoryEvent, 'id'>>;
type PackedAnswer = Omit<KeptAnswer, 'consolidation_id' | 'text'> &
  ({ readonly text: string } | { readonly answer: unknown });
/** Text and time are missing where an event has them, and the short id where it is its place. */
type Shown = Omit<Candidate, 'text' | 'saidAt' | 'shortId'> & Partial<Pick<Candidate, 'text' | 'saidAt' | 'shortId'>>;

const NOTHING: Packed = { plans: [], answers: [], calls: [], shown: [] };

interface PlanRow {
  readonly consolidation_id: string;
  readonly plan: Uint8Array;
}

interface SaidRow {
  readonly memory_id: string;
  readonly revision: number;
  readonly text: string | null;
  readonly said_at: number;
  readonly said_seq: number;
}

interface ValueRow {
  readonly id: string;
  readonly thought: Uint8Array | null;
}

export interface ThoughtRow extends ValueRow {
  readonly thought: Uint8Array;
}

/** What is to be folded of consolidations that end, with what is kept of them already. */
export interface ToFold {
  readonly kept: readonly ValueRow[];
  readonly plans: readonly PlanRow[];
  /** The plan that is being applied; no row has it. */
  readonly applied: Plan | null;
  readonly answers: readonly AnswerRow[];
  readonly calls: readonly CallRow[];
  readonly said: readonly SaidRow[];
}

type Place = Pick<Candidate, 'memoryId' | 'revision'>;

/** Which memories were shown, each at its revision. */
const placesOf = (some: readonly Place[]): readonly (readonly [memoryId: string, revision: number])[] =>
  some.map(({ memoryId, revision }) => [memoryId, revision]);

/** Those of a plan, as JSON. */
export const shownIn = ({ candidates }: Plan): string => JSON.stringify(placesOf(candidates));

/** A consolidation with one of its plans, if it has any, and as JSON what it was charged for and what the events say that it has shown. */
interface OpenRow extends ValueRow {
  readonly plan: Uint8Array | null;
  readonly calls: string | null;
  readonly said: string | null;
  /** The same of the plan that is being applied. */
  readonly said_applied: string | null;
}

/**
 * With the plan of a single one that is being applied. Three statements, sent together: the last opens the kinds of calls, for
 * `dropFolded` to count by. Needs the locks of their lanes.
 */
export function* toFold(ids: readonly string[], applied: Plan | null = null): Script<ToFold> {
  const [rows, answers] = yield* together(
    all<OpenRow>(SELECT_OPEN, { ids, rows: placesOf(applied?.candidates ?? []) }),
    all<AnswerRow>('SELECT * FROM answers WHERE consolidation_id IN :ids ORDER BY seq', { ids }),
    openKinds(ids),
  );
  const kept = [...new Map(rows.map((row) => [row.id, row])).values()];
  return {
    kept,
    plans: rows.flatMap(({ id, plan }) => (plan === null ? [] : [{ consolidation_id: id, plan }])),
    applied,
    answers,
    calls: kept.flatMap(({ calls }) => listIn<CallRow>(calls, CALL_COLUMNS).sort(byTime)),
    said: rows.flatMap(({ said, said_applied }) =>
      [said, said_applied].flatMap((list) => listIn<SaidRow>(list, SAID_COLUMNS)),
    ),
  };
}

/** Rows of a list of lists, by the names of what these have. */
function listIn<Row>(json: string | null, columns: readonly string[]): Row[] {
  const lists: readonly unknown[][] = json === null ? [] : JSON.parse(json);
  return lists.map((values) => Object.fromEntries(columns.map((name, i) => [name, values[i]])) as Row);
}

const byTime = (a: CallRow, b: CallRow): number => a.at - b.at || (a.id < b.id ? -1 : 1);

const SAID_COLUMNS = ['memory_id', 'revision', 'text', 'said_at', 'said_seq'];
const SAID = ['m.id', 'e.revision', 'e.text', 'e.said_at', 'e.said_seq'];

/** The events of such places. */
const eventsAt = (places: string): string => `
  FROM ${places} AS r CROSS JOIN memories m JOIN events e ON e.memory = m.number AND e.revision = (r.value ->> 1)::bigint
  WHERE m.id = r.value ->> 0`;

const listSaidAt = (places: string): string =>
  `(SELECT jsonb_agg(jsonb_build_array(${SAID.join(', ')})) ${eventsAt(places)})`;

/** A call that is not answered yet may still be. */
const SELECT_OPEN = `
  SELECT c.id, c.thought, p.plan,
    (SELECT jsonb_agg(jsonb_build_array(${CALL_COLUMNS.map((name) => `u.${name}`).join(', ')})) FROM usage u
     WHERE u.consolidation_id = c.id AND u.state = 'answered') AS calls,
    ${listSaidAt('jsonb_array_elements(p.shown)')} AS said, ${listSaidAt(':rows')} AS said_applied
  FROM consolidations c LEFT JOIN plans p ON p.consolidation_id = c.id WHERE c.id IN :ids ORDER BY p.round`;

/** What takes the place of a consolidation's rows. */
export function foldedThought(id: string, rows: ToFold): Uint8Array | null {
  const value = rows.kept.find((row) => row.id === id)?.thought ?? null;
  const own = <Row extends { readonly consolidation_id: string }>(of: readonly Row[]) =>
    of.filter((row) => row.consolidation_id === id);
  const [plans, answers, calls] = [own(rows.plans), own(rows.answers), own(rows.calls)];
  if (rows.applied === null && plans.length + answers.length + calls.length === 0) return value;
  const before = value === null ? NOTHING : (unpackedRecord(value, id) as Packed);
  const thought = plans.map(({ plan }) => JSON.parse(unpacked(plan)) as Plan).concat(rows.applied ?? []);
  const said = saidBy(rows.said);
  return packedThought(id, {
    plans: [...before.plans, ...thought.map(packedPlan)],
    shown: [...before.shown, ...thought.map(({ candidates }) => candidates.map((one, i) => shownFrom(one, i, said)))],
    answers: [...before.answers, ...answers.map(packedAnswer)],
    calls: [...before.calls, ...calls.map(packedCall)],
  });
}

/** Whoever is shown, or was charged for, is found by its id. */
const packedThought = (id: string, thought: Packed): Uint8Array =>
  packedRecord(thought, id, [
    ...thought.shown.flat().map(({ memoryId }) => memoryId),
    ...thought.calls.map((call) => call.id),
  ]);

const packedPlan = ({ candidates: _, consolidationId: __, events, ...plan }: Plan): PackedPlan => ({
  ...plan,
  events: events.map(({ id, ...event }) => (id === idOf(event) ? event : { id, ...event })),
});

const idOf = ({ memoryId, revision }: Pick<MemoryEvent, 'memoryId' | 'revision'>): string =>
  eventIdOf(memoryId, revision);

function packedAnswer({ consolidation_id: _, seq: __, text, ...answer }: AnswerRow): PackedAnswer {
  const said = unpacked(text);
  const value = valueIn(said);
  return value === undefined ? { ...answer, text: said } : { ...answer, answer: value };
}

/** What a text says that is JSON as we write it ourselves; undefined: it is not. */
function valueIn(text: string): unknown {
  try {
    const value: unknown = JSON.parse(text);
    return JSON.stringify(value) === text ? value : undefined;
  } catch {
    return undefined;
  }
}

const packedCall = ({ tenant: _, lane: __, consolidation_id: ___, ...call }: CallRow): Packed['calls'][number] => call;

type Said = (of: Place) => SaidRow | undefined;

function saidBy(rows: readonly SaidRow[]): Said {
  const known = new Map(rows.map((row) => [`${row.memory_id} ${row.revision}`, row]));
  return ({ memoryId, revision }) => known.get(`${memoryId} ${revision}`);
}

function shownFrom({ shortId, text, saidAt, ...candidate }: Candidate, place: number, said: Said): Shown {
  const event = said(candidate);
  const isSaid = event?.text === text && event.said_at === saidAt.at && event.said_seq === saidAt.seq;
  return { ...candidate, ...(shortId !== String(place) && { shortId }), ...(!isSaid && { text, saidAt }) };
}

/** The rows that are folded go; calls are counted by their hours. */
export function dropFolded({ plans, answers, calls }: ToFold): readonly Script<unknown>[] {
  const planned = [...new Set(plans.map((row) => row.consolidation_id))];
  const seqs = answers.map(({ seq }) => seq);
  const ids = calls.map(({ id }) => id);
  return [
    ...(planned.length === 0 ? [] : [run('DELETE FROM plans WHERE consolidation_id IN :planned', { planned })]),
    ...(seqs.length === 0 ? [] : [run('DELETE FROM answers WHERE seq IN :seqs::bigint', { seqs })]),
    ...(ids.length === 0 ? [] : [run('DELETE FROM usage WHERE id IN :ids', { ids }), addToHours(calls)]),
  ];
}

/** Folds what has come of consolidations from elsewhere, as far as they have ended. Nights have no batches. */
export function* foldEnded(ids: readonly string[]): Script<void> {
  const ended = yield* idsOf(SELECT_ENDED, { ids });
  if (ended.length > 0) yield* foldThoughts(ended);
}

const SELECT_ENDED = `
  SELECT id FROM consolidations WHERE id IN :ids AND +state IN ('applied', 'split', 'undone') AND batch_ids <> '[]'`;

/** Folds what there is of consolidations that have ended. Needs the locks of their lanes. */
export function* foldThoughts(ids: readonly string[]): Script<void> {
  const rows = yield* toFold(ids);
  const standing = rows.kept.map(({ id }) => id);
  yield* writeThoughts(standing.map((id) => ({ id, thought: foldedThought(id, rows) })));
  yield* inOne(...dropFolded(rows));
}

function* writeThoughts(rows: readonly ValueRow[]): Script<void> {
  for (const row of rows) yield* run('UPDATE consolidations SET thought = @thought::bytea WHERE id = @id', { ...row });
}

/** What the calls of a consolidation that has ended were charged for. */
export function* keptCalls(id: string): Script<readonly KeptCall[]> {
  const [row] = yield* all<ThoughtRow>(SELECT_KEPT, { ids: [id] });
  return row === undefined ? [] : callsIn(id, row.thought);
}

export const callsIn = (id: string, thought: Uint8Array): readonly KeptCall[] =>
  (unpackedRecord(thought, id) as Packed).calls.map((call) => ({ ...call, consolidation_id: id }));

export const answersIn = (id: string, thought: Uint8Array): readonly KeptAnswer[] =>
  (unpackedRecord(thought, id) as Packed).answers.map((answer) => answerOf(id, answer));

const SELECT_KEPT = 'SELECT id, thought FROM consolidations WHERE id IN :ids AND thought IS NOT NULL';

/** What values say, with the texts that events have. */
export function* thoughtsFrom(rows: readonly ThoughtRow[]): Script<ReadonlyMap<string, KeptThought>> {
  const values = rows.map(({ id, thought }) => [id, unpackedRecord(thought, id) as Packed] as const);
  const missing = values.flatMap(([, { shown }]) => shown.flat()).filter(({ text }) => text === undefined);
  const said = saidBy(missing.length === 0 ? [] : yield* all<SaidRow>(SELECT_SAID, { rows: placesOf(missing) }));
  return new Map(values.map(([id, value]) => [id, keptFrom(id, value, said)]));
}

const SELECT_SAID = `SELECT ${SAID.map((column, i) => `${column} AS ${SAID_COLUMNS[i]}`).join(', ')} ${eventsAt(':rows')}`;

function keptFrom(id: string, { plans, shown, answers, calls }: Packed, said: Said): KeptThought {
  const plansOf = plans.map((plan, i) => ({
    ...plan,
    events: plan.events.map((event) => ({ ...event, id: event.id ?? idOf(event) })),
    consolidationId: id,
    candidates: (shown[i] ?? []).map((one, place) => candidateFrom(one, place, said)),
  }));
  return {
    plans: plansOf,
    answers: answers.map((answer) => answerOf(id, answer)),
    calls: calls.map((call) => ({ ...call, consolidation_id: id })),
  };
}

function candidateFrom({ text, saidAt, ...shown }: Shown, place: number, said: Said): Candidate {
  const event = text === undefined ? said(shown) : undefined;
  return {
    ...shown,
    shortId: shown.shortId ?? String(place),
    text: text ?? event?.text ?? '',
    saidAt: saidAt ?? { at: event?.said_at ?? 0, seq: event?.said_seq ?? 0 },
  };
}

function answerOf(id: string, packedOne: PackedAnswer): KeptAnswer {
  if ('text' in packedOne) return { ...packedOne, consolidation_id: id };
  const { answer, ...rest } = packedOne;
  return { ...rest, text: JSON.stringify(answer), consolidation_id: id };
}

/** How many rows it would be. */
export function* countFolded(ids: readonly string[]): Script<Readonly<Record<'plans' | 'answers' | 'usage', number>>> {
  const rows = yield* all<ThoughtRow>(SELECT_KEPT, { ids });
  const count = { plans: 0, answers: 0, usage: 0 };
  for (const { id, thought } of rows) {
    const { plans, answers, calls } = unpackedRecord(thought, id) as Packed;
    count.plans += plans.length;
    count.answers += answers.length;
    count.usage += calls.length;
  }
  return count;
}

/** What was thought goes for good: what was charged stays, which says nothing of anybody's words. */
export function* stripThoughts(ids: readonly string[]): Script<void> {
  const rows = yield* all<ThoughtRow>(SELECT_KEPT, { ids });
  const left = rows.map(({ id, thought }) => {
    const { calls } = unpackedRecord(thought, id) as Packed;
    return { id, thought: calls.length === 0 ? null : packedThought(id, { ...NOTHING, calls }) };
  });
  yield* writeThoughts(left);
  yield* together(
    run('DELETE FROM answers WHERE consolidation_id IN :ids', { ids }),
    run('DELETE FROM plans WHERE consolidation_id IN :ids', { ids }),
  );
}

export interface ConsolidationRow extends ScopeColumns {
  readonly id: string;
  readonly tenant: TenantId;
  readonly lane: LaneId;
  readonly state: Consolidation['state'];
  readonly batch_ids: string;
  readonly variant: string | null;
  readonly rung: number | null;
  readonly attempts: number;
  readonly failure: string | null;
  readonly created_at: number;
  readonly applied_at: number | null;
  readonly stripped_at: number | null;
}

/** Consolidations with their scope's columns; add a WHERE on `c`. */
export const SELECT_CONSOLIDATIONS = `
  SELECT c.*, ${laneIdOf('c.lane')} AS lane, s.user_id, s.agent_id, s.run_id, s.app_id
  FROM consolidations c JOIN scopes s ON s.id = c.scope`;

export const consolidationFrom = (row: ConsolidationRow): Consolidation => ({
  id: row.id,
  tenant: row.tenant,
  lane: row.lane,
  scope: scopeFrom(row),
  state: row.state,
  batchIds: JSON.parse(row.batch_ids),
  variant: row.variant,
  ...(row.rung !== null && { rung: row.rung }),
  attempts: row.attempts,
  failure: row.failure === null ? null : JSON.parse(row.failure),
  createdAt: row.created_at,
  appliedAt: row.applied_at,
  ...(row.stripped_at !== null && { removedAt: row.stripped_at }),
});

export interface AnswerRow {
  /** Its place in the order they came. */
  readonly seq: number;
  readonly consolidation_id: string;
  readonly step: string;
  readonly input_hash: string;
  readonly text: Uint8Array;
  readonly truncated: 0 | 1;
  readonly model: string;
  readonly prompt_tokens: number;
  readonly cached_tokens: number;
  readonly completion_tokens: number;
  readonly at: number;
  readonly former: string | null;
}

/** A row, or with its text as it was said. */
export type AnswerOf = Omit<AnswerRow, 'seq' | 'text'> & { readonly text: Uint8Array | string };

export const answerFrom = (row: AnswerOf): StoredAnswer => ({
  step: row.step,
  inputHash: row.input_hash,
  text: typeof row.text === 'string' ? row.text : unpacked(row.text),
  truncated: row.truncated === 1,
  model: row.model,
  usage: {
    promptTokens: row.prompt_tokens,
    completionTokens: row.completion_tokens,
    ...(row.cached_tokens > 0 && { cachedTokens: row.cached_tokens }),
  },
  at: row.at,
  ...(row.former !== null && { former: row.former }),
});

/** Of these texts of a lane. */
export function* vectorsOf(
  lane: LaneId,
  fingerprint: string,
  textHashes: readonly string[],
): Script<ReadonlyMap<string, Float32Array | null>> {
  const rows = yield* all<VectorRow>(SELECT_VECTORS, { lane, fingerprint, rows: hashed(textHashes) });
  return new Map(rows.map(({ hash, vector }) => [hash, vector.length === 0 ? null : unpackedVector(vector)]));
}

interface VectorRow {
  readonly hash: string;
  readonly vector: Uint8Array;
}

const hashed = (hashes: readonly string[]) => hashes.map((hash) => ({ hash }));

const EMBEDDER = '(SELECT number FROM embedders WHERE fingerprint = @fingerprint)';

/** From the texts to their vectors: the other way round, SQLite would look through all that a lane has, once for each text. */
const SELECT_VECTORS = `
  SELECT h.value ->> 'hash' AS hash, v.vector FROM :rows AS h CROSS JOIN vectors v
  WHERE v.lane = ${LANE_NUMBER} AND v.embedder = ${EMBEDDER} AND v.text_hash = decode(h.value ->> 'hash', 'hex')`;

/** Keeps vectors of texts, so that they are embedded once. In one order, so that nobody waits in a circle. */
export function* storeVectors(lane: LaneId, fingerprint: string, vectors: KnownVectors): Script<void> {
  const held = yield* first<{ lane: number; embedder: number | null }>(SELECT_HELD, { lane, fingerprint });
  if (held === null) return; // it was erased in the meantime
  const embedder = held.embedder ?? (yield* openEmbedder(fingerprint));
  const rows = [...vectors].map(([hash, vector]) => ({
    ...{ lane: held.lane, embedder, text_hash: Buffer.from(hash, 'hex'), vector: bytesOf(vector) },
  }));
  yield* unawaited(
    insert(
      'vectors',
      rows.toSorted((a, b) => Buffer.compare(a.text_hash, b.text_hash)),
      'ON CONFLICT (lane, embedder, text_hash) DO NOTHING',
    ),
  );
}

/** A vector as it is kept; no bytes: the model refuses the text for good. */
const bytesOf = (vector: Float32Array | null): Buffer => Buffer.from(vector === null ? [] : packedVector(vector));

const SELECT_HELD = `
  SELECT l.number AS lane, ${EMBEDDER} AS embedder FROM lanes l WHERE l.id = @lane AND l.erasure IS NULL FOR KEY SHARE`;

/** The number of an embedder, given when it is first seen. */
export function* openEmbedder(fingerprint: string): Script<number> {
  yield* run('INSERT INTO embedders (fingerprint) VALUES (@fingerprint) ON CONFLICT DO NOTHING', { fingerprint });
  const number = yield* firstAs(
    (row: { number: number }) => row.number,
    'SELECT number FROM embedders WHERE fingerprint = @fingerprint',
    { fingerprint },
  );
  if (number === null) throw new Error(`the embedder ${fingerprint} is missing right after it was made`);
  return number;
}

/** All of a lane, or those of some texts. */
export function* forgetVectors(lane: LaneId, textHashes?: readonly string[]): Script<void> {
  const those = "AND text_hash IN (SELECT decode(h.value ->> 'hash', 'hex') FROM :rows AS h)";
  const condition = textHashes === undefined ? '' : those;
  yield* run(`DELETE FROM vectors WHERE lane = ${LANE_NUMBER} ${condition}`, { lane, rows: hashed(textHashes ?? []) });
}

/** By lanes, as the key of the table begins with them. */
export function* dropVectors(
  fingerprint: string,
  { after, limit }: { readonly after: LaneId | null; readonly limit: number },
): Script<LaneId | null> {
  const text = 'SELECT id, number FROM lanes WHERE id > @after ORDER BY id LIMIT @limit';
  const lanes = yield* all<{ id: LaneId; number: number }>(text, { after: after ?? '', limit });
  if (lanes.length === 0) return null;
  yield* run(`DELETE FROM vectors WHERE lane IN :numbers::bigint AND embedder = ${EMBEDDER}`, {
    ...{ numbers: lanes.map(({ number }) => number), fingerprint },
  });
  return lanes.at(-1)?.id ?? null;
}

/** Texts that the model refuses for good. Reads nothing but an index of them. */
export function* countRefused(fingerprint: string): Script<number> {
  const text = `SELECT count(*) AS texts FROM vectors WHERE embedder = ${EMBEDDER} AND length(vector) = 0`;
  return (yield* first<{ texts: number }>(text, { fingerprint }))?.texts ?? 0;
}
