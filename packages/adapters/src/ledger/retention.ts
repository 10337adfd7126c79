import type {
  Content,
  HistoryRemoval,
  LaneId,
  MemoryEvent,
  Millis,
  RetentionStore,
  Statement,
  TenantId,
} from '@slowwave/engine';
import {
  cutOf,
  endsOf,
  evidenceByMessage,
  hasFallen,
  NOT_KEPT,
  quoteShown,
  readsOtherwise,
  withoutWords,
} from '@slowwave/engine/storing';
import { conflicts, queueForIndex, rewriteMemories } from './changes.ts';
import { FORGET_REPLAYS, NOTE_UNCOMPACTED } from './erasures.ts';
import {
  evidenceOf,
  forgetInSuites,
  loseQuotes,
  type MessageRow,
  namesOf,
  SELECT_CONSOLIDATED,
  SELECT_CONSOLIDATIONS,
  SELECT_MESSAGES,
  SELECT_SAYING,
  SELECT_STATEMENTS,
  SELECT_WISHES,
  SHOW,
  STAND,
  type StandingRow,
  type WishRow,
} from './forgetting.ts';
import { type Folding, refold } from './graph/refold.ts';
import { statementFrom } from './graph/rows.ts';
import { forgetVectors, stripThoughts } from './kept-thoughts.ts';
import type { LaneRow } from './lane-life.ts';
import { inLanes, LANE_NUMBER, laneIdOf } from './page.ts';
import { naming } from './rows/batch.ts';
import { type EventRow, saidColumns } from './rows/memory.ts';
import { markOf } from './rows/packed-record.ts';
import { ofBatches } from './schema.ts';
import { all, allAs, firstAs, idsOf, read, run, type Script, storeOf, together, update, write } from './script.ts';
import { projectSpeechAgain } from './speech.ts';
import { countDue, goOn, nextDue, type Stripping } from './stripping.ts';
import { lockLanes } from './turn.ts';

