import type { ContentStore, KeptSummary, LookupStore, OwnedIds, Owner, TenantId } from '@slowwave/engine';
import {
  inOrder,
  messageRowsOf,
  SELECT_UNCLAIMED,
  type UnclaimedRow,
  unclaimedNamed,
  unclaimedOf,
  type WaitingMessageRow,
} from './batches.ts';
import { memoriesOfLane } from './memories.ts';
import { isStanding, LANE_NUMBER, ofOwner } from './page.ts';
import { type MessageRow, messageFrom, NAMED_MESSAGES, naming } from './rows/batch.ts';
import { type ScopeColumns, scopeFrom } from './rows/columns.ts';
import { EVENT_COLUMNS, eventFrom } from './rows/memory.ts';
import { all, allAs, read, type Script, storeOf, together } from './script.ts';
import { COVERED, type CoveredColumns, coveredFrom } from './summaries.ts';

/** All that a lane holds, page by page. */
export const contentStore = storeOf<ContentStore>('contents', {
  messages: read(function* (lane, after, limit) {
    const text = 'SELECT * FROM lane_messages WHERE lane = @lane AND seq > @after ORDER BY seq LIMIT @limit';
    const [rows, waiting] = yield* together(
      all<MessageRow>(text, { lane, after, limit }),
      unclaimedOf(lane, { after, limit }),
    );
    return inOrder(rows, waiting, limit).map(messageFrom);
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
  WHERE s.lane = ${LANE_NUMBER} AND s.summary IS NOT NULL ORDER BY s.id`;

/** What belongs to the memories and messages of an owner. */
export const lookupStore = storeOf<LookupStore>('lookups', {
  histories: read(function* (of, limit) {
    const events = yield* allAs(eventFrom, SELECT_HISTORIES, { ...ownerParams(of), ids: of.ids, limit });
    return Map.groupBy(events, ({ memoryId }) => memoryId);
  }),
  scopes: read(function* (tenant, messageIds) {
    const rows = yield* all<ScopeColumns & { readonly id: string }>(SELECT_SCOPES, {
      tenant,
      ...naming(messageIds),
    });
    const scopes = new Map(rows.map((row) => [row.id, scopeFrom(row)]));
    const waiting = yield* unclaimedNamed(
      tenant,
      messageIds.filter((id) => !scopes.has(id)),
    );
    if (waiting.length === 0) return scopes;
    const numbers = [...new Set(waiting.map(({ scope }) => scope))];
    const found = yield* all<ScopeColumns & { readonly id: number }>(
      'SELECT id, user_id, agent_id, run_id, app_id FROM scopes WHERE id IN :numbers::bigint',
      { numbers },
    );
    const byNumber = new Map(found.map((row) => [row.id, scopeFrom(row)]));
    for (const { id, scope } of waiting) {
      const said = byNumber.get(scope);
      if (said !== undefined) scopes.set(id, said);
    }
    return scopes;
  }),
  around: read(function* (of, reach) {
    const given = { ...ownerParams(of), ...naming(of.ids), ...reach };
    const [rows, unclaimed] = yield* together(
      all<NearRow>(SELECT_AROUND, given),
      all<UnclaimedRow>(SELECT_UNCLAIMED_NEAR, { ...given, count: of.ids.length }),
    );
    const near = unclaimed.length === 0 ? rows : yield* withWaiting(rows, messageRowsOf(unclaimed), given);
    const byAsked = Map.groupBy(near, ({ asked }) => asked);
    return new Map([...byAsked].map(([id, found]) => [id, found.map(messageFrom)]));
  }),
});

/** A message, and the id it was found around. */
type NearRow = MessageRow & { readonly asked: string };

interface Near {
  readonly ids: readonly string[];
  readonly batchesOf: readonly string[];
  readonly before: number;
  readonly after: number;
  readonly kind: Owner['kind'];
  readonly ownerId: string;
  readonly tenant: TenantId;
  readonly appId: string | null;
}

/** The same with those that are not claimed yet: asked for, or near one that is. */
function* withWaiting(
  rows: readonly NearRow[],
  waiting: readonly WaitingMessageRow[],
  given: Near,
): Script<readonly NearRow[]> {
  const known = yield* all<{ id: string; seq: number }>(SELECT_PLACES, { ...given });
  const places = new Map(known.map(({ id, seq }) => [id, seq]));
  const wanted = new Set(given.ids);
  const asked = waiting.filter(({ id }) => wanted.has(id));
  const claimed: NearRow[] = [];
  for (const { id, seq } of asked) {
    places.set(id, seq);
    claimed.push(...(yield* all<NearRow>(SELECT_CLAIMED_NEAR, { ...given, asked: id, seq })));
  }
  const shown = yield* inApp(waiting, given.appId);
  const beside = [...places].flatMap(([one, seq]) =>
    shown
      .filter((row) => row.seq >= seq - given.before && row.seq <= seq + given.after)
      .map((row) => ({ ...row, asked: one })),
  );
  return [...rows, ...claimed, ...beside].sort((a, b) => a.seq - b.seq);
}

function* inApp(waiting: readonly WaitingMessageRow[], appId: string | null): Script<readonly WaitingMessageRow[]> {
  if (appId === null) return waiting;
  const numbers = [...new Set(waiting.map(({ scope }) => scope))];
  const text = 'SELECT id, app_id FROM scopes WHERE id IN :numbers::bigint';
  const rows = yield* all<{ id: number; app_id: string | null }>(text, { numbers });
  const shown = new Set(rows.filter((row) => row.app_id === appId).map(({ id }) => id));
  return waiting.filter(({ scope }) => shown.has(scope));
}

/** The parameters that name an owner's lane. */
const ownerParams = ({ tenant, owner }: OwnedIds) => ({ tenant, kind: owner.kind, ownerId: owner.id });

const ownLane = (column: 'id' | 'number'): string =>
  `(SELECT ${column} FROM lanes WHERE ${ofOwner('@kind', '@ownerId')})`;
const OWN_LANE = ownLane('id');
const OWN_NUMBER = ownLane('number');

const SELECT_HISTORIES = `
  SELECT * FROM (
    SELECT ${EVENT_COLUMNS}, m.id AS memory_id, row_number() OVER (PARTITION BY e.memory ORDER BY e.revision DESC) AS place
    FROM memories m JOIN events e ON e.memory = m.number
    WHERE m.id IN :ids AND m.lane + 0 = ${OWN_NUMBER}
  ) AS newest WHERE place <= @limit ORDER BY memory_id, revision`;

const SELECT_SCOPES = `
  SELECT m.id, s.user_id, s.agent_id, s.run_id, s.app_id FROM ${NAMED_MESSAGES} AS m JOIN scopes s ON s.id = m.scope
  WHERE m.tenant = @tenant AND ${isStanding('m.lane')}`;

/** What is undone is nobody's neighbour. */
const SELECT_AROUND = `
  SELECT m.id AS asked, n.* FROM ${NAMED_MESSAGES} AS m
  JOIN lane_messages n ON n.lane = m.lane AND n.seq BETWEEN m.seq - @before AND m.seq + @after
  JOIN scopes s ON s.id = n.scope
  JOIN batches b ON b.id = n.batch_id AND (b.state <> 'undone' OR n.number = m.number)
  WHERE m.lane = ${OWN_LANE} AND (@appId::text IS NULL OR s.app_id = @appId)
  ORDER BY n.seq`;

/** Of the owner of messages that are asked for: up to behind the last of those that are claimed, or all, where one of them is not. */
const SELECT_UNCLAIMED_NEAR = `${SELECT_UNCLAIMED} AND b.lane = ${OWN_NUMBER} AND (
    u.seq <= (SELECT max(m.seq) + @after FROM ${NAMED_MESSAGES} AS m WHERE m.lane = ${OWN_LANE})
    OR @count > (SELECT count(*) FROM ${NAMED_MESSAGES} AS m WHERE m.lane = ${OWN_LANE}))
  ORDER BY b.position`;

const SELECT_PLACES = `SELECT m.id, m.seq FROM ${NAMED_MESSAGES} AS m WHERE m.lane = ${OWN_LANE}`;

/** Around one that is not claimed yet. */
const SELECT_CLAIMED_NEAR = `
  SELECT @asked::text AS asked, n.* FROM lane_messages n
  JOIN scopes s ON s.id = n.scope
  JOIN batches b ON b.id = n.batch_id AND b.state <> 'undone'
  WHERE n.lane = ${OWN_LANE} AND n.seq BETWEEN @seq::bigint - @before::bigint AND @seq::bigint + @after::bigint AND (@appId::text IS NULL OR s.app_id = @appId)
  ORDER BY n.seq`;
