import type {
  LaneId,
  LeftToDo,
  Memory,
  Millis,
  OutboxEntry,
  OutboxStore,
  Projected,
  SaidMessage,
  SetAside,
  SpokenBatch,
  TenantId,
  Turn,
} from '@slowwave/engine';
import { LEFT_MAX, placeOfMessage, sourcesOf } from '@slowwave/engine/storing';
import { notifyOfBatches } from './batches.ts';
import {
  consolidationIdOf,
  consolidationNumber,
  inSlices,
  LANE_NUMBER,
  type Refilled,
  type SliceAfter,
} from './page.ts';
import { creditsOf } from './receipts.ts';
import { loadMemories } from './rows/memory.ts';
import {
  type Access,
  all,
  allAs,
  counted,
  few,
  fewAtOnce,
  first,
  type Given,
  idsOf,
  insert,
  lastly,
  lookup,
  read,
  run,
  type Script,
  storeOf,
  together,
  write,
} from './script.ts';
import {
  endsBefore,
  isAsMade,
  LOST,
  NOTE_TOLD,
  NOTHING_LEFT,
  notAside,
  saidInLane,
  spokenBy,
  spokenRows,
  TO_PROJECT,
  TOLD,
  UNPROJECTED,
} from './speech.ts';
import { dueSummary } from './summaries.ts';
import { lockLane, lockLanes } from './turn.ts';

export function outboxStore(access: Access): OutboxStore {
  const { refillMemories: memories, refillSpeech: speech, ...store } = scripted(access);
  return {
    ...store,
    refill: async () => {
      const filled = await inSlices(memories);
      await inSlices(speech);
      return filled;
    },
  };
}

interface OutboxScripts extends Omit<OutboxStore, 'refill'> {
  refillMemories(slice: SliceAfter): Promise<Refilled>;
  refillSpeech(slice: SliceAfter): Promise<Refilled>;
}

const scripted = storeOf<OutboxScripts>('outbox', {
  /** Oldest first, without those of lanes that are set aside. */
  pending: few((limit, left = NOTHING_LEFT) =>
    entries(`${notAside('outbox.lane')} AND ${NOT_JUST_APPLIED} ORDER BY seq LIMIT @limit`, { limit, ...left }),
  ),
  ofLane: read((lane, limit) => entries('lane = @lane ORDER BY seq LIMIT @limit', { lane, limit })),
  ofMemories: read((ids) => entries('memory_id IN :ids ORDER BY seq', { ids })),
  ofConsolidation: fewAtOnce(leftOfConsolidation),
  clear: write(clear),
  setAside: write(setAside),
  takeUp: write(function* (lanes) {
    if (lanes.length > 0) yield* run('DELETE FROM unprojected_lanes WHERE lane IN :lanes', { lanes });
  }),
  /** Those to be tried again until then, first ones first. */
  aside: few((until, limit) => {
    const text = 'SELECT * FROM unprojected_lanes WHERE not_before <= @until ORDER BY not_before, lane LIMIT @limit';
    return allAs(asideFrom, text, { until, limit });
  }),
  countAside: read(() => counted('SELECT count(*) AS count FROM unprojected_lanes')),
  refillMemories: write(refillMemories),
  refillSpeech: write(refillSpeech),
  reproject: write(reproject),
  /** An entry that the last refill made is still there. */
  refilling: lookup(function* () {
    const text = `
      SELECT 1 AS found FROM outbox
      WHERE seq <= (SELECT CAST(value AS bigint) FROM meta WHERE key = 'outbox_refilled_to') LIMIT 1`;
    return (yield* first(text)) !== null;
  }),
});

interface EntryRow {
  readonly seq: number;
  readonly memory_id: string;
  readonly tenant: TenantId;
  readonly lane: LaneId;
}

const entries = (condition: string, given: Given): Script<readonly OutboxEntry[]> =>
  allAs(entryFrom, `SELECT seq, memory_id, tenant, lane FROM outbox WHERE ${condition}`, given);

const entryFrom = ({ seq, memory_id: memoryId, tenant, lane }: EntryRow): OutboxEntry => ({
  ...{ seq, memoryId, tenant, lane },
});

/** Asked for each entry: joined, all consolidations would be read. */
const NOT_JUST_APPLIED = `NOT coalesce((
  SELECT c.applied_at > @after AND c.applied_at <= @upTo FROM consolidations c WHERE c.id = outbox.consolidation_id), false)`;