export const retentionStore = storeOf<RetentionStore>('retention', {
  tenants: read(() =>
    idsOf(
      'SELECT tenant AS id FROM settings UNION SELECT tenant FROM memories WHERE gone_since IS NOT NULL UNION SELECT tenant FROM wishes WHERE memory_id IS NULL ORDER BY id',
    ),
  ),
  lanes: read((tenant, after, limit) =>
    idsOf('SELECT id FROM lanes WHERE tenant = @tenant AND erasure IS NULL AND id > @after ORDER BY id LIMIT @limit', {
      tenant,
      after: after ?? '',
      limit,
    }),
  ),
  countMessages: read((tenant, before) => countDue(MESSAGES, { tenant, before })),
  removeMessages: write(function* (tenant, before, { now, limit }) {
    const given = { tenant, before, limit };
    const waiting = yield* nextDue<{ lane: LaneId }>(MESSAGES, `${laneIdOf('lane')} AS lane`, {
      ...given,
      locked: false,
    });
    const lanes = [...new Set(waiting.map(({ lane }) => lane))];
    // Whoever forgets or recalls something at the same time would write back what was read of messages before.
    yield* lockLanes(lanes);
    const ids = idsIn(
      yield* nextDue(MESSAGES, 'id', { ...given, lanes, locked: true, condition: `AND ${inLanes('lane + 0')}` }),
    );
    yield* loseQuotes(ids);
    yield* together(
      run(EMPTY_MESSAGES, {
        ids,
        content: JSON.stringify(NOT_KEPT),
      }),
      run(EMPTY_WISHES, { ids }),
      run(`UPDATE batches SET stripped_at = @now, metadata = '{}' WHERE id IN :ids`, { ids, now }),
      projectSpeechAgain(ids, now),
    );
    yield* goOn(MESSAGES, { tenant, before });
    return ids.length;
  }),
  countPlans: read((tenant, before) => countDue(PLANS, { tenant, before })),
  removePlans: write(function* (tenant, before, { now, limit }) {
    const ids = idsIn(yield* nextDue(PLANS, 'id', { tenant, before, limit, locked: true }));
    yield* stripThoughts(ids);
    yield* together(
      run('UPDATE graph_studies SET plan = NULL WHERE consolidation_id IN :ids', { ids }),
      run('UPDATE consolidations SET stripped_at = @now, summary = NULL WHERE id IN :ids', { ids, now }),
    );
    yield* goOn(PLANS, { tenant, before });
    return ids.length;
  }),
  histories: read((tenant, before, { after, limit }) => {
    return allAs(placeFrom, SELECT_HISTORIES, { tenant, before, limit, ...placeAfter(after) });
  }),
  removeHistories: write(function* (tenant, given) {
    const lanes = yield* lockLanes(given.map(({ memory }) => memory.lane));
    const standing = yield* unchanged(tenant, given, lanes);
    if (standing.length === 0) return 0;
    yield* emptyPast(tenant, standing);
    yield* forgetVectorsOf(standing);
    const otherwise = standing.filter(readsOtherwise).map((removal) => ({ ...removal, events: [] }));
    yield* queueForIndex(otherwise, { tenant, consolidationId: null, now: 0 });
    return standing.length;
  }),
  forgotten: read((tenant, before, { after, limit }) => {
    return allAs(placeFrom, SELECT_FORGOTTEN, { tenant, before, limit, ...placeAfter(after) });
  }),
  eraseForgotten: write(function* (tenant, given, now) {
    const locked = yield* lockLanes(given.map(({ memory }) => memory.lane));
    const busy = yield* busyLanes(locked);
    const free = locked.filter(({ id }) => !busy.has(id));
    const standing = yield* unchanged(tenant, given, free);
    for (const [lane, of] of Map.groupBy(standing, ({ memory }) => memory.lane)) {
      const memoryIds = of.map(({ memory }) => memory.id);
      yield* eraseWith({ tenant, lane, now }, { memoryIds, wishedIn: [] });
    }
    if (standing.length === 0) return 0;
    yield* emptyPast(tenant, standing);
    yield* run('UPDATE memories SET gone_since = NULL WHERE id IN :ids', {
      ids: standing.map(({ memory }) => memory.id),
    });
    yield* run(NOTE_UNCOMPACTED);
    return standing.length;
  }),
  eraseWishes: write(function* (tenant, before, { limit, now }) {
    const found = yield* all<WishedIn>(SELECT_WISHED, { tenant, before, limit });
    const locked = yield* lockLanes(found.map(({ lane }) => lane));
    const free = new Set(
      locked.filter(({ erasure, state }) => erasure === null && state !== 'consolidating').map(({ id }) => id),
    );
    const standing = found.filter(({ lane }) => free.has(lane));
    for (const [lane, of] of Map.groupBy(standing, (one) => one.lane)) {
      const wishedIn = of.map((one) => one.message_id);
      yield* eraseWith({ tenant, lane, now }, { memoryIds: [], wishedIn });
    }
    if (standing.length > 0) yield* run(NOTE_UNCOMPACTED);
    return standing.length;
  }),
  uncompacted: read(() =>
    firstAs(({ value }: { value: string }) => value, "SELECT value FROM meta WHERE key = 'uncompacted'"),
  ),
  compacted: write(function* (removal) {
    yield* run("DELETE FROM meta WHERE key = 'uncompacted' AND value = @removal", { removal });
  }),
  withoutMessages: read((tenant, ids) =>
    idsOf('SELECT id FROM batches WHERE +tenant = @tenant AND stripped_at IS NOT NULL AND id IN :ids', { tenant, ids }),
  ),
});

const MESSAGES: Stripping = { table: 'batches', at: 'accepted_at', ended: "'consolidated', 'empty', 'undone'" };
const PLANS: Stripping = { table: 'consolidations', at: 'created_at', ended: "'applied', 'split', 'undone'" };

