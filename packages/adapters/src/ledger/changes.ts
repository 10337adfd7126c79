import type {
  HeldOperation,
  LaneId,
  Memory,
  MemoryChange,
  MemoryVersion,
  Millis,
  Scope,
  TenantId,
  Tombstone,
  Webhook,
} from '@slowwave/engine';
import {
  memoryNotices,
  piecesOf,
  placeOfMessage,
  proposalOver,
  versionsOf,
  withTurned,
} from '@slowwave/engine/storing';
import { forgetWith } from './forgetting.ts';
import type { LaneRow } from './lane-life.ts';
import { numbersIn } from './page.ts';
import { blankQuestions, retractions } from './receipts.ts';
import { scopeKey, storedScopeKey } from './rows/columns.ts';
import { eventColumns, loadMemories, memoryColumns, type Numbered } from './rows/memory.ts';
import { REPLACE_ID, takeIds, type VersionRow, versionColumns, writtenIds } from './rows/version.ts';
import { all, inOne, insert, run, type Script, together, unawaited } from './script.ts';
import { forgetSummaries } from './summaries.ts';
import { activeWebhooks, noteDeliveries } from './webhooks.ts';

/** Memories that do not stand at the revision their change expects, belong to another tenant, or are being erased. */
export function* conflicts(
  tenant: TenantId,
  changes: readonly MemoryChange[],
  locked: readonly LaneRow[],
): Script<readonly string[]> {
  return conflictsWith(yield* standingOf(changes), { tenant, changes, locked });
}

/** The same where what stands is known. */
export function conflictsWith(rows: readonly StandingRow[], { tenant, changes, locked }: Checking): readonly string[] {
  const lanes = new Set(locked.filter(({ erasure }) => erasure === null).map(({ id }) => id));
  const standing = new Map(rows.map((row) => [row.id, row]));
  const stands = ({ memory, expectedRevision }: MemoryChange): boolean => {
    if (!lanes.has(memory.lane)) return false; // its owner is being erased
    const row = standing.get(memory.id);
    if (row === undefined) return expectedRevision === 0;
    return row.tenant === tenant && row.revision === expectedRevision;
  };
  return changes.filter((change) => !stands(change)).map(({ memory }) => memory.id);
}

interface Checking {
  readonly tenant: TenantId;
  readonly changes: readonly MemoryChange[];
  readonly locked: readonly LaneRow[];
}

/** At which revision the memories of changes stand. Needs the locks of their lanes. */
function* standingOf(changes: readonly MemoryChange[]): Script<readonly StandingRow[]> {
  if (changes.length === 0) return [];
  return yield* all<StandingRow>(SELECT_STANDING, { ids: changes.map(({ memory }) => memory.id) });
}

const SELECT_STANDING = 'SELECT id, tenant, revision FROM memories WHERE id IN :ids';

interface StandingRow {
  readonly id: string;
  readonly tenant: string;
  readonly revision: number;
}

interface ChangeBy {
  readonly tenant: TenantId;
  readonly consolidationId: string | null;
  readonly now: number;
  /** What is written with it; who changes the lane as well notes in it that it was updated. */
  readonly beside?: readonly Script<unknown>[];
  /** Where it was looked up with the locks, what writing needs. */
  readonly ready?: Ready;
}

/** What is looked up before changes are written. */
interface Ready {
  /** At which revision the memories of the changes stand. */
  readonly standing: readonly StandingRow[];
  readonly numbers: Numbers;
  /** The numbers of the scopes that are there. */
  readonly scopes: ReadonlyMap<string, number>;
  readonly listening: readonly Webhook[];
  /** What was concluded in the same lanes. */
  readonly concluded: readonly string[];
}

/** Needs the locks of the lanes. */
export function* readyFor(changes: readonly MemoryChange[], tenant: TenantId): Script<Ready> {
  if (changes.length === 0) return { standing: [], numbers: NONE, scopes: new Map(), listening: [], concluded: [] };
  const [rows, numbers, scopes, listening] = yield* together(
    all<StandingRow & { readonly is_concluded: number }>(SELECT_STANDING_AND_CONCLUDED, {
      ids: changes.map(({ memory }) => memory.id),
      lanes: [...new Set(changes.map(({ memory }) => memory.lane))],
    }),
    numbersOf(changes),
    scopeIds(memoriesOf(changes)),
    activeWebhooks(tenant),
  );
  const standing = rows.filter((row) => row.is_concluded === 0);
  const concluded = rows.filter((row) => row.is_concluded === 1).map(({ id }) => id);
  return { standing, numbers, scopes, listening, concluded };
}