function* leftOfConsolidation(turn: Turn, summaryEvery: number | null): Script<LeftToDo> {
  const { consolidationId: id, lane, batchIds } = turn;
  const [found, some, rows, ends, summary] = yield* together(
    entries('consolidation_id = @id ORDER BY seq', { id }),
    loadMemories(`WHERE l.erasure IS NULL AND m.id IN (${LEFT})`, { id, limit: LEFT_MAX }),
    spokenRows(`b.consolidation = ${consolidationNumber('@id')} AND ${UNPROJECTED} ORDER BY b.id`, { id }),
    endsBefore(batchIds),
    dueSummary(turn, summaryEvery),
  );
  const memories = found.length > LEFT_MAX ? null : some;
  const told = new Set(rows.map((row) => row.id));
  const isTold = (id: string): boolean => told.has(placeOfMessage(id)?.batchId ?? '');
  const { inTalk = [], apart = [] } = Object.groupBy(sourcesOf(memories ?? []), (id) =>
    isTold(id) ? 'inTalk' : 'apart',
  );
  const [beside, batches] = yield* lastly(
    together(besideMemories(memories, { lane, ids: apart }), spokenBy(rows, ends)),
  );
  const said =
    beside.said === null ? null : { ...beside.said, said: [...beside.said.said, ...saidIn(batches, new Set(inTalk))] };
  return { entries: found, memories, ...beside, said, batches, summary };
}

const LEFT = 'SELECT memory_id FROM outbox WHERE consolidation_id = @id';

const saidIn = (batches: readonly SpokenBatch[], ids: ReadonlySet<string>): readonly SaidMessage[] =>
  batches
    .flatMap(({ messages }) => messages)
    .filter(({ message }) => ids.has(message.id))
    .map(({ message, before }) => ({ message, before }));

/** `ids`: of the messages they came from, those that are not read with the batches. */
function* besideMemories(
  memories: readonly Memory[] | null,
  from: { readonly lane: LaneId; readonly ids: readonly string[] },
): Script<Pick<LeftToDo, 'said' | 'credits'>> {
  if (memories === null) return { said: null, credits: null };
  const [said, credits] = yield* together(saidInLane(from), creditsOf(memories.map((memory) => memory.id)));
  return { said, credits };
}

/**
 * All this was projected. Whoever clears entries of a consolidation holds its lock: of two at once, the second
 * must see that the first took the others. Answers with when the batches that are searchable by it were accepted.
 */
function* clear({ seqs, batches, from }: Projected, now: Millis): Script<readonly Millis[] | null> {
  const [ended, isSo] = yield* together(
    all<Ended>(LOCK_CONSOLIDATIONS, { seqs, batches: batches.map(({ id }) => id) }),
    isAsMade(from),
  );
  if (!isSo) return null;
  const writing = together(
    run('DELETE FROM outbox WHERE seq IN :seqs::bigint', { seqs }),
    finish(ended, { rows: batches, now }),
    run(NOTE_TOLD, { rows: batches }), // of those that are not finished with
  );
  const isHeard = ended.some((consolidation) => consolidation.is_heard === 1);
  const [, finished] = yield* isHeard ? writing : lastly(writing);
  if (isHeard) yield* notifyOfBatches(finished, now);
  return finished.map((row) => row.accepted_at);
}

interface Ended {
  readonly id: string;
  /** Its tenant has webhooks. */
  readonly is_heard: 0 | 1;
}

const LOCK_CONSOLIDATIONS = `
  SELECT id, EXISTS (SELECT 1 FROM webhooks w WHERE w.tenant = consolidations.tenant) AS is_heard FROM consolidations
  WHERE id IN FEW (
    SELECT consolidation_id FROM outbox WHERE seq IN :seqs::bigint
    UNION SELECT ${consolidationIdOf('consolidation')} FROM batches WHERE id IN :batches;)
  ORDER BY id FOR NO KEY UPDATE`;

interface Finished {
  readonly accepted_at: number;
  readonly id: string;
  readonly tenant: TenantId;
}

/** Applied batches whose consolidation has nothing left to project become what apply said, and are noted to be projected. */
function* finish(
  consolidations: readonly Ended[],
  given: { readonly rows: Projected['batches']; readonly now: Millis },
): Script<readonly Finished[]> {
  if (consolidations.length === 0) return [];
  return yield* all<Finished>(FINISH, { ids: consolidations.map(({ id }) => id), ...given });
}

/** The state is no condition that an index has: those of open batches are full of rows that were open a moment ago. */
const FINISH = `
  WITH told AS (${TOLD})
  UPDATE batches SET state = outcome, stage = 'done', searchable_at = @now,
    projected_revision = coalesce((SELECT t.revision FROM told t WHERE t.id = batches.id), projected_revision),
    points = coalesce((SELECT t.points FROM told t WHERE t.id = batches.id), points)
  WHERE consolidation IN FEW (
      SELECT c.number FROM consolidations c WHERE c.id IN :ids
        AND NOT EXISTS (SELECT 1 FROM outbox o WHERE o.consolidation_id = c.id)
        AND NOT EXISTS (
          SELECT 1 FROM batches b WHERE b.consolidation = c.number AND b.outcome IS NOT NULL AND ${UNPROJECTED}
            AND b.id NOT IN (SELECT t.id FROM told t));)
    AND +state = 'consolidating' AND outcome IS NOT NULL
  RETURNING accepted_at, id, tenant`;