const idsIn = (rows: readonly { readonly id: string }[]): readonly string[] => rows.map(({ id }) => id);

const EMPTY_MESSAGES = `
  UPDATE messages SET content = @content::jsonb, unhidden = NULL, name = NULL
  WHERE ${ofBatches('batch', 'ids')}`;

const EMPTY_WISHES = `
  UPDATE wishes SET quote = NULL WHERE message_id IN (SELECT m.id FROM lane_messages m WHERE ${ofBatches('m.batch', 'ids')})`;

interface Place {
  readonly memoryId: string;
  readonly from: Millis;
}

const placeFrom = (row: { id: string; place: Millis }): Place => ({ memoryId: row.id, from: row.place });
const placeAfter = (place: Place | null) => ({ afterFrom: place?.from ?? -1, afterId: place?.memoryId ?? '' });

/** In the order of the index. */
const SELECT_HISTORIES = `
  SELECT id, history_from AS place FROM memories
  WHERE tenant = @tenant AND history_from IS NOT NULL AND history_from < @before
    AND (history_from, id) > (@afterFrom, @afterId)
  ORDER BY history_from, id LIMIT @limit`;

/** In the order of the index. */
const SELECT_FORGOTTEN = `
  SELECT id, gone_since AS place FROM memories
  WHERE tenant = @tenant AND gone_since IS NOT NULL AND gone_since < @before
    AND (gone_since, id) > (@afterFrom, @afterId)
  ORDER BY gone_since, id LIMIT @limit`;

interface WishedIn {
  readonly message_id: string;
  readonly lane: LaneId;
}

const SELECT_WISHED = `
  SELECT DISTINCT w.message_id, w.lane FROM wishes w
  JOIN consolidations c ON c.id = w.consolidation_id AND c.state = 'applied' AND c.applied_at < @before
  JOIN lanes l ON l.id = w.lane AND l.erasure IS NULL AND l.state <> 'consolidating'
  WHERE w.tenant = @tenant AND w.memory_id IS NULL ORDER BY w.message_id LIMIT @limit`;

/** Those whose memory has not changed since it was read, in these lanes. */
function* unchanged<Removal extends Pick<HistoryRemoval, 'memory' | 'events'>>(
  tenant: TenantId,
  given: readonly Removal[],
  lanes: readonly LaneRow[],
) {
  const removals = given.map((removal) => ({ ...removal, expectedRevision: removal.memory.revision }));
  const changed = new Set(yield* conflicts(tenant, removals, lanes));
  return removals.filter(({ memory }) => !changed.has(memory.id));
}

/** What memories and their events said is no longer there. */
function* emptyPast(tenant: TenantId, removals: readonly Pick<HistoryRemoval, 'memory' | 'events'>[]): Script<void> {
  yield* rewriteMemories(
    removals.map(({ memory }) => memory),
    tenant,
  );
  yield* emptyEvents(
    removals.flatMap(({ events }) => events),
    tenant,
  );
}

/** Of the tenant alone. */
function* emptyEvents(events: readonly MemoryEvent[], tenant: TenantId): Script<void> {
  const memoryIds = [...new Set(events.map(({ memoryId }) => memoryId))];
  const known = yield* all<Pick<EventRow, 'seq' | 'memory_id' | 'revision'>>(SELECT_PLACES, { tenant, memoryIds });
  const seqs = new Map(known.map(({ seq, memory_id, revision }) => [`${memory_id} ${revision}`, seq]));
  const rows = events.flatMap((event) => {
    const seq = seqs.get(`${event.memoryId} ${event.revision}`);
    return seq === undefined ? [] : [{ seq, ...saidColumns(event) }];
  });
  yield* update('events', rows, 'seq');
}

const SELECT_PLACES = `
  SELECT e.seq, m.id AS memory_id, e.revision FROM events e JOIN memories m ON m.number = e.memory
  WHERE m.id IN :memoryIds AND +m.tenant = @tenant`;