const SELECT_STANDING_AND_CONCLUDED = `
  SELECT s.*, 0 AS is_concluded FROM (${SELECT_STANDING}) AS s
  UNION ALL SELECT id, '' AS tenant, 0 AS revision, 1 AS is_concluded FROM memories
    WHERE lane IN FEW (SELECT number FROM lanes WHERE id IN :lanes;) AND concluded = 1`;

interface Numbers {
  of(memory: Pick<Memory, 'id' | 'lane'>): Numbered;
  consolidation(id: string | null): number | null;
}

const none = (): never => {
  throw new Error('nothing changes, so nothing has a number');
};
const NONE: Numbers = { of: none, consolidation: none };

/** The numbers of memories, of their lanes and of the consolidations that change them; memories that are new get theirs. Needs the locks of the lanes. */
function* numbersOf(changes: readonly Pick<MemoryChange, 'memory' | 'expectedRevision' | 'events'>[]): Script<Numbers> {
  const idsOfSome = (isNew: boolean) =>
    changes.filter((one) => (one.expectedRevision === 0) === isNew).map(({ memory }) => memory.id);
  const rows = yield* all<{ id: string; number: number }>(SELECT_NUMBERS, {
    known: idsOfSome(false),
    rows: idsOfSome(true).map((id) => ({ id })),
    lanes: [...new Set(changes.map(({ memory }) => memory.lane))],
    thought: [...new Set(changes.flatMap(({ events }) => events.flatMap((event) => event.consolidationId ?? [])))],
  });
  const numbers = new Map(rows.map(({ id, number }) => [id, number]));
  const numberOf = (id: string): number => {
    const number = numbers.get(id);
    if (number === undefined) throw new Error(`${id} has no number`);
    return number;
  };
  return {
    of: ({ id, lane }) => ({ number: numberOf(id), lane: numberOf(lane) }),
    consolidation: (id) => (id === null ? null : numberOf(id)),
  };
}

const SELECT_NUMBERS = `
  SELECT id, number FROM memories WHERE id IN :known
  UNION ALL SELECT id, number FROM lanes WHERE id IN :lanes
  UNION ALL SELECT id, number FROM consolidations WHERE id IN :thought
  UNION ALL SELECT r.value ->> 'id', :number(memories) FROM :rows AS r`;

/** The changes, with conclusions that rest on what they change: those fall with it, and stand again when it is back. */
function* turning(changes: readonly MemoryChange[], { concluded, now }: Pick<Ready, 'concluded'> & { now: number }) {
  const written = new Set(changes.map(({ memory }) => memory.id));
  const others = concluded.filter((id) => !written.has(id));
  const conclusions = others.length === 0 ? [] : yield* loadMemories(BY_IDS, { ids: others });
  const rested = [...conclusions, ...memoriesOf(changes)].flatMap(piecesOf).filter((id) => !written.has(id));
  if (conclusions.length + rested.length === 0) return changes;
  const pieces = rested.length === 0 ? [] : yield* loadMemories(BY_IDS, { ids: [...new Set(rested)] });
  return withTurned({ changes, conclusions, pieces, now });
}

const BY_IDS = 'WHERE m.id IN :ids';

interface Changed {
  readonly changes: readonly MemoryChange[];
  readonly tombstones: readonly Tombstone[];
}

/**
 * Writes changed memories and the conclusions that turn with them, their new events and tombstones, and notes what is to be projected,
 * and of what webhooks are to be notified. Needs the locks of the memories' lanes.
 */
