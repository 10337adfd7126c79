import type {
  HistoryPlace,
  HistoryRemoval,
  LaneId,
  MemoryEvent,
  RemovalSlice,
  RetentionStore,
  TenantId,
} from '@slowwave/engine';
import { NOT_KEPT, readsOtherwise } from '@slowwave/engine/storing';
import { type Access, asRead, asWrite } from './access.ts';
import { conflicts, queueForIndex, rewriteMemories } from './changes.ts';
import { eventColumns } from './rows/event.ts';
import { all, first, run, type Script, type Table, together, update } from './script.ts';
import { REVISE, tellHearers } from './speech.ts';
import { lockLanes } from './turn.ts';

export const retentionStore = ({ read, write }: Access): RetentionStore => ({
  tenants: () => read(tenants, null),
  lanes: (tenant, after, limit) => read(lanes, { tenant, after: after ?? '', limit }),
  countMessages: (tenant, before) => read(countMessages, { tenant, before }),
  removeMessages: (tenant, before, how) => write(removeMessages, { tenant, before, ...how }),
  countPlans: (tenant, before) => read(countPlans, { tenant, before }),
  removePlans: (tenant, before, how) => write(removePlans, { tenant, before, ...how }),
  histories: (tenant, before, page) => read(histories, { tenant, before, ...page }),
  removeHistories: (tenant, removals) => write(removeHistories, { tenant, removals }),
  withoutMessages: (tenant, ids) => read(withoutMessages, { tenant, ids }),
});

const tenants = asRead('retention.tenants', function* (): Script<readonly TenantId[]> {
  const rows = yield* all<{ tenant: TenantId }>('SELECT tenant FROM settings ORDER BY tenant');
  return rows.map(({ tenant }) => tenant);
});

interface Lanes {
  readonly tenant: TenantId;
  readonly after: string;
  readonly limit: number;
}

const lanes = asRead('retention.lanes', function* (of: Lanes): Script<readonly LaneId[]> {
  const text =
    'SELECT id FROM lanes WHERE tenant = @tenant AND erasure IS NULL AND id > @after ORDER BY id LIMIT @limit';
  return (yield* all<{ id: LaneId }>(text, { ...of })).map(({ id }) => id);
});

interface From {
  readonly tenant: TenantId;
  readonly before: number;
}

interface Removal extends From, RemovalSlice {}

/** In the words of the index of what is left to remove, here and below. */
const MESSAGES = `
  FROM batches WHERE tenant = @tenant AND accepted_at < @before AND stripped_at IS NULL
    AND state IN ('consolidated', 'empty', 'undone')`;

const countMessages = asRead('retention.countMessages', (of: From) => countOf(MESSAGES, of));

const removeMessages = asWrite('retention.removeMessages', function* ({ now, ...which }: Removal): Script<number> {
  const ids = yield* picked(`SELECT id ${MESSAGES} ORDER BY accepted_at LIMIT @limit`, which);
  yield* together(
    run('UPDATE messages SET content = @content::jsonb, name = NULL WHERE batch_id IN :ids', {
      ids,
      content: JSON.stringify(NOT_KEPT),
    }),
    run(`UPDATE batches SET stripped_at = @now, metadata = '{}', ${REVISE} WHERE id IN :ids`, { ids, now }),
    tellHearers(ids),
  );
  return ids.length;
});

const PLANS = `
  FROM consolidations WHERE tenant = @tenant AND created_at < @before AND stripped_at IS NULL
    AND state IN ('applied', 'split', 'undone')`;

const countPlans = asRead('retention.countPlans', (of: From) => countOf(PLANS, of));

const removePlans = asWrite('retention.removePlans', function* ({ now, ...which }: Removal): Script<number> {
  const ids = yield* picked(`SELECT id ${PLANS} ORDER BY created_at LIMIT @limit`, which);
  yield* together(
    run('DELETE FROM answers WHERE consolidation_id IN :ids', { ids }),
    run('DELETE FROM plans WHERE consolidation_id IN :ids', { ids }),
    run('UPDATE graph_studies SET plan = NULL WHERE consolidation_id IN :ids', { ids }),
    run('UPDATE consolidations SET stripped_at = @now, summary = NULL WHERE id IN :ids', { ids, now }),
  );
  return ids.length;
});

