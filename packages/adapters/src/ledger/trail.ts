import type {
  ErasedOwner,
  NewTrailEntry,
  TenantId,
  TrailEntry,
  TrailFilter,
  TrailOutcome,
  TrailStore,
} from '@slowwave/engine';
import { FIRST_FAILED_STATUS, REFUSED_STATUSES, withoutErased } from '@slowwave/engine/storing';
import { read, storeOf, write } from './access.ts';
import { newestFirst } from './page.ts';
import type { ColumnsOf } from './rows/columns.ts';
import { allAs, first, insert, run } from './script.ts';

export const trailStore = storeOf<TrailStore>('trail', {
  append: write(function* (entries) {
    const hashes = [...new Set(entries.flatMap(({ ownerHash }) => ownerHash ?? []))];
    const text = 'SELECT id, owner_hash, erased_at FROM erasures WHERE owner_hash IN :hashes';
    const erased = yield* allAs(erasedOwnerFrom, text, { hashes });
    yield* insert('trail', withoutErased(entries, erased).map(trailRowOf), 'ON CONFLICT DO NOTHING');
  }),
  list: read((tenant, filter, page) => {
    const { outcome, ...values } = filter;
    const listing = {
      select: `SELECT t.* FROM trail t${indexFor(filter)}`,
      by: ['t.at', 't.id'] as const,
      always: outcome === undefined ? [] : [OUTCOMES[outcome]],
      asked: { ...ASKED, ...(filter.action === MOST_FREQUENT && { action: 't.action = @action' }) },
      make: trailEntryFrom,
    };
    return newestFirst(listing, page, { tenant, ...values });
  }),
  forgetOwner: write(function* (erasureId, limit) {
    const found = yield* first<{ tenant: TenantId; kind: string; ownerId: string; departed: string | null }>(
      SELECT_OWNER,
      {
        erasureId,
      },
    );
    if (found === null) return 0;
    const { departed, ...owner } = found;
    if (departed !== null) return yield* run(TAKE_AWAY, { ...owner, limit });
    return yield* run(FORGET_OWNER, { ...owner, erasure: erasureId, limit });
  }),
  drop: write((before, limit) => run(DROP_OLD, { before, limit })),
});

/** An erasure as it is looked up for entries that come late. */
interface ErasedOwnerRow extends ColumnsOf<Omit<ErasedOwner, 'erasureId'>> {
  readonly id: string;
}

const erasedOwnerFrom = (row: ErasedOwnerRow): ErasedOwner => ({
  erasureId: row.id,
  ownerHash: row.owner_hash,
  erasedAt: row.erased_at,
});

/** An entry as it is stored. */
interface TrailRow extends ColumnsOf<Omit<TrailEntry, 'by' | 'session' | 'subject'>> {
  readonly actor: string;
  readonly session: number;
  readonly subject_kind: string | null;
  readonly subject_id: string | null;
}

const trailEntryFrom = (row: TrailRow): TrailEntry => ({
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

const trailRowOf = (entry: NewTrailEntry): TrailRow => ({
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

/** Left to itself SQLite reads all of the tenant: the table lies in the order of the list. */
function indexFor({ by, subject, action = MOST_FREQUENT, outcome = 'done' }: TrailFilter): string {
  if (subject !== undefined) return ' INDEXED BY trail_by_subject';
  if (by !== undefined) return ' INDEXED BY trail_by_actor';
  if (action !== MOST_FREQUENT) return ' INDEXED BY trail_by_action';
  return outcome === 'done' ? '' : ' INDEXED BY trail_failed';
}

/** Most entries are of this action, so that an index of them would help nobody, and cost every one of these requests. */
const MOST_FREQUENT = 'POST /v1/batches';

const ASKED = {
  tenant: 't.tenant = @tenant',
  by: 't.actor = @by',
  subject: 't.subject_id = @subject',
  /** The second part is that of the index. */
  action: `t.action = @action AND t.action <> '${MOST_FREQUENT}'`,
  since: 't.at >= @since',
  until: 't.at < @until',
};

const REFUSED = REFUSED_STATUSES.join(', ');
const FAILED = `t.status >= ${FIRST_FAILED_STATUS}`;

/** The first part is that of an index. */
const OUTCOMES: Readonly<Record<TrailOutcome, string>> = {
  done: `t.status < ${FIRST_FAILED_STATUS}`,
  refused: `${FAILED} AND t.status IN (${REFUSED})`,
  failed: `${FAILED} AND t.status NOT IN (${REFUSED})`,
};

const SELECT_OWNER = `
  SELECT tenant, owner_kind AS kind, owner_id AS "ownerId", departed FROM erasures
  WHERE id = @erasureId AND owner_id IS NOT NULL`;

const OF_OWNER = `
  SELECT tenant, at, id FROM trail INDEXED BY trail_by_subject
  WHERE tenant = @tenant AND subject_id = @ownerId AND subject_kind = @kind LIMIT @limit`;

/** The id that a caller has given a request may be made of the owner's. */
const FORGET_OWNER = `
  UPDATE trail SET subject_kind = 'erasure', subject_id = @erasure,
    request_id = CASE WHEN replace(request_id, @ownerId, '') <> request_id THEN NULL ELSE request_id END
  WHERE (tenant, at, id) IN (${OF_OWNER})`;

/** They travelled with the owner: whoever erases it there erases its name in them. */
const TAKE_AWAY = `DELETE FROM trail WHERE (tenant, at, id) IN (${OF_OWNER})`;

/** Tenant by tenant: an index by age alone would cost every entry. */
const DROP_OLD = `
  DELETE FROM trail WHERE (tenant, at, id) IN (
    WITH RECURSIVE tenants (name) AS (
      SELECT min(tenant) FROM trail
      UNION ALL
      SELECT (SELECT min(t.tenant) FROM trail t WHERE t.tenant > tenants.name) FROM tenants WHERE tenants.name IS NOT NULL
    )
    SELECT t.tenant, t.at, t.id FROM tenants JOIN trail t ON t.tenant = tenants.name WHERE t.at < @before LIMIT @limit)`;
