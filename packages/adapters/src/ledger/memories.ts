import type {
  Application,
  Applied,
  LaneId,
  Memory,
  MemoryChange,
  MemoryStore,
  Message,
  Millis,
  NamedIds,
  Proposal,
  SaidId,
  SaidIdStore,
  Scope,
  Speaker,
  TenantId,
  Tombstone,
  Turn,
  UsedId,
  Written,
} from '@slowwave/engine';
import { attackNotice, besideOwner, KEY_OF, ownerOf, placeOfEvent, SAID_KINDS } from '@slowwave/engine/storing';
import { packed } from '../packed.ts';
import type { OwnedBy } from './away.ts';
import { unclaimedNamed, unclaimedOf, type WaitingMessageRow } from './batches.ts';
import { conflictsWith, readyFor, writeChanges } from './changes.ts';
import { leaningOn, noteWishes } from './forgetting.ts';
import { openStudy } from './graph/studies.ts';
import { dropFolded, foldedThought, type ToFold, toFold } from './kept-thoughts.ts';
import { finish } from './lane-life.ts';
import { laneScripts, requireAwake } from './lanes.ts';
import {
  consolidationNumber,
  isLaneStanding,
  isStanding,
  LANE_NUMBER,
  newestPart,
  ofOwner,
  pageOf,
  readCursor,
  where,
} from './page.ts';
import { openReviews, propose } from './reviews.ts';
import { type MessageRow, messageFrom, NAMED_MESSAGES, naming } from './rows/batch.ts';
import { BY_NUMBER, type EventRow, eventFrom, loadMemories, NEWEST_FIRST, SELECT_EVENTS } from './rows/memory.ts';
import { BESIDE_VERSION, type IdRow, READ_VERSIONS, versionFrom } from './rows/version.ts';
import {
  type Access,
  all,
  allAs,
  few,
  type Given,
  idsOf,
  lookup,
  read,
  run,
  type Script,
  snapshot,
  storeOf,
  together,
  write,
} from './script.ts';
import { findSpeech } from './speech.ts';
import { laneOfTurn, lockLanes, requireOneLane, saveLane } from './turn.ts';
import { activeWebhooks, noteDeliveries } from './webhooks.ts';

export function memoryStore(access: Access, newLaneId: (of: OwnedBy) => LaneId): MemoryStore {
  const store = scripted(access);
  const lanes = laneScripts(access);
  return {
    ...store,
    laneOf: async (tenant, owner, now) => {
      const known = await lanes.find(tenant, owner);
      if (known !== null) requireAwake(known);
      return known?.id ?? lanes.open({ tenant, owner, now, newId: newLaneId({ tenant, owner }) });
    },
    get: async (tenant, id) => (await store.many(tenant, [id]))[0] ?? null,
  };
}

