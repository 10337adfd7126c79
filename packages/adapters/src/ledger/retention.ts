import type { HistoryRemoval, LaneId, MemoryEvent, Millis, RetentionStore, TenantId } from '@slowwave/engine';
import { NOT_KEPT, readsOtherwise } from '@slowwave/engine/storing';
import { conflicts, queueForIndex, rewriteMemories } from './changes.ts';
import { busyLanes, eraseWith } from './erase-forgotten.ts';
import { NOTE_UNCOMPACTED } from './erasures.ts';
import { loseQuotes } from './forgetting.ts';
import { stripThoughts } from './kept-thoughts.ts';
import { inLanes, laneIdOf } from './page.ts';
import type { LaneRow } from './rows/lane.ts';
import { type EventRow, saidColumns } from './rows/memory.ts';
import { ofBatches } from './schema.ts';
import { all, allAs, firstAs, idsOf, read, run, type Script, storeOf, together, update, write } from './script.ts';
import { projectSpeechAgain } from './speech.ts';
import { countDue, goOn, nextDue, type Stripping } from './stripping.ts';
import { lockLanes } from './turn.ts';
import { forgetVectors } from './vectors.ts';

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