function* forgetVectorsOf(removals: readonly HistoryRemoval[]): Script<void> {
  const ofLanes = Map.groupBy(removals, ({ memory }) => memory.lane);
  const hashesOf = (of: readonly HistoryRemoval[]) => of.flatMap(({ textHashes }) => textHashes);
  yield* together(...[...ofLanes].map(([lane, of]) => forgetVectors(lane, hashesOf(of))));
}

/**
 * What forgotten memories have taken with them goes for good: the words behind messages, wishes, fallen statements, and whatever
 * else says what they said. What is shown to anybody stays as it is. Needs the lock of the lane.
 */
function* eraseWith(folding: Folding, { memoryIds, wishedIn }: Erasing): Script<void> {
  const { lane, now } = folding;
  const [saying, own] = yield* together(
    idsOf(SELECT_SAYING, { memoryIds }),
    idsOf(SELECT_CONSOLIDATIONS, { memoryIds }),
  );
  const messageIds = [...new Set([...saying, ...wishedIn])];
  const erased: Erased = {
    memoryIds: new Set(memoryIds),
    consolidationIds: new Set(own),
    wishedIn: new Set(wishedIn),
  };
  const messages = yield* all<MessageRow>(SELECT_MESSAGES, { lane, ...naming(messageIds) });
  const batchIds = [...new Set(messages.map((row) => row.batch_id))];
  const consolidated = yield* idsOf(SELECT_CONSOLIDATED, { batchIds });
  const cut = yield* cutMessages(lane, messages, erased);
  yield* eraseStatements(folding, { consolidationIds: [...new Set([...own, ...consolidated])], cut, erased });
  const thought = yield* idsOf(SELECT_THOUGHT, {
    ...{ lane, batchIds, memoryIds, own },
    rows: memoryIds.map((id) => ({ id, mark: markOf(id).toString('hex') })),
  });
  yield* stripThoughts(thought);
  yield* together(
    run(FORGET_SOURCES, { memoryIds }),
    run('DELETE FROM reviews WHERE memory_id IN :memoryIds', { memoryIds }),
    run('DELETE FROM webhook_deliveries WHERE lane = @lane AND subject IN :memoryIds', { lane, memoryIds }),
    // Of what words each of them is nobody can say any more: they are made anew when they are needed.
    forgetVectors(lane),
    run('UPDATE graph_studies SET plan = NULL WHERE consolidation_id IN :thought', { thought }),
    run('UPDATE consolidations SET stripped_at = @now, summary = NULL WHERE id IN :thought', { thought, now }),
    run(FORGET_REPLAYS, { ids: batchIds }),
  );
  yield* forgetInSuites(folding, [...memoryIds, ...messageIds]);
}

const FORGET_SOURCES = `
  DELETE FROM event_sources WHERE event_seq IN (
    SELECT e.seq FROM memories m JOIN events e ON e.memory = m.number WHERE m.id IN :memoryIds)`;

interface Erasing {
  readonly memoryIds: readonly string[];
  /** Messages with wishes that found nothing. */
  readonly wishedIn: readonly string[];
}

/** Lanes that are worked on by who has read them already, or of which the index does not know all. */
function* busyLanes(lanes: readonly LaneRow[]): Script<ReadonlySet<LaneId>> {
  const unprojected = yield* idsOf<LaneId>(SELECT_UNPROJECTED, { lanes: lanes.map(({ id }) => id) });
  return new Set([...unprojected, ...lanes.filter(({ state }) => state === 'consolidating').map(({ id }) => id)]);
}

interface Erased {
  readonly memoryIds: ReadonlySet<string>;
  /** In which something was said of them. */
  readonly consolidationIds: ReadonlySet<string>;
  readonly wishedIn: ReadonlySet<string>;
}

/** What is left of messages that were cut. */
type Cut = ReadonlyMap<string, Content>;

