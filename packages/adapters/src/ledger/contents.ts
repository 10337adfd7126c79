import type { ContentStore, KeptSummary, LookupStore, OwnedIds } from '@slowwave/engine';
import { read, storeOf } from './access.ts';
import { memoriesOfLane } from './memories.ts';
import { isStanding } from './page.ts';
import { type MessageRow, messageFrom } from './rows/batch.ts';
import { type ScopeColumns, scopeFrom } from './rows/columns.ts';
import { eventFrom } from './rows/memory.ts';
import { all, allAs } from './script.ts';
import { COVERED, type CoveredColumns, coveredFrom } from './summaries.ts';

/** All that a lane holds, page by page. */
export const contentStore = storeOf<ContentStore>('contents', {
  messages: read((lane, after, limit) => {
    const text = 'SELECT * FROM messages WHERE lane = @lane AND seq > @after ORDER BY seq LIMIT @limit';
    return allAs(messageFrom, text, { lane, after, limit });
  }),
  memories: read((lane, after, limit) => memoriesOfLane({ lane, after: after ?? '', limit })),
  summaries: read((lane) => allAs(summaryFrom, SELECT_SUMMARIES, { lane })),
});

const summaryFrom = (row: ScopeColumns & CoveredColumns & { summary: string }): KeptSummary => ({
  scope: scopeFrom(row),
  summary: row.summary,
  covers: coveredFrom(row),
});

const SELECT_SUMMARIES = `
  SELECT s.user_id, s.agent_id, s.run_id, s.app_id, s.summary, ${COVERED} FROM scopes s
  WHERE s.lane = @lane AND s.summary IS NOT NULL ORDER BY s.id`;

/** What belongs to the memories and messages of an owner. */
export const lookupStore = storeOf<LookupStore>('lookups', {
  histories: read(function* (of, limit) {
    const events = yield* allAs(eventFrom, SELECT_HISTORIES, { ...ownerParams(of), ids: of.ids, limit });
    return Map.groupBy(events, ({ memoryId }) => memoryId);
  }),
  scopes: read(function* (tenant, messageIds) {
    const rows = yield* all<ScopeColumns & { readonly id: string }>(SELECT_SCOPES, { tenant, messageIds });
    return new Map(rows.map((row) => [row.id, scopeFrom(row)]));
  }),
  around: read(function* (of, reach) {
    const rows = yield* all<NearRow>(SELECT_AROUND, { ...ownerParams(of), ids: of.ids, ...reach });
    const byAsked = Map.groupBy(rows, ({ asked }) => asked);
    return new Map([...byAsked].map(([id, near]) => [id, near.map(messageFrom)]));
  }),
});

/** A message, and the id it was found around. */
type NearRow = MessageRow & { readonly asked: string };

/** The parameters that name an owner's lane. */
const ownerParams = ({ tenant, owner }: OwnedIds) => ({ tenant, kind: owner.kind, ownerId: owner.id });

const OWN_LANE = '(SELECT id FROM lanes WHERE tenant = @tenant AND owner_kind = @kind AND owner_id = @ownerId)';

const SELECT_HISTORIES = `
  SELECT * FROM (
    SELECT e.*, row_number() OVER (PARTITION BY e.memory_id ORDER BY e.revision DESC) AS place
    FROM memories m JOIN events e ON e.memory_id = m.id
    WHERE m.id IN :ids AND +m.lane = ${OWN_LANE}
  ) AS newest WHERE place <= @limit ORDER BY memory_id, revision`;

const SELECT_SCOPES = `
  SELECT m.id, s.user_id, s.agent_id, s.run_id, s.app_id FROM messages m JOIN scopes s ON s.id = m.scope
  WHERE m.tenant = @tenant AND ${isStanding('m.lane')} AND m.id IN :messageIds`;

/** What is undone is nobody's neighbour. */
const SELECT_AROUND = `
  SELECT m.id AS asked, n.* FROM messages m
  JOIN messages n ON n.lane = m.lane AND n.seq BETWEEN m.seq - @before AND m.seq + @after
  JOIN scopes s ON s.id = n.scope
  JOIN batches b ON b.id = n.batch_id AND (b.state <> 'undone' OR n.id = m.id)
  WHERE m.id IN :ids AND +m.lane = ${OWN_LANE} AND (@appId::text IS NULL OR s.app_id = @appId)
  ORDER BY n.seq`;