const scripted = storeOf<Omit<MemoryStore, 'laneOf' | 'get'>>('memories', {
  apply: write(apply),
  write: write(writeExplicitly),
  many: read((tenant, ids) =>
    loadMemories('WHERE +m.tenant = @tenant AND l.erasure IS NULL AND m.id IN :ids', { tenant, ids }),
  ),
  unindexed: few(function* (lane, { forgottenSince: since, textHashes }) {
    const [memories, tombstones] = yield* together(
      loadMemories(`WHERE m.id IN (${SELECT_UNINDEXED})`, { lane, since }),
      tombstonesOf(lane, textHashes),
    );
    return { memories, tombstones };
  }),
  tombstones: read(tombstonesOf),
  list: read(function* (...[tenant, scope, now, page]) {
    const newest = newestPart(page, ['m.created_at', 'm.id']);
    const owned = ownedBy(tenant, scope);
    const condition = where([...owned.conditions, UNEXPIRED, newest.condition]);
    const memories = yield* loadMemories(condition, { ...owned.given, now, ...newest.params }, { order: NEWEST_FIRST });
    return pageOf(memories, page.limit, (memory) => [memory.createdAt, memory.id]);
  }),
  around: read(function* (tenant, { scope, at }, page) {
    const newest = newestPart(page, ['m.created_at', 'm.id']);
    const owned = ownedBy(tenant, scope, OF_OWNER);
    const condition = where([...owned.conditions, FOUND, SAID_AROUND, newest.condition]);
    const memories = yield* loadMemories(condition, { ...owned.given, at, ...newest.params }, { order: NEWEST_FIRST });
    return pageOf(memories, page.limit, (memory) => [memory.createdAt, memory.id]);
  }),
  liveIds: read((tenant, scope) => {
    const { conditions, given } = ownedBy(tenant, scope);
    const text = `SELECT m.id FROM memories m ${where(conditions)}`;
    return idsOf(`${text} ORDER BY m.created_at, m.id`, given);
  }),
  every: read((after, limit) =>
    loadMemories('WHERE m.id > @after AND l.erasure IS NULL', { after: after ?? '', limit }),
  ),
  leaning: snapshot(leaningOn),
  history: read(function* (tenant, id, page) {
    const after = readCursor(page.cursor, ['number'])?.[0] ?? 0;
    const rows = yield* all<EventRow>(SELECT_HISTORY, { tenant, id, after, limit: page.limit + 1 });
    const { results, nextCursor } = pageOf(rows, page.limit, (row) => [row.revision]);
    return { results: results.map(eventFrom), nextCursor };
  }),
  storedVersions: read((tenant, id) => allAs(versionFrom, SELECT_VERSIONS, { tenant, id })),
  event: read(function* (tenant, id) {
    const { from = '', to = '', revision = 0 } = placeOfEvent(id) ?? {};
    const rows = yield* all<EventRow>(SELECT_EVENT, { tenant, id, from, to, revision });
    return rows.map(eventFrom).find((event) => event.id === id) ?? null;
  }),
  /** In lane order. */
  sources: snapshot(function* (tenant, id, around) {
    const [memory] = yield* loadMemories('WHERE m.tenant = @tenant AND m.id = @id AND l.erasure IS NULL', {
      tenant,
      id,
    });
    if (memory === undefined) return [];
    const ids = memory.versions.flatMap(({ details }) => details.sourceIds);
    const rows = yield* all<SourceRow>(SELECT_SOURCES, { tenant, lane: memory.lane, ...naming(ids), ...around });
    return [...rows, ...(yield* unclaimedBeside(rows, around))].sort((a, b) => a.seq - b.seq).map(sourceFrom);
  }),
  messages: read(function* (tenant, ids) {
    const rows = yield* withUnclaimed(tenant, ids, yield* all<MessageRow>(SELECT_MESSAGES, { tenant, ...naming(ids) }));
    return new Map(rows.map((row) => [row.id, messageFrom(row)]));
  }),
  speakers: read(function* (tenant, ids) {
    const rows = yield* withUnclaimed(
      tenant,
      ids,
      yield* all<Speaker & { readonly id: string }>(SELECT_SPEAKERS, { tenant, ...naming(ids) }),
    );
    return new Map(rows.map(({ id, role, name }) => [id, { role, name }]));
  }),
});

const OF_TENANT = `FROM ${NAMED_MESSAGES} AS m WHERE m.tenant = @tenant AND ${isStanding('m.lane')}`;
const SELECT_MESSAGES = `SELECT m.* ${OF_TENANT}`;
const SELECT_SPEAKERS = `SELECT m.id, m.role, m.name ${OF_TENANT}`;

const SELECT_UNINDEXED = `
  SELECT memory_id FROM outbox WHERE lane = @lane
  UNION ALL SELECT id FROM memories WHERE lane = ${LANE_NUMBER} AND forgotten_at >= @since`;

/** After a memory of a lane (''), in the order in which they came there: conditions on m (memories). */
export const AFTER_IN_LANE = `m.lane = ${LANE_NUMBER}
    AND m.number > coalesce((SELECT number FROM memories WHERE id = @after), 0)`;

/** All of a lane. */
export const memoriesOfLane = (of: { lane: LaneId; after: string; limit: number }): Script<readonly Memory[]> =>
  loadMemories(`WHERE ${AFTER_IN_LANE}`, of, { order: BY_NUMBER });

/** Neither forgotten nor merged into another one. */
const FOUND = 'm.forgotten_at IS NULL AND m.gone_since IS NULL';

/** What is to come is shown since it was said where nothing was known before. */
const SAID_AROUND = `EXISTS (
  SELECT 1 FROM ${READ_VERSIONS} v
  WHERE v.memory = m.number AND (v.valid_from <= @at OR v.said_at <= @at) AND (v.invalid_at IS NULL OR v.invalid_at > @at))`;

