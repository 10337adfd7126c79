import type { Compaction, Erasure, ErasureStore, LaneId, OwnerKind, TenantId } from '@slowwave/engine';
import { countFolded } from './kept-thoughts.ts';
import { endLinks, forgetUserInKeys } from './keys.ts';
import { lockOwner } from './lanes.ts';
import { OF_LANE, USES_OF_LANE } from './limits.ts';
import { LANE_NUMBER } from './page.ts';
import { forgetTopics } from './reviews.ts';
import type { ColumnsOf } from './rows/columns.ts';
import {
  type Access,
  all,
  allAs,
  counted,
  few,
  firstAs,
  idsOf,
  lookup,
  read,
  run,
  type Script,
  storeOf,
  write,
} from './script.ts';
import { lockLane, standingLanes } from './turn.ts';
import { count } from './usage.ts';
import { forgetUserInWebhooks } from './webhooks.ts';

/** `compact` overwrites what is free to be overwritten. No script: it runs outside of all transactions. */
export const erasureStore = (access: Access, compact: () => Promise<Compaction>): ErasureStore => ({
  ...scripted(access),
  compact,
});

const scripted = storeOf<Omit<ErasureStore, 'compact'>>('erasures', {
  /** Stores the erasure and cuts the owner's lane off: claims, turns and writers no longer get hold of it. */
  request: write(function* (tenant, owner, { id, ownerHash, now }) {
    const { kind, id: ownerId } = owner;
    if (kind === 'user') {
      yield* forgetUserInKeys({ tenant, userId: ownerId, now });
      yield* endLinks({ tenant, userId: ownerId });
      yield* forgetUserInWebhooks(tenant, ownerId);
    }
    yield* forgetTopics({ tenant, ownerHash, agentId: kind === 'agent' ? ownerId : null }, now);
    const lane = yield* lockOwner({ tenant, owner });
    const before = lane === null ? yield* firstAs(erasureFrom, SELECT_UNFINISHED, { tenant, ownerHash }) : null;
    if (before !== null) return before;
    yield* run(INSERT_ERASURE, { id, tenant, kind, ownerId, ownerHash, lane: lane?.id ?? null, now });
    if (lane !== null) yield* cutOff(lane.id, id);
    return yield* lockErasure(id);
  }),
  get: read((tenant, id) =>
    firstAs(erasureFrom, 'SELECT * FROM erasures WHERE tenant = @tenant AND id = @id AND departed IS NULL', {
      tenant,
      id,
    }),
  ),
  /** Oldest first. */
  open: few((limit) => {
    const text = "SELECT * FROM erasures WHERE state <> 'erased' ORDER BY requested_at, id LIMIT @limit";
    return allAs(erasureFrom, text, { limit });
  }),
  standing: lookup(function* (lane) {
    return (yield* standingLanes([lane])).has(lane);
  }),
  /** The next rows of one kind go, and are counted. */
  slice: write(function* (id, limit) {
    const { tenant, lane, departed } = yield* lockErasure(id);
    if (lane === null) return { more: false };
    yield* lockLane(lane);
    for (const kind of ERASING) {
      const ids = yield* idsOf(kind.pick, { lane, limit });
      if (ids.length === 0) continue;
      const gone = yield* deletePicked(kind, { lane, ids });
      yield* countErased(id, gone);
      const batches = gone.batches ?? 0;
      yield* count([
        departed ? { tenant, name: 'accepted', value: -batches } : { tenant, name: 'erased', value: batches },
      ]);
      return { more: true };
    }
    if (departed) yield* run("UPDATE erasures SET departed = 'gone' WHERE id = @id", { id });
    return { more: false };
  }),
  /** What still referred to the lane would keep its row from going. */
  forgetOwner: write(function* (id) {
    const { lane, tenant, owner, departed } = yield* lockErasure(id);
    if (owner?.kind === 'user') yield* forgetInFilters(tenant, { userId: owner.id, nobody: cutOffOwner(id) });
    yield* run(departed ? 'DELETE FROM erasures WHERE id = @id' : FORGET, { id });
    if (lane !== null) yield* run('DELETE FROM lanes WHERE id = @lane', { lane });
    if (departed) yield* run(NOTE_UNCOMPACTED);
  }),
  finish: write(function* (ids, { remains, now }) {
    yield* run(
      `UPDATE erasures SET state = 'erased', remains = @remains::jsonb, erased_at = @now
       WHERE id IN :ids AND state = 'compacting'`,
      { ids, remains: JSON.stringify(remains), now },
    );
  }),
});

