import type { Owner, PendingMessage, PresentStore, ProfileFact, Scope, TenantId } from '@slowwave/engine';
import { besideOwner, compareSaid, ownerOf } from '@slowwave/engine/storing';
import { messageRowsOf, UNCLAIMED_COLUMNS, type UnclaimedRow } from './batches.ts';
import { saidUnder } from './memories.ts';
import { ofOwner } from './page.ts';
import { clockFrom, type MessageRow } from './rows/batch.ts';
import type { ColumnsOf } from './rows/columns.ts';
import { READ_VERSIONS } from './rows/version.ts';
import { all, allAs, first, lookup, read, run, statement, storeOf, together, write } from './script.ts';
import { COVERED, type CoveredColumns, coveredFrom } from './summaries.ts';

export const presentStore = storeOf<PresentStore>('present', {
  /** What waits before the summary: what gets into one in between is shown twice, instead of not at all. */
  conversation: read(function* (tenant, scope, { messages, longest }) {
    const owned = ownerAndIds(tenant, scope);
    const given = { ...owned, batches: BATCHES_MAX, limit: messages + 1 };
    const [claimed, unclaimed, latest] = yield* together(
      all<PendingRow>(selectPending(scope), { ...given, longest }),
      all<UnclaimedRow & Pick<PendingRow, 'backfill'>>(selectUnclaimed(scope), given),
      first<CoveredColumns & { readonly summary: string }>(selectSummary(scope), owned),
    );
    const rows = [...claimed, ...unclaimed.flatMap((row) => pendingRowsOf(row, longest))].sort(
      (a, b) => a.backfill - b.backfill || b.seq - a.seq,
    );
    const pending = rows.slice(0, messages).map(pendingFrom);
    return {
      summary: latest?.summary ?? null,
      covers: latest === null ? null : coveredFrom(latest),
      pending: pending.sort((a, b) => compareSaid(a.saidAt, b.saidAt)),
      more: rows.length > messages,
    };
  }),
  profile: read((tenant, scope, how) =>
    allAs(profileFactFrom, selectProfile(scope), { ...ownerAndIds(tenant, scope), ...how }),
  ),
  told: lookup(function* (tenant, owner, conversation) {
    const text = `SELECT told FROM tellings WHERE lane = ${LANE_OF_OWNER} AND conversation = @conversation`;
    const row = yield* first<{ told: string }>(text, { ...named(tenant, owner), conversation });
    return row === null ? [] : JSON.parse(row.told);
  }),
  tell: statement(function* (tenant, owner, { conversation, told, now }) {
    yield* run(TELL, { ...named(tenant, owner), conversation, told: JSON.stringify(told), now });
  }),
  forgetTold: write((before, limit) => run(FORGET_TOLD, { before, limit })),
});

/** The newest waiting batches that are looked into: far more than a prompt has room for. */
const BATCHES_MAX = 100;

/** A waiting message; `content` is null where it is too long. */
type PendingRow = Omit<MessageRow, 'content' | 'unhidden' | 'resent'> & {
  readonly content: string | null;
  readonly backfill: 0 | 1;
};

const pendingRowsOf = (row: UnclaimedRow & Pick<PendingRow, 'backfill'>, longest: number): readonly PendingRow[] =>
  messageRowsOf([row]).map((message) => ({
    ...message,
    backfill: row.backfill,
    content: Buffer.byteLength(message.content) > longest ? null : message.content,
  }));

/**
 * Live messages first, newest first; which ones, before their contents are read. Batches of each state by its own index:
 * SQLite would read all there ever were in the lane, back to the first.
 */
const selectPending = (scope: Scope): string => `
  WITH waiting AS (
    SELECT * FROM (
      SELECT number, scope, backfill FROM batches INDEXED BY batches_pending
      WHERE lane = ${LANE_NUMBER_OF_OWNER} AND state = 'pending'
      ORDER BY position DESC LIMIT @batches
    ) AS p
    UNION ALL
    SELECT * FROM (
      SELECT number, scope, backfill FROM batches INDEXED BY batches_consolidating
      WHERE lane = ${LANE_NUMBER_OF_OWNER} AND state = 'consolidating'
      ORDER BY position DESC LIMIT @batches
    ) AS c
  ), picked AS (
    SELECT m.number, w.backfill FROM waiting w
    JOIN messages m ON m.batch = w.number JOIN scopes s ON s.id = w.scope
    WHERE NOT m.resent${within(scope)} ORDER BY w.backfill, m.seq DESC LIMIT @limit
  )
  SELECT k.backfill, m.id, m.batch_id, m.seq, m.client_id, m.role, m.name, m.said_at, m.clock_at, m.utc_offset,
    CASE WHEN pg_column_size(m.content) > @longest THEN NULL
      WHEN octet_length(m.content::text) <= @longest THEN m.content END AS content
  FROM picked k JOIN lane_messages m ON m.number = k.number ORDER BY k.backfill, m.seq DESC`;