interface Owned {
  readonly conditions: readonly (string | null)[];
  readonly given: Given;
}

/** Conditions on m (memories) for the live memories a scope means, or all: its owner's, narrowed by its other ids. */
export function ownedBy(tenant: TenantId, scope: Scope, of: string = LIVE_OF_OWNER): Owned {
  const owner = ownerOf(scope);
  const named = besideOwner(scope);
  return {
    conditions: ['m.tenant = @tenant', of, ...saidUnder(named)],
    given: { tenant, ownerKind: owner.kind, ownerId: owner.id, ...named },
  };
}

/** Conditions on m (memories): said or confirmed under each of these ids, which are given by their names. */
export const saidUnder = (named: NamedIds): readonly string[] =>
  SAID_KINDS.filter((kind) => named[KEY_OF[kind]] !== undefined).map(
    (kind) => `EXISTS (
      SELECT 1 FROM memory_ids i WHERE i.memory_id = m.id AND i.kind = '${kind}' AND i.id = @${KEY_OF[kind]})`,
  );

const OF_OWNER = `m.lane = (SELECT number FROM lanes WHERE ${ofOwner('@ownerKind', '@ownerId')})`;
export const LIVE_OF_OWNER = `m.live AND ${OF_OWNER}`;

export const UNEXPIRED = '(m.expires_at IS NULL OR m.expires_at > @now)';

interface TombstoneRow {
  readonly memory_id: string;
  readonly text_hash: string;
  readonly deleted_at: number;
  readonly deleted_seq: number;
}

function tombstonesOf(lane: LaneId, textHashes: readonly string[]): Script<readonly Tombstone[]> {
  const text = 'SELECT * FROM tombstones WHERE lane = @lane AND text_hash IN :textHashes';
  return allAs(tombstoneFrom, text, { lane, textHashes });
}

const tombstoneFrom = (row: TombstoneRow): Tombstone => ({
  memoryId: row.memory_id,
  textHash: row.text_hash,
  deletedAt: { at: row.deleted_at, seq: row.deleted_seq },
});

/** By an id of its own, or by that of its memory. */
const SELECT_EVENT = `
  ${SELECT_EVENTS} WHERE e.id = @id AND m.tenant = @tenant AND ${isLaneStanding('m.lane')}
  UNION ALL
  ${SELECT_EVENTS} WHERE m.id BETWEEN @from AND @to AND e.revision = @revision AND e.id IS NULL AND m.tenant = @tenant
    AND ${isLaneStanding('m.lane')}`;

const SELECT_HISTORY = `
  ${SELECT_EVENTS} WHERE m.id = @id AND m.tenant = @tenant AND e.revision > @after AND ${isLaneStanding('m.lane')}
  ORDER BY e.revision LIMIT @limit`;

const SELECT_VERSIONS = `
  SELECT x.*, ${BESIDE_VERSION}
  FROM memories m JOIN versions x ON x.memory = m.number JOIN events o ON o.memory = x.memory AND o.revision = x.number
  WHERE m.id = @id AND m.tenant = @tenant AND ${isLaneStanding('m.lane')} ORDER BY x.number`;

type SourceRow = MessageRow & { readonly lane: LaneId; readonly is_source: 0 | 1 };

const sourceFrom = (row: SourceRow): { message: Message; isSource: boolean } => ({
  message: messageFrom(row),
  isSource: row.is_source === 1,
});

/** A source named in another lane is none: what is said in another lane is another owner's. What is undone is nobody's neighbour. */
const SELECT_SOURCES = `
  WITH sources AS (
    SELECT m.number, m.lane, m.seq FROM ${NAMED_MESSAGES} AS m WHERE m.tenant = @tenant AND m.lane = @lane
  )
  SELECT m.*, CASE WHEN m.number IN (SELECT number FROM sources) THEN 1 ELSE 0 END AS is_source
  FROM lane_messages m
  WHERE m.number IN FEW (
    SELECT n.number FROM sources s
    JOIN lane_messages n ON n.lane = s.lane AND n.seq BETWEEN s.seq - @before AND s.seq + @after
    JOIN batches b ON b.id = n.batch_id AND (b.state <> 'undone' OR n.number = s.number);)
  ORDER BY m.seq`;

