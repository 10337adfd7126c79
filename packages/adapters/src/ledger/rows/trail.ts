import type {
  ErasedOwner,
  NewTrailEntry,
  Page,
  TenantId,
  TrailEntry,
  TrailFilter,
  TrailOutcome,
} from '@slowwave/engine';
import { FIRST_FAILED_STATUS, REFUSED_STATUSES } from '@slowwave/engine/storing';
import { newestFirst, where } from '../page.ts';

/** An entry as it is stored. */
export interface TrailRow {
  readonly id: string;
  readonly tenant: TenantId;
  readonly at: number;
  readonly actor: string;
  readonly session: number;
  readonly action: string;
  readonly subject_kind: string | null;
  readonly subject_id: string | null;
  readonly status: number;
  readonly code: string | null;
  readonly request_id: string | null;
}

export const trailEntryFrom = (row: TrailRow): TrailEntry => ({
  id: row.id,
  tenant: row.tenant,
  at: row.at,
  by: row.actor,
  session: row.session === 1,
  action: row.action,
  subject: row.subject_kind === null || row.subject_id === null ? null : { kind: row.subject_kind, id: row.subject_id },
  status: row.status,
  code: row.code,
  requestId: row.request_id,
});

export const trailRowOf = (entry: NewTrailEntry): TrailRow => ({
  id: entry.id,
  tenant: entry.tenant,
  at: entry.at,
  actor: entry.by,
  session: entry.session ? 1 : 0,
  action: entry.action,
  subject_kind: entry.subject?.kind ?? null,
  subject_id: entry.subject?.id ?? null,
  status: entry.status,
  code: entry.code,
  request_id: entry.requestId,
});

/** An erasure as it is looked up for entries that come late. */
export interface ErasedOwnerRow {
  readonly id: string;
  readonly owner_hash: string;
  readonly erased_at: number | null;
}

export const erasedOwnerFrom = (row: ErasedOwnerRow): ErasedOwner => ({
  erasureId: row.id,
  ownerHash: row.owner_hash,
  erasedAt: row.erased_at,
});

/** Hashes of the owners that entries are about. */
export const ownerHashesIn = (entries: readonly NewTrailEntry[]): readonly string[] => [
  ...new Set(entries.flatMap(({ ownerHash }) => (ownerHash === null ? [] : [ownerHash]))),
];

/** The page of a list, as a statement and its parameters. */
export function trailPage({ tenant, filter, page }: { tenant: TenantId; filter: TrailFilter; page: Page }) {
  const { by, subject, action, outcome, since, until } = filter;
  const newest = newestFirst(page, 't.at', 't.id');
  const conditions = where([
    't.tenant = @tenant',
    by === undefined ? null : 't.actor = @by',
    subject === undefined ? null : 't.subject_id = @subject',
    action === undefined ? null : actionIs(action),
    outcome === undefined ? null : OUTCOMES[outcome],
    since === undefined ? null : 't.at >= @since',
    until === undefined ? null : 't.at < @until',
    newest.condition,
  ]);
  const given = Object.entries({ by, subject, action, since, until }).filter(([, value]) => value !== undefined);
  const params = { tenant, ...newest.params, ...Object.fromEntries(given as [string, string | number][]) };
  return { text: `SELECT t.* FROM trail t ${conditions} ${newest.order}`, params };
}

/** Most entries are of this action, so that an index of them would help nobody, and cost every one of these requests. */
const MOST_FREQUENT = 'POST /v1/batches';

/** The second part is that of the index. */
const actionIs = (action: string): string =>
  action === MOST_FREQUENT ? 't.action = @action' : `t.action = @action AND t.action <> '${MOST_FREQUENT}'`;

const REFUSED = REFUSED_STATUSES.join(', ');
const FAILED = `t.status >= ${FIRST_FAILED_STATUS}`;

/** The first part is that of an index. */
const OUTCOMES: Readonly<Record<TrailOutcome, string>> = {
  done: `t.status < ${FIRST_FAILED_STATUS}`,
  refused: `${FAILED} AND t.status IN (${REFUSED})`,
  failed: `${FAILED} AND t.status NOT IN (${REFUSED})`,
};

/** The id that a caller has given a request may be made of the owner's. */
export const FORGET_OWNER_IN_TRAIL = `
  UPDATE trail SET subject_kind = 'erasure', subject_id = @erasure,
    request_id = CASE WHEN replace(request_id, @ownerId, '') <> request_id THEN NULL ELSE request_id END
  WHERE (tenant, at, id) IN (
    SELECT tenant, at, id FROM trail
    WHERE tenant = @tenant AND subject_id = @ownerId AND subject_kind = @kind LIMIT @limit)`;

/** Tenant by tenant: an index by age alone would cost every entry. */
export const DROP_OLD_TRAIL = `
  DELETE FROM trail WHERE (tenant, at, id) IN (
    WITH RECURSIVE tenants (name) AS (
      SELECT min(tenant) FROM trail
      UNION ALL
      SELECT (SELECT min(t.tenant) FROM trail t WHERE t.tenant > tenants.name) FROM tenants WHERE tenants.name IS NOT NULL
    )
    SELECT t.tenant, t.at, t.id FROM tenants JOIN trail t ON t.tenant = tenants.name WHERE t.at < @before LIMIT @limit)`;