const SELECT_UNFINISHED = `
  SELECT * FROM erasures WHERE tenant = @tenant AND owner_hash = @ownerHash AND state <> 'erased'
  ORDER BY requested_at DESC LIMIT 1`;

const INSERT_ERASURE = `
  INSERT INTO erasures (id, tenant, owner_kind, owner_id, owner_hash, lane, state, counts, remains, requested_at)
  VALUES (@id, @tenant, @kind, @ownerId, @ownerHash, @lane, 'requested', '{}', '[]', @now)`;

/** Nobody claims the lane, writes to it or finds it by its owner any more, who may have another one. */
export function* cutOff(lane: LaneId, id: string): Script<void> {
  yield* run(CUT_OFF, { lane, id, ownerId: cutOffOwner(id) });
}

const CUT_OFF = `
  UPDATE lanes SET owner_id = @ownerId, erasure = @id, state = 'idle', epoch = epoch + 1, generation = generation + 1,
    consolidation_id = NULL, due_at = NULL, pending = 0, pending_tokens = 0
  WHERE id = @lane`;

/** How many rows went of each table. */
function* deletePicked(
  { unclaimed, folded, changes = [], deletes }: Erasing,
  { lane, ids }: { readonly lane: LaneId; readonly ids: readonly string[] },
): Script<Readonly<Record<string, number>>> {
  for (const change of changes) yield* run(change, { ids });
  const gone: Record<string, number> = {};
  if (unclaimed !== undefined) gone.messages = yield* counted(unclaimed, { ids });
  if (folded) Object.assign(gone, yield* countFolded(ids));
  for (const [table, condition] of deletes) {
    const rows = yield* run(`DELETE FROM ${table} WHERE ${condition}`, { lane, ids });
    if (table !== 'unclaimed_messages') gone[table] = (gone[table] ?? 0) + rows;
  }
  return gone;
}

/** The counts with those of one slice added. */
function addCounts(counts: Erasure['counts'], gone: Readonly<Record<string, number>>): Erasure['counts'] {
  const sum: Record<string, number> = { ...counts };
  for (const [table, rows] of Object.entries(gone)) if (rows > 0) sum[table] = (sum[table] ?? 0) + rows;
  return sum;
}

/** A filter for nobody finds nothing; one without a user would find everybody. */
function* forgetInFilters(
  tenant: TenantId,
  { userId, nobody }: { readonly userId: string; readonly nobody: string },
): Script<void> {
  const replays = yield* all<{ id: string; filter: string }>(
    "SELECT id, filter FROM replays WHERE tenant = @tenant AND filter ->> 'userId' = @userId ORDER BY id FOR NO KEY UPDATE",
    { tenant, userId },
  );
  for (const { id, filter } of replays) {
    const forgotten = JSON.stringify({ ...JSON.parse(filter), userId: nobody });
    yield* run('UPDATE replays SET filter = @forgotten::jsonb WHERE id = @id', { id, forgotten });
  }
}

const FORGET = `
  UPDATE erasures SET state = 'compacting', owner_kind = NULL, owner_id = NULL, lane = NULL WHERE id = @id`;

/** Bytes are free to be overwritten that nobody is to read any more. */
export const NOTE_UNCOMPACTED = `
  INSERT INTO meta (key, value) VALUES ('uncompacted', '1')
  ON CONFLICT (key) DO UPDATE SET value = (CAST(meta.value AS bigint) + 1)::text`;
/** Adds to what an erasure has counted. */
export function* countErased(id: string, gone: Readonly<Record<string, number>>): Script<void> {
  const { counts } = yield* lockErasure(id);
  const sum = JSON.stringify(addCounts(counts, gone));
  yield* run("UPDATE erasures SET state = 'erasing', counts = @sum::jsonb WHERE id = @id", { id, sum });
}