/** Neighbours that are not claimed yet. */
function* unclaimedBeside(
  rows: readonly SourceRow[],
  { before, after }: { readonly before: number; readonly after: number },
): Script<readonly SourceRow[]> {
  const places = rows.filter((row) => row.is_source === 1).map(({ seq }) => seq);
  const [lane, first] = [rows[0]?.lane, Math.min(...places)];
  if (lane === undefined || before + after === 0) return [];
  const upTo = Math.max(...places) + after;
  const near = yield* unclaimedOf(lane, { after: first - before - 1, upTo, limit: upTo - first + before });
  return near
    .filter(({ seq }) => places.some((place) => seq >= place - before && seq <= place + after))
    .map((row) => ({ ...row, is_source: 0 as const }));
}

/** Of messages that are named, those that were found, with those that are not claimed yet. */
function* withUnclaimed<Found extends { readonly id: string }>(
  tenant: TenantId,
  ids: readonly string[],
  rows: readonly Found[],
): Script<readonly (Found | WaitingMessageRow)[]> {
  if (rows.length === new Set(ids).size) return rows;
  const found = new Set(rows.map(({ id }) => id));
  return [
    ...rows,
    ...(yield* unclaimedNamed(
      tenant,
      ids.filter((id) => !found.has(id)),
    )),
  ];
}

/** Carries a plan out: everything or nothing. */
function* apply(turn: Turn, application: Application): Script<Applied> {
  const { changes, now, policy } = application;
  requireOneLane(turn, changes);
  const { tenant, consolidationId: id } = turn;
  const [lane, ready, thought] = yield* together(
    laneOfTurn(turn),
    readyFor(changes, tenant),
    toFold([id], application.plan),
  );
  if (lane === null) return { kind: 'fenced' };
  const memoryIds = conflictsWith(ready.standing, { tenant, changes, locked: [lane] });
  if (memoryIds.length > 0) return { kind: 'conflict', memoryIds };
  const changed = changes.length > 0 ? { ...lane, updated_at: Math.max(lane.updated_at, now) } : lane;
  const step = finish(changed, policy, now);
  const beside = [...ending(turn, application, thought), saveLane(step.lane)];
  yield* writeChanges(application, { tenant, consolidationId: id, now, beside, ready });
  yield* openReviews(turn, application);
  yield* noteWishes({ tenant, lane: lane.id, now }, id, application.wishes);
  if (application.attacks.length > 0) {
    yield* noteDeliveries(yield* activeWebhooks(tenant), [attackNotice(turn, application)]);
  }
  if (application.graph) yield* openStudy({ tenant, lane: lane.id, id, now });
  return { kind: 'applied', next: step.nudge };
}

function ending(turn: Turn, { batches, measured, now }: Application, thought: ToFold): readonly Script<unknown>[] {
  const id = turn.consolidationId;
  const rows = turn.batchIds.map((batchId) => {
    const outcome = batches.get(batchId);
    if (outcome === undefined) throw new Error(`the changes of ${id} do not mention its batch ${batchId}`);
    return { id: batchId, outcome };
  });
  return [
    run(END_BATCHES, { id, rows, now }),
    run(END_CONSOLIDATION, {
      id,
      thought: foldedThought(id, thought),
      figures: measured === null ? null : packed(JSON.stringify(measured)),
      now,
    }),
    ...dropFolded(thought),
    ...findSpeech(turn.batchIds, now),
  ];
}

const END_BATCHES = `
  UPDATE batches SET stage = 'project', outcome = n.outcome, applied_at = @now, failure = NULL,
    speech_revision = speech_revision + 1
  FROM (SELECT value ->> 'id' AS id, value ->> 'outcome' AS outcome FROM :rows AS r) AS n
  WHERE batches.id = n.id AND consolidation = ${consolidationNumber('@id')}`;

const END_CONSOLIDATION = `
  UPDATE consolidations SET state = 'applied', figures = @figures::bytea, thought = @thought::bytea,
    applied_at = @now, failure = NULL
  WHERE id = @id`;