function* countOf(what: string, of: From): Script<number> {
  return (yield* first<{ count: number }>(`SELECT count(*) AS count ${what}`, { ...of }))?.count ?? 0;
}

/** What another sweep has just taken is left to it. */
function* picked(text: string, which: From & { readonly limit: number }): Script<readonly string[]> {
  const rows = yield* all<{ id: string }>(`${text} FOR UPDATE SKIP LOCKED`, { ...which });
  return rows.map(({ id }) => id);
}

interface Histories extends From {
  readonly after: HistoryPlace | null;
  readonly limit: number;
}

const histories = asRead('retention.histories', function* (of: Histories): Script<readonly HistoryPlace[]> {
  const { after, ...page } = of;
  const place = { afterFrom: after?.from ?? -1, afterId: after?.memoryId ?? '' };
  const rows = yield* all<{ id: string; history_from: number }>(SELECT_HISTORIES, { ...page, ...place });
  return rows.map(({ id, history_from: from }) => ({ memoryId: id, from }));
});

/** In the order of the index. */
const SELECT_HISTORIES = `
  SELECT id, history_from FROM memories
  WHERE tenant = @tenant AND history_from IS NOT NULL AND history_from < @before
    AND (history_from, id) > (@afterFrom, @afterId)
  ORDER BY history_from, id LIMIT @limit`;

interface RemoveHistories {
  readonly tenant: TenantId;
  readonly removals: readonly HistoryRemoval[];
}

const removeHistories = asWrite('retention.removeHistories', function* (of: RemoveHistories): Script<number> {
  const { tenant } = of;
  const lanes = yield* lockLanes(of.removals.map(({ memory }) => memory.lane));
  const removals = of.removals.map((removal) => ({ ...removal, expectedRevision: removal.memory.revision }));
  const changed = new Set(yield* conflicts(tenant, removals, lanes));
  const standing = removals.filter(({ memory }) => !changed.has(memory.id));
  if (standing.length === 0) return 0;
  yield* rewriteMemories(
    standing.map(({ memory }) => memory),
    tenant,
  );
  yield* emptyEvents(
    standing.flatMap(({ events }) => events),
    tenant,
  );
  yield* forgetVectors(standing);
  const otherwise = standing.filter(readsOtherwise).map((removal) => ({ ...removal, events: [] }));
  yield* queueForIndex(otherwise, { tenant, consolidationId: null, now: 0 });
  return standing.length;
});

/** Of the tenant alone: events are written by their ids. */
function* emptyEvents(events: readonly MemoryEvent[], tenant: TenantId): Script<void> {
  const ids = events.map(({ id }) => id);
  const own = yield* all<{ id: string }>('SELECT id FROM events WHERE tenant = @tenant AND id IN :ids', {
    tenant,
    ids,
  });
  const known = new Set(own.map(({ id }) => id));
  const rows = events.filter(({ id }) => known.has(id)).map((event) => eventColumns(event, tenant));
  yield* update(WHAT_EVENTS_SAY, rows);
}

const WHAT_EVENTS_SAY: Table<'id' | 'reason' | 'text' | 'details' | 'previous' | 'previous_hash'> = {
  name: 'events',
  columns: { id: 'text', reason: 'text', text: 'text', details: 'jsonb', previous: 'text', previous_hash: 'text' },
};

function* forgetVectors(removals: readonly HistoryRemoval[]): Script<void> {
  const ofLanes = Map.groupBy(removals, ({ memory }) => memory.lane);
  const text = 'DELETE FROM vectors WHERE lane = @lane AND text_hash IN :hashes';
  yield* together(
    ...[...ofLanes].map(([lane, of]) => run(text, { lane, hashes: of.flatMap(({ textHashes }) => textHashes) })),
  );
}

interface Batches {
  readonly tenant: TenantId;
  readonly ids: readonly string[];
}

const withoutMessages = asRead('retention.withoutMessages', function* (of: Batches): Script<readonly string[]> {
  const text = 'SELECT id FROM batches WHERE +tenant = @tenant AND stripped_at IS NOT NULL AND id IN :ids';
  return (yield* all<{ id: string }>(text, { ...of })).map(({ id }) => id);
});