function* cutMessages(lane: LaneId, messages: readonly MessageRow[], { memoryIds, wishedIn }: Erased): Script<Cut> {
  const ids = messages.map(({ id }) => id);
  const [evidence, wishes] = yield* together(evidenceOf(lane, ids), all<WishRow>(SELECT_WISHES, { ids }));
  const cameOf = evidenceByMessage(evidence);
  const wished = Map.groupBy(wishes, (wish) => wish.message_id);
  const cut = new Map<string, Content>();
  for (const { id, number, content, unhidden } of messages) {
    const own = wished.get(id) ?? [];
    const hiding = own.filter(({ hides }) => hides === 1);
    const isErased = (memoryId: string | null) => (memoryId === null ? wishedIn.has(id) : memoryIds.has(memoryId));
    const kept = cutOf(
      {
        content: JSON.parse(content) as Content,
        unhidden: unhidden === null ? null : (JSON.parse(unhidden) as Content),
      },
      {
        evidence: cameOf([id]),
        wishes: hiding.map(({ quote, memory_id: memoryId }) => ({ quote, memoryId })),
        isErased,
      },
    );
    yield* eraseWishes(own, isErased);
    if (kept === null) continue;
    cut.set(id, kept.unhidden ?? kept.content);
    yield* run(SHOW, {
      number,
      content: JSON.stringify(kept.content),
      unhidden: kept.unhidden === null ? null : JSON.stringify(kept.unhidden),
    });
  }
  return cut;
}

function* eraseWishes(wishes: readonly WishRow[], isErased: (memoryId: string | null) => boolean): Script<void> {
  const quotes = wishes.filter((wish) => isErased(wish.memory_id)).map(({ quote }) => quote);
  const left = new Set(withoutWords(wishes, quotes));
  for (const wish of wishes.filter((one) => !left.has(one)))
    yield* run('DELETE FROM wishes WHERE consolidation_id = @id AND number = @number', {
      id: wish.consolidation_id,
      number: wish.number,
    });
}

interface Standing {
  readonly consolidationIds: readonly string[];
  readonly cut: Cut;
  readonly erased: Erased;
}

/** Statements that fall with these memories alone, the entities that only those name, and quotes of hidden words. */
function* eraseStatements(folding: Folding, { consolidationIds, cut, erased }: Standing): Script<void> {
  const { lane } = folding;
  const rows = yield* all<StandingRow>(SELECT_STATEMENTS, { lane, ids: consolidationIds });
  if (rows.length === 0) return;
  const statements = rows.map((row) => ({ row, statement: statementFrom(row) }));
  const messageIds = [...new Set(statements.flatMap(({ statement }) => statement.messageIds))];
  const [evidence, nameOf] = yield* together(
    evidenceOf(folding.lane, messageIds),
    namesOf(
      lane,
      statements.map(({ statement }) => statement),
    ),
  );
  const cameOf = evidenceByMessage(
    evidence.map((one) => ({ ...one, forgotten: one.forgotten && erased.memoryIds.has(one.memoryId) })),
  );
  const goes = ({ row, statement }: { row: StandingRow; statement: Statement }): boolean =>
    row.state === 'undone'
      ? erased.consolidationIds.has(statement.consolidationId ?? '')
      : row.fallen === 1 && hasFallen(statement, cameOf(statement.messageIds), nameOf);
  const gone = statements.filter(goes);
  for (const { row, statement } of statements.filter((one) => !goes(one) && one.row.quote_said !== null)) {
    const said = JSON.parse(row.quote_said ?? '') as string;
    const left = statement.messageIds.flatMap((id) => {
      const content = cut.get(id);
      return content === undefined ? [] : [{ content, hidden: true }];
    });
    if (quoteShown(said, left) !== null) continue;
    const { id, fallen, counts } = row;
    yield* run(STAND, {
      id,
      fallen,
      counts,
      statement: JSON.stringify({ ...statement, quote: null }),
      quoteSaid: null,
    });
  }
  yield* eraseFallen(
    folding,
    gone.map(({ statement }) => statement),
  );
}