interface Write {
  readonly changes: readonly MemoryChange[];
  readonly tombstones: readonly Tombstone[];
  readonly proposal?: Proposal | undefined;
  readonly now: Millis;
}

/** An explicit write: the same rows without a turn. */
export function* writeExplicitly(tenant: TenantId, change: Write): Script<Written> {
  const { changes, now } = change;
  const locking = lockLanes(changes.map(({ memory }) => memory.lane));
  const [locked, ready] = yield* together(locking, readyFor(changes, tenant));
  const memoryIds = conflictsWith(ready.standing, { tenant, changes, locked });
  if (memoryIds.length > 0) return { kind: 'conflict', memoryIds };
  yield* writeChanges(change, { tenant, consolidationId: null, now, ready });
  yield* propose(tenant, change);
  return { kind: 'written' };
}

export const saidIdStore = storeOf<SaidIdStore>('saidIds', {
  of: read(function* (tenant: TenantId, memoryId: string) {
    const rows = yield* all<IdRow>(SELECT_IDS, { tenant, memoryId });
    return rows.map(({ kind, id, first, last, beyond }) => ({ kind, id, first, last, indexed: beyond === null }));
  }),
  beyondIndex: lookup(function* (lane: LaneId, ids: readonly Pick<SaidId, 'kind' | 'id'>[]) {
    const found: (Pick<SaidId, 'kind' | 'id'> & { readonly memoryId: string })[] = [];
    for (const [kind, some] of Map.groupBy(ids, (one) => one.kind)) {
      const rows = yield* all<IdRow>(SELECT_BEYOND, { lane, kind, ids: some.map(({ id }) => id) });
      found.push(...rows.map(({ memory_id: memoryId, id }) => ({ kind, id, memoryId })));
    }
    return found;
  }),
  memories: snapshot(function* (tenant, { named, now }, page) {
    const [kind] = SAID_KINDS.filter((one) => named[KEY_OF[one]] !== undefined);
    if (kind === undefined) throw new Error('expected an agent, run or app, got none');
    const after = readCursor(page.cursor, ['string'])?.[0] ?? '';
    const asked = { tenant, now, kind, ...named, after, limit: page.limit + 1 };
    const ids = yield* idsOf(
      `${SELECT_UNDER} i.id = @${KEY_OF[kind]} AND ${saidUnder(named).join(' AND ')} ${IN_ORDER}`,
      asked,
    );
    const { results, nextCursor } = pageOf(ids, page.limit, (id) => [id]);
    return { results: yield* loadMemories('WHERE m.id IN :ids', { ids: results }), nextCursor };
  }),
  list: read(function* (tenant, page) {
    const [kind = '', id = ''] = readCursor(page.cursor, ['string', 'string']) ?? [];
    const rows = yield* all<UsedId>(SELECT_USED, { tenant, kind, id, limit: page.limit + 1 });
    return pageOf(rows, page.limit, (row) => [row.kind, row.id]);
  }),
});

/** By one of the ids: the index has them in the order of the memories, so that a page costs a page. */
const SELECT_UNDER = `
  SELECT i.memory_id AS id FROM memory_ids i CROSS JOIN memories m
  WHERE i.tenant = @tenant AND i.kind = @kind AND i.memory_id > @after AND m.id = i.memory_id
    AND m.live AND ${UNEXPIRED} AND ${isLaneStanding('m.lane')} AND`;

const IN_ORDER = 'ORDER BY i.memory_id LIMIT @limit';

const SELECT_USED = `
  SELECT i.kind, i.id, count(*) AS memories, min(i.first) AS first, max(i.last) AS last
  FROM memory_ids i CROSS JOIN memories m
  WHERE i.tenant = @tenant AND (i.kind, i.id) > (@kind, @id) AND m.id = i.memory_id AND m.live AND ${isLaneStanding('m.lane')}
  GROUP BY i.kind, i.id ORDER BY i.kind, i.id LIMIT @limit`;

const SELECT_IDS = `
  SELECT i.* FROM memories m JOIN memory_ids i ON i.memory_id = m.id
  WHERE m.id = @memoryId AND m.tenant = @tenant AND ${isLaneStanding('m.lane')}`;

const SELECT_BEYOND = 'SELECT memory_id, id FROM memory_ids WHERE beyond = @lane AND kind = @kind AND id IN :ids';