/** The same of what was never claimed: no more of it than is shown. */
const selectUnclaimed = (scope: Scope): string => `
  SELECT ${UNCLAIMED_COLUMNS}, b.backfill FROM (
    SELECT w.*, sum(w.message_count) OVER (ORDER BY w.backfill, w.position DESC) - w.message_count AS before
    FROM (
      SELECT * FROM batches INDEXED BY batches_pending
      WHERE lane = ${LANE_NUMBER_OF_OWNER} AND state = 'pending'
      ORDER BY position DESC LIMIT @batches
    ) AS w JOIN scopes s ON s.id = w.scope
    WHERE true${within(scope)}
  ) AS b JOIN unclaimed_messages u ON u.batch_id = b.id
  WHERE b.before < @limit`;

const selectSummary = (scope: Scope): string => `
  SELECT s.summary, ${COVERED} FROM scopes s
  WHERE s.lane = ${LANE_NUMBER_OF_OWNER} AND s.summary IS NOT NULL${within(scope)}
  ORDER BY s.summary_upto DESC LIMIT 1`;

const pendingFrom = (row: PendingRow): PendingMessage => ({
  id: row.id,
  batchId: row.batch_id,
  clientId: row.client_id,
  role: row.role,
  content: row.content === null ? null : JSON.parse(row.content),
  name: row.name,
  saidAt: { at: row.said_at, seq: row.seq },
  ...clockFrom(row),
});

interface ProfileRow extends ColumnsOf<Omit<ProfileFact, 'memoryId' | 'version' | 'saidAt' | 'utcOffset'>, 'placed'> {
  readonly id: string;
  readonly number: number;
  readonly said_at: number;
  readonly said_seq: number;
  readonly utc_offset: number | null;
}

const selectProfile = (scope: Scope): string => `
  SELECT m.id, v.number, v.text, v.said_at, v.said_seq, v.valid_from, (v.details ->> 'utcOffset')::bigint AS utc_offset,
    v.details ->> 'category' AS category, m.placed
  FROM memories m
  JOIN ${READ_VERSIONS} v ON v.memory = m.number AND ${SHOWN_AT}
  WHERE m.lane = (SELECT number ${OF_OWNER}) AND m.live AND m.profile_rank > 0
    AND (m.expires_at IS NULL OR m.expires_at > @at)${remembered(scope)}
  ORDER BY m.profile_rank DESC, m.created_at, m.id LIMIT @limit`;

/** Of the versions v of a memory that is live the one that holds at a moment: the newest, or until that begins the one before. */
const SHOWN_AT = `
  v.valid_from <= @at AND (v.superseded_by IS NULL OR (v.invalid_at > @at AND EXISTS (
    SELECT 1 FROM ${READ_VERSIONS} n WHERE n.memory = v.memory
      AND n.superseded_by IS NULL AND n.valid_from > @at AND n.valid_from > n.said_at)))`;

const profileFactFrom = (row: ProfileRow): ProfileFact => ({
  memoryId: row.id,
  version: row.number,
  text: row.text,
  saidAt: { at: row.said_at, seq: row.said_seq },
  validFrom: row.valid_from,
  ...(row.utc_offset !== null && { utcOffset: row.utc_offset }),
  category: row.category,
  placed: row.placed === null ? null : JSON.parse(row.placed),
});

function ownerAndIds(tenant: TenantId, scope: Scope) {
  const { agentId, runId, appId } = scope;
  return { ...named(tenant, ownerOf(scope)), agentId, runId, appId };
}

/** What every statement about an owner is given. */
const named = (tenant: TenantId, { kind, id }: Owner) => ({ tenant, ownerKind: kind, ownerId: id });

const OF_OWNER = `FROM lanes WHERE ${ofOwner('@ownerKind', '@ownerId')}`;
const LANE_OF_OWNER = `(SELECT id ${OF_OWNER})`;
const LANE_NUMBER_OF_OWNER = `(SELECT number ${OF_OWNER})`;

const TELL = `
  INSERT INTO tellings (lane, conversation, told, told_at)
  SELECT id, @conversation, @told::jsonb, @now::bigint ${OF_OWNER}
  ON CONFLICT (lane, conversation) DO UPDATE SET told = excluded.told, told_at = excluded.told_at`;

const FORGET_TOLD = `
  DELETE FROM tellings WHERE (lane, conversation) IN (
    SELECT lane, conversation FROM tellings WHERE told_at < @before LIMIT @limit)`;

/** Conditions on m (memories): said or confirmed under the ids beside the owner. */
const remembered = (scope: Scope): string =>
  saidUnder(besideOwner(scope))
    .map((condition) => ` AND ${condition}`)
    .join('');

/** Conditions on s (scopes): the ids beside the owner. */
const within = ({ agentId, runId, appId }: Scope): string =>
  [
    agentId === null ? '' : ' AND s.agent_id = @agentId',
    runId === null ? '' : ' AND s.run_id = @runId',
    appId === null ? '' : ' AND s.app_id = @appId',
  ].join('');