/** Of two workers on one erasure, one counts after the other. */
function* lockErasure(id: string): Script<Erasure> {
  const erasure = yield* firstAs(erasureFrom, 'SELECT * FROM erasures WHERE id = @id FOR NO KEY UPDATE', { id });
  if (erasure === null) throw new Error(`there is no erasure ${id}`);
  return erasure;
}

interface ErasureRow extends ColumnsOf<Omit<Erasure, 'owner' | 'departed'>, 'counts' | 'remains'> {
  readonly owner_kind: OwnerKind | null;
  readonly owner_id: string | null;
  readonly departed: 'going' | 'gone' | null;
}

const erasureFrom = (row: ErasureRow): Erasure => ({
  id: row.id,
  tenant: row.tenant,
  owner: row.owner_kind === null || row.owner_id === null ? null : { kind: row.owner_kind, id: row.owner_id },
  ownerHash: row.owner_hash,
  lane: row.lane,
  state: row.state,
  counts: JSON.parse(row.counts),
  remains: JSON.parse(row.remains),
  requestedAt: row.requested_at,
  erasedAt: row.erased_at,
  departed: row.departed !== null,
});

/**
 * One kind of row of a lane, and what hangs on it. `:ids` are the rows that were picked; of rows without an id of their
 * own, where they lie.
 */
interface Erasing {
  /** Picks the next rows, as `id`. */
  readonly pick: string;
  /** How many messages go that are no rows yet. */
  readonly unclaimed?: string;
  /** What was thought goes with them, which has been rows, and is counted as it was. */
  readonly folded?: true;
  /** What is done first: rows that stay forget what they say of those that go. */
  readonly changes?: readonly string[];
  /** Table and condition, in the order in which they may go. */
  readonly deletes: readonly (readonly [table: string, condition: string])[];
}

const COUNT_UNCLAIMED = `
  SELECT coalesce(sum(b.message_count), 0)::bigint AS count FROM batches b
  WHERE b.id IN :ids AND EXISTS (SELECT 1 FROM unclaimed_messages u WHERE u.batch_id = b.id)`;

/** Any of the lane, as an index brings them: sorting would read all that is left for each slice. */
const pick = (table: string, id = 'id'): string => `SELECT ${id} AS id FROM ${table} WHERE lane = @lane LIMIT @limit`;
const pickNumbered = (table: string, id = 'id'): string =>
  `SELECT ${id} AS id FROM ${table} WHERE lane = ${LANE_NUMBER} LIMIT @limit`;

/** Of rows without an id. */
const pickPlaces = (table: string): string => pick(table, PLACE);
const PLACE = 'CAST(:place AS text)';

/** Of memories that were picked. */
const NUMBERS = 'SELECT number FROM memories WHERE id IN :ids';

/** Not by the place alone, which another row may have by now; and by no index of lanes, which would find all that is left. */
const AT_PLACES = ":place IN :ids::tid AND lane || '' = @lane";

/** Where an owner goes by the lane among apps and keys. */
const erasingWho = (table: string, ofLane: string): Erasing => ({
  pick: `SELECT who AS id FROM ${table} WHERE ${ofLane} LIMIT @limit`,
  deletes: [[table, `${ofLane} AND who IN :ids`]],
});

/** By a column of numbers: what is picked are texts. */
const erasingByNumber = (table: string, column: string): Erasing => ({
  pick: pickNumbered(table, `CAST(${column} AS text)`),
  deletes: [[table, `lane = ${LANE_NUMBER} AND CAST(${column} AS text) IN :ids`]],
});

/** What replays of these batches told goes. */
export const FORGET_REPLAYS = `
  UPDATE replays SET result = NULL,
    due_at = CASE WHEN kind = 'what_if' AND state <> 'discarded' THEN 0 ELSE due_at END,
    state = CASE WHEN kind = 'what_if' AND state <> 'discarded' THEN 'discarding' ELSE state END
  WHERE id IN (SELECT replay_id FROM replay_batches WHERE batch_id IN :ids)`;