export function* writeChanges({ changes: asked, tombstones }: Changed, by: ChangeBy): Script<void> {
  const { tenant, now, beside } = by;
  const lanes = asked.map(({ memory }) => memory.lane);
  if (asked.length === 0) {
    yield* unawaited(inOne(...(beside ?? [])));
    return;
  }
  const { scopes, listening, concluded, ...ready } = by.ready ?? (yield* readyFor(asked, tenant));
  const changes = yield* turning(asked, { concluded, now });
  const isAsAsked = changes === asked;
  const scopeOf = yield* openScopes(memoriesOf(changes), isAsAsked ? scopes : undefined);
  const numbers = isAsAsked ? ready.numbers : yield* numbersOf(changes);
  const writing = inOne(
    writeRows(memoriesOf(changes), { tenant, scopeOf, numbers }),
    insert(
      'versions',
      changes.flatMap((change) => writtenVersions(change, numbers)),
      REPLACE_VERSION,
    ),
    ...takeVersions(changes, numbers),
    insert('memory_ids', changes.flatMap(writtenIds), REPLACE_ID),
    ...takeIds(changes),
    insert(
      'events',
      changes.flatMap(({ memory, events: of }) =>
        of.map((event) =>
          eventColumns(event, {
            memory: numbers.of(memory).number,
            consolidation: numbers.consolidation(event.consolidationId),
          }),
        ),
      ),
    ),
    insert('outbox', outboxRows(changes, by)),
    ...(beside ?? [touch(lanes, now)]),
  );
  yield* unawaited(writing, noteSources(sourcedIn(changes, numbers)));
  yield* forgetDeleted(changes);
  yield* endProposals(changes, by);
  yield* forgetWith(changes, { tenant, now });
  if (listening.length > 0) {
    const told = listening.some((webhook) => webhook.events.includes('memory.retracted'));
    yield* noteDeliveries(listening, [...memoryNotices(changes), ...(told ? yield* retractions(changes) : [])]);
  }
  for (const { memoryId, textHash, deletedAt } of tombstones) {
    yield* run(UPSERT_TOMBSTONE, { memoryId, textHash, tenant, at: deletedAt.at, seq: deletedAt.seq });
  }
}

const memoriesOf = (changes: readonly MemoryChange[]): readonly Memory[] => changes.map(({ memory }) => memory);

/** Memories at the revision they have, with versions of the same numbers that read otherwise. */
export function* rewriteMemories(memories: readonly Memory[], tenant: TenantId): Script<void> {
  const scopeOf = yield* openScopes(memories);
  const numbers = yield* numbersOf(
    memories.map((memory) => ({ memory, expectedRevision: memory.revision, events: [] })),
  );
  const versions = memories.flatMap((memory) => versionRows(memory, memory.versions, numbers));
  yield* inOne(writeRows(memories, { tenant, scopeOf, numbers }), insert('versions', versions, REPLACE_VERSION));
}

interface Writing {
  readonly tenant: TenantId;
  readonly scopeOf: (of: LaneScope) => number;
  readonly numbers: Numbers;
}

const writeRows = (memories: readonly Memory[], { tenant, scopeOf, numbers }: Writing): Script<number> =>
  insert(
    'memories',
    memories.map((memory) => memoryColumns(memory, { tenant, scope: scopeOf(memory), ...numbers.of(memory) })),
    REPLACE_MEMORY,
  );

/** Those that are new or read otherwise than before: what was said late can change, join or part the versions there were. */
function writtenVersions(change: MemoryChange, numbers: Numbers): readonly VersionRow[] {
  const before = new Set(versionsBefore(change).map((version) => JSON.stringify(version)));
  const { memory } = change;
  return versionRows(
    memory,
    memory.versions.filter((version) => !before.has(JSON.stringify(version))),
    numbers,
  );
}

/** In one statement, however many memories lose some: each part of a statement costs its parsing, and has parameters of its own. */
function takeVersions(changes: readonly MemoryChange[], numbers: Numbers): readonly Script<unknown>[] {
  const rows = changes.flatMap((change) => {
    const kept = new Set(change.memory.versions.map(({ number }) => number));
    const gone = versionsBefore(change).filter(({ number }) => !kept.has(number));
    return gone.map(({ number }) => ({ memory: numbers.of(change.memory).number, number }));
  });
  return rows.length === 0 ? [] : [run(TAKE_VERSIONS, { rows })];
}

const TAKE_VERSIONS = `
  DELETE FROM versions
  WHERE (memory, number) IN (SELECT (value ->> 'memory')::bigint, (value ->> 'number')::int FROM :rows AS r)`;

/** The versions that are stored: they follow from what was said until the revision that the change expects. */
const versionsBefore = ({ memory, expectedRevision }: MemoryChange): readonly MemoryVersion[] =>
  versionsOf(memory.timeline.filter(({ revision }) => revision <= expectedRevision));

const versionRows = (memory: Memory, versions: readonly MemoryVersion[], numbers: Numbers): readonly VersionRow[] =>
  versions.map((version) => versionColumns(numbers.of(memory).number, version, memory.timeline));

/** An event, by its memory and revision, and the messages it came from. */
interface Sourced {
  readonly memory: number;
  readonly revision: number;
  readonly sourceIds: readonly string[];
}

const sourcedIn = (changes: readonly MemoryChange[], numbers: Numbers): readonly Sourced[] =>
  changes.flatMap(({ memory, events }) =>
    events.map(({ revision, sourceIds }) => ({ memory: numbers.of(memory).number, revision, sourceIds })),
  );