interface AsideRow {
  readonly lane: LaneId;
  readonly failures: number;
  readonly not_before: number;
  readonly code: string;
  readonly message: string;
  readonly at: number;
}

/**
 * Lanes whose changes could not be projected, with when each is tried again. Under their locks none of them begins
 * to be erased; and in one order, whoever does it: two that wait for each other would be one too many.
 */
function* setAside(lanes: readonly SetAside[]): Script<void> {
  const asides = new Map(lanes.map((one) => [one.lane, one]));
  const locked = yield* lockLanes(asides.keys());
  const standing = locked.filter(({ erasure }) => erasure === null);
  yield* insert(
    'unprojected_lanes',
    standing.flatMap(({ id }) => asideColumns(asides.get(id))),
    REPLACE_ASIDE,
  );
}

const asideFrom = ({ lane, failures, not_before, code, message, at }: AsideRow): SetAside => ({
  lane,
  failures,
  notBefore: not_before,
  failure: { code, message, at },
});

function asideColumns(one: SetAside | undefined): readonly AsideRow[] {
  if (one === undefined) return [];
  const { lane, failures, notBefore, failure } = one;
  return [{ lane, failures, not_before: notBefore, code: failure.code, message: failure.message, at: failure.at }];
}

const REPLACE_ASIDE = `ON CONFLICT (lane) DO UPDATE SET failures = excluded.failures, not_before = excluded.not_before,
    code = excluded.code, message = excluded.message, at = excluded.at`;

/**
 * All memories again, a slice at a time so that no transaction is long. Entries get new numbers: one that was read
 * before may still be projected into the index that was lost, and cleared.
 */
function* refillMemories(slice: SliceAfter): Script<Refilled> {
  const text = 'SELECT id FROM memories WHERE id > @after ORDER BY id LIMIT @limit';
  const ids = yield* idsOf(text, { ...slice });
  if (ids.length === 0) return { last: null, filled: 0 };
  yield* run('DELETE FROM outbox WHERE consolidation_id IS NULL AND memory_id IN :ids', { ids });
  yield* run(
    `INSERT INTO outbox (memory_id, tenant, lane)
     ${TO_PROJECT} WHERE m.id IN :ids ORDER BY m.id`,
    { ids },
  );
  yield* run(REFILLED_TO);
  return { last: ids.at(-1) ?? null, filled: ids.length };
}

/** Until the entries up to this number are projected, the index misses memories. */
const REFILLED_TO = `
  INSERT INTO meta (key, value) SELECT 'outbox_refilled_to', coalesce(max(seq), 0)::text FROM outbox WHERE true
  ON CONFLICT (key) DO UPDATE SET value = excluded.value`;

/** The same of applied batches, with the messages of each. What is projected to the lost index meanwhile is projected once more. */
function* refillSpeech(slice: SliceAfter): Script<Refilled> {
  const text = `
    SELECT id FROM batches WHERE id > @after AND outcome IS NOT NULL ORDER BY id LIMIT @limit FOR NO KEY UPDATE`;
  const ids = yield* idsOf(text, { ...slice });
  yield* run(`${FORGET_TOLD} WHERE id IN :ids`, { ids });
  return { last: ids.at(-1) ?? null, filled: ids.length };
}

const FORGET_TOLD = `UPDATE batches SET projected_revision = ${LOST}, speech_revision = speech_revision + 1`;

/** All of a lane again. Entries get new numbers: one that was read before may still be projected, and cleared. */
export function* reproject(lane: LaneId): Script<void> {
  const locked = yield* lockLane(lane);
  if (locked === null || locked.erasure !== null) return;
  yield* run('DELETE FROM outbox WHERE lane = @lane AND consolidation_id IS NULL', { lane });
  yield* run(
    `INSERT INTO outbox (memory_id, tenant, lane)
     ${TO_PROJECT} WHERE l.id = @lane ORDER BY m.id`,
    { lane },
  );
  yield* run(`${FORGET_TOLD} WHERE lane = ${LANE_NUMBER} AND outcome IS NOT NULL`, { lane });
  for (const table of ['graph_entities', 'graph_relations']) {
    const again = 'unprojected_at = coalesce(unprojected_at, 0), revision = revision + 1';
    yield* run(`UPDATE ${table} SET ${again} WHERE lane = @lane AND counts = 1`, { lane });
  }
}