/** Everything that carries a lane, in the order in which it goes: nothing refers to what is gone. */
export const ERASING: readonly Erasing[] = [
  { pick: pick('webhook_deliveries'), deletes: [['webhook_deliveries', 'id IN :ids']] },
  { pick: pick('receipts'), deletes: [['receipts', 'id IN :ids']] },
  { pick: pick('graph_relations'), deletes: [['graph_relations', 'id IN :ids']] },
  { pick: pick('graph_statements'), deletes: [['graph_statements', 'id IN :ids']] },
  {
    pick: pick('graph_entities'),
    deletes: [
      ['graph_names', 'entity IN :ids'],
      ['graph_entities', 'id IN :ids'],
    ],
  },
  { pick: pick('graph_turns', 'lane'), deletes: [['graph_turns', 'lane = @lane AND lane IN :ids']] },
  { pick: pick('sleeps', 'lane'), deletes: [['sleeps', 'lane = @lane AND lane IN :ids']] },
  {
    pick: pickNumbered('memories'),
    deletes: [
      ['event_sources', `event_seq IN FEW (SELECT e.seq FROM events e WHERE e.memory IN (${NUMBERS});)`],
      ['events', `memory IN FEW (${NUMBERS};)`],
      ['versions', `memory IN FEW (${NUMBERS};)`],
      ['credits', 'memory_id IN :ids'],
      ['memory_ids', 'memory_id IN :ids'],
      ['reviews', 'memory_id IN :ids AND consolidation_id IS NULL'],
      ['tombstones', 'memory_id IN :ids'],
      ['outbox', 'memory_id IN :ids'],
      ['memories', 'id IN :ids'],
    ],
  },
  {
    pick: pickNumbered('batches'),
    unclaimed: COUNT_UNCLAIMED,
    changes: [FORGET_REPLAYS],
    deletes: [
      ['replay_batches', 'batch_id IN :ids'],
      ['messages', 'batch IN (SELECT number FROM batches WHERE id IN :ids)'],
      ['unclaimed_messages', 'batch_id IN :ids'],
      ['idempotency_keys', 'batch_id IN :ids'],
      ['batches', 'id IN :ids'],
    ],
  },
  {
    pick: pickNumbered('consolidations'),
    folded: true,
    deletes: [
      ['graph_proposals', 'consolidation_id IN :ids'],
      ['graph_studies', 'consolidation_id IN :ids'],
      ['bulk_questions', 'consolidation_id IN :ids'],
      ['answers', 'consolidation_id IN :ids'],
      ['plans', 'consolidation_id IN :ids'],
      ['reviews', 'consolidation_id IN :ids'],
      ['wishes', 'consolidation_id IN :ids'],
      ['usage', 'consolidation_id IN :ids'],
      ['nights', 'consolidation_id IN :ids'],
      ['consolidations', 'id IN :ids'],
    ],
  },
  { pick: pick('reviews'), deletes: [['reviews', 'id IN :ids']] },
  {
    pick: pickNumbered('vectors', PLACE),
    deletes: [['vectors', `:place IN :ids::tid AND lane + 0 = ${LANE_NUMBER}`]],
  },
  { pick: pickPlaces('usage'), deletes: [['usage', AT_PLACES]] },
  erasingByNumber('usage_hours', 'at'),
  erasingWho('uses', USES_OF_LANE),
  erasingWho('holds', OF_LANE),
  { pick: pick('unprojected_lanes', 'lane'), deletes: [['unprojected_lanes', 'lane = @lane AND lane IN :ids']] },
  { pick: pick('undos'), deletes: [['undos', 'id IN :ids']] },
  { pick: pick('canary_lanes', 'lane'), deletes: [['canary_lanes', 'lane = @lane AND lane IN :ids']] },
  { pick: pickPlaces('tellings'), deletes: [['tellings', AT_PLACES]] },
  { pick: pickPlaces('task_states'), deletes: [['task_states', AT_PLACES]] },
  { pick: pick('suite_cases'), deletes: [['suite_cases', 'id IN :ids']] },
  { pick: pick('imports'), deletes: [['imports', 'id IN :ids']] },
  erasingByNumber('scopes', 'id'),
];

/** No caller can choose such an id: it begins with a control character. It is unique, like the erasure. */
export const cutOffOwner = (erasureId: string): string => `\u0001${erasureId}`;