/** They count no longer, and neither does what follows from them alone. */
function* eraseFallen(folding: Folding, gone: readonly Statement[]): Script<void> {
  if (gone.length === 0) return;
  const { lane } = folding;
  const ids = gone.map(({ id }) => id);
  yield* run('DELETE FROM graph_statements WHERE lane = @lane AND id IN :ids', { lane, ids });
  yield* refold(folding, { statements: gone, entities: [] });
  const ends = [...new Set(gone.flatMap(endsOf))];
  const entities = yield* idsOf(SELECT_UNNAMED, { lane, ends });
  yield* together(run(TAKE_FOLLOWING, { lane, ids }), run(TAKE_RELATIONS, { lane, entities }));
  yield* together(
    run('DELETE FROM graph_proposals WHERE lane = @lane AND (source IN :entities OR destination IN :entities)', {
      lane,
      entities,
    }),
    run('DELETE FROM graph_names WHERE entity IN :entities', { entities }),
  );
  yield* run('DELETE FROM graph_entities WHERE lane = @lane AND id IN :entities', { lane, entities });
}

const SELECT_UNNAMED = `
  SELECT e.id FROM graph_entities e
  WHERE e.lane = @lane AND e.id IN :ends AND e.counts = 0 AND e.self = 0
    AND NOT EXISTS (SELECT 1 FROM graph_statements s WHERE s.lane = @lane AND s.source = e.id)
    AND NOT EXISTS (SELECT 1 FROM graph_statements s WHERE s.lane = @lane AND s.destination = e.id)
    AND NOT EXISTS (SELECT 1 FROM graph_entities m WHERE m.lane = @lane AND m.merged_into = e.id)`;

const TAKE_FOLLOWING = 'DELETE FROM graph_relations WHERE id IN :ids AND +lane = @lane AND counts = 0';

const TAKE_RELATIONS = `
  DELETE FROM graph_relations
  WHERE lane = @lane AND counts = 0 AND (source IN :entities OR destination IN :entities)`;

const ENDED = "c.state IN ('applied', 'split', 'parked', 'undone')";

/** What was thought of their messages, of them, and of others beside them. */
const SELECT_THOUGHT = `
  SELECT c.id FROM consolidations c WHERE c.id IN :own AND c.lane + 0 = ${LANE_NUMBER} AND ${ENDED}
  UNION SELECT c.id FROM reviews r JOIN consolidations c ON c.id = r.consolidation_id
    WHERE r.memory_id IN :memoryIds AND ${ENDED}
  UNION SELECT c.id FROM consolidations c WHERE c.lane = ${LANE_NUMBER} AND ${ENDED}
    AND EXISTS (SELECT 1 FROM jsonb_array_elements_text(c.batch_ids) AS b WHERE b.value IN :batchIds)
  UNION SELECT c.id FROM consolidations c WHERE c.lane = ${LANE_NUMBER} AND ${ENDED}
    AND EXISTS (SELECT 1 FROM :rows AS goes WHERE position(decode(goes.value ->> 'mark', 'hex') IN c.thought) > 0)
  UNION SELECT c.id FROM consolidations c JOIN plans p ON p.consolidation_id = c.id WHERE c.lane = ${LANE_NUMBER} AND ${ENDED}
    AND EXISTS (SELECT 1 FROM :rows AS goes WHERE position(goes.value ->> 'id' IN p.shown::text) > 0)`;

const SELECT_UNPROJECTED = `
  SELECT lane AS id FROM outbox WHERE lane IN :lanes
  UNION SELECT lane FROM graph_entities WHERE lane IN :lanes AND unprojected_at IS NOT NULL
  UNION SELECT lane FROM graph_relations WHERE lane IN :lanes AND unprojected_at IS NOT NULL
  UNION SELECT ${laneIdOf('lane')} FROM batches WHERE ${inLanes('lane')} AND projected_revision < speech_revision`;