/** Which messages of their lane events came from; nothing of those that are not there. */
export function* noteSources(events: readonly Sourced[]): Script<void> {
  const rows = events.flatMap(({ memory, revision, sourceIds }) =>
    [...new Set(sourceIds)].map((message) => {
      const { batchId: batch = null, place = null } = placeOfMessage(message) ?? {};
      return { memory, revision, message, batch, place };
    }),
  );
  if (rows.length > 0) yield* run(INSERT_EVENT_SOURCES, { rows });
}

/** These memories are to be projected; what was deleted may stand in a summary. */
export function* queueForIndex(changes: readonly MemoryChange[], by: ChangeBy): Script<void> {
  yield* insert('outbox', outboxRows(changes, by));
  yield* touch(
    changes.map(({ memory }) => memory.lane),
    by.now,
  );
  yield* forgetDeleted(changes);
}

const outboxRows = (changes: readonly MemoryChange[], { tenant, consolidationId }: ChangeBy) =>
  changes.map(({ memory: { id, lane } }) => ({ memory_id: id, tenant, lane, consolidation_id: consolidationId }));

const touch = (lanes: readonly LaneId[], now: number): Script<number> =>
  run('UPDATE lanes SET updated_at = greatest(updated_at, @now) WHERE id IN :lanes', {
    lanes: [...new Set(lanes)],
    now,
  });

function* forgetDeleted(changes: readonly MemoryChange[]): Script<void> {
  const deletedIn = changes.filter(({ events }) => events.some((event) => event.kind === 'DELETE'));
  for (const lane of new Set(deletedIn.map(({ memory }) => memory.lane))) yield* forgetSummaries(lane);
  yield* blankQuestions(changes);
}

interface LaneScope {
  readonly lane: LaneId;
  readonly scope: Scope;
}

/** The numbers of scopes in their lanes, given when they are first seen. Needs the locks of the lanes. */
export function* openScopes(
  scopes: readonly LaneScope[],
  known?: ReadonlyMap<string, number>,
): Script<(of: LaneScope) => number> {
  const wanted = new Map(scopes.map((one) => [keyOf(one), one]));
  const ids = new Map(known ?? (yield* scopeIds([...wanted.values()])));
  const missing = [...wanted].filter(([key]) => !ids.has(key)).map(([, one]) => one);
  if (missing.length > 0) {
    const lanes = missing.map(({ lane }) => lane);
    const numbers = yield* numbersIn('lanes', lanes);
    yield* insert(
      'scopes',
      missing.map(({ lane, scope }) => scopeColumns(numbers.get(lane) ?? null, scope)),
    );
    for (const [key, id] of yield* scopeIds(missing)) ids.set(key, id);
  }
  return (of) => {
    const id = ids.get(keyOf(of));
    if (id === undefined) throw new Error(`a scope of ${of.lane} is missing right after it was made`);
    return id;
  };
}

function* scopeIds(of: readonly LaneScope[]): Script<Map<string, number>> {
  const keys = [...new Map(of.map((one) => [keyOf(one), { lane: one.lane, key: scopeKey(one.scope) }])).values()];
  const rows = yield* all<{ id: number; lane: LaneId; key: Uint8Array }>(SELECT_SCOPES, { rows: keys });
  return new Map(rows.map(({ id, lane, key }) => [`${lane} ${Buffer.from(key).toString('hex')}`, id]));
}

const SELECT_SCOPES = `
  SELECT s.id, l.id AS lane, s.key FROM :rows AS r CROSS JOIN lanes l CROSS JOIN scopes s
  WHERE l.id = r.value ->> 'lane' AND s.lane = l.number AND s.key = decode(r.value ->> 'key', 'hex')`;

const keyOf = ({ lane, scope }: LaneScope): string => `${lane} ${scopeKey(scope)}`;

const scopeColumns = (lane: number | null, scope: Scope) => ({
  lane,
  key: storedScopeKey(scope),
  user_id: scope.userId,
  agent_id: scope.agentId,
  run_id: scope.runId,
  app_id: scope.appId,
});

const REPLACE_MEMORY = `ON CONFLICT (id) DO UPDATE SET
    scope = excluded.scope, confirmations = excluded.confirmations,
    last_confirmed_at = excluded.last_confirmed_at, revision = excluded.revision,
    version_count = excluded.version_count, live = excluded.live, forgotten_at = excluded.forgotten_at,
    gone_since = excluded.gone_since, expires_at = excluded.expires_at,
    history_from = excluded.history_from, profile_rank = excluded.profile_rank, placed = excluded.placed, concluded = excluded.concluded,
    updated_at = excluded.updated_at`;

export const REPLACE_VERSION = `ON CONFLICT (memory, number) DO UPDATE SET
    text = excluded.text, said_at = excluded.said_at, said_seq = excluded.said_seq, valid_from = excluded.valid_from,
    invalid_at = excluded.invalid_at, superseded_by = excluded.superseded_by, details = excluded.details,
    recorded_at = excluded.recorded_at`;

/**
 * Messages have an id of their own, or one that follows from their batch and their place in it, which are compared as numbers. All are
 * looked up one by one: joined while the ledger is young, whole tables would be read, and again for as long as the plan is kept.
 */
const INSERT_EVENT_SOURCES = `
  INSERT INTO event_sources (lane, message_seq, event_seq)
  WITH named AS MATERIALIZED (
    SELECT (SELECT k.lane FROM memories k WHERE k.number = (r.value ->> 'memory')::bigint) AS lane,
      (SELECT e.seq FROM events e
        WHERE e.memory = (r.value ->> 'memory')::bigint AND e.revision = (r.value ->> 'revision')::int) AS event,
      (SELECT own.number FROM messages own WHERE own.id = r.value ->> 'message') AS own,
      (SELECT b.number FROM batches b WHERE b.id = r.value ->> 'batch') AS batch, (r.value ->> 'place')::int AS place
    FROM :rows AS r
  ), said AS MATERIALIZED (
    SELECT m.number, m.lane, m.seq, m.batch, CASE WHEN m.id IS NULL THEN m.place END AS place FROM messages m
    WHERE m.number IN FEW (
      SELECT own FROM named
      UNION ALL SELECT i.number FROM messages i WHERE i.batch IN FEW (SELECT batch FROM named;);)
  )
  SELECT n.lane, s.seq, n.event FROM named n JOIN said s ON s.lane = n.lane AND s.number = n.own WHERE n.event IS NOT NULL
  UNION ALL
  SELECT n.lane, s.seq, n.event FROM named n JOIN said s ON s.lane = n.lane AND s.batch = n.batch AND s.place = n.place
  WHERE n.event IS NOT NULL`;

/** A text deleted twice from one memory is blocked up to the later deletion. */
const UPSERT_TOMBSTONE = `
  INSERT INTO tombstones (lane, text_hash, memory_id, deleted_at, deleted_seq)
  SELECT l.id, @textHash, m.id, @at, @seq FROM memories m JOIN lanes l ON l.number = m.lane
  WHERE m.id = @memoryId AND m.tenant = @tenant
  ON CONFLICT (lane, text_hash, memory_id) DO UPDATE SET
    deleted_at = excluded.deleted_at, deleted_seq = excluded.deleted_seq
  WHERE (excluded.deleted_at, excluded.deleted_seq) > (tombstones.deleted_at, tombstones.deleted_seq)`;

/** Deletions that ratings proposed are over where their rating or the text they are about is gone. Needs the locks of the lanes. */
function* endProposals(
  changes: readonly MemoryChange[],
  { tenant, now }: { readonly tenant: TenantId; readonly now: Millis },
): Script<void> {
  const rated = changes.flatMap(({ memory }) =>
    memory.timeline.some((mark) => mark.kind === 'rated') ? [[memory.id, memory] as const] : [],
  );
  if (rated.length === 0) return;
  const memories = new Map(rated);
  const proposed = yield* all<ProposedRow>(SELECT_PROPOSED, { tenant, memoryIds: [...memories.keys()] });
  for (const { id, memory_id: memoryId, operation } of proposed) {
    const { rated: version = 0 }: HeldOperation = JSON.parse(operation);
    const memory = memories.get(memoryId);
    const note = memory === undefined ? null : proposalOver(memory, version);
    if (note !== null) yield* run(END, { tenant, id, note, now });
  }
}

interface ProposedRow {
  readonly id: string;
  readonly memory_id: string;
  readonly operation: string;
}

const SELECT_PROPOSED = `
  SELECT id, memory_id, operation FROM reviews
  WHERE memory_id IN :memoryIds AND tenant = @tenant AND consolidation_id IS NULL AND state = 'pending'`;

const END = `
  UPDATE reviews SET state = 'stale', note = @note, settled_at = @now
  WHERE tenant = @tenant AND id = @id AND state = 'pending'`;
