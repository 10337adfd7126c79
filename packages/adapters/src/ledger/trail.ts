import type {
  ErasedOwner,
  NewTrailEntry,
  Page,
  Paged,
  TenantId,
  TrailEntry,
  TrailFilter,
  TrailOutcome,
  TrailStore,
} from '@slowwave/engine';
import { FIRST_FAILED_STATUS, REFUSED_STATUSES, withoutErased } from '@slowwave/engine/storing';
import { type Access, asRead, asWrite } from './access.ts';
import { pageOf } from './cursor.ts';
import { newestFirst, where } from './page.ts';
import { all, first, insert, run, type Script, type Table } from './script.ts';

export const trailStore = ({ read, write }: Access): TrailStore => ({
  append: (entries) => write(appendEntries, { entries }),
  list: (tenant, filter, page) => read(listEntries, { tenant, filter, page }),
  forgetOwner: (erasureId, limit) => write(forgetOwner, { erasureId, limit }),
  drop: (before, limit) => write(dropOld, { before, limit }),
});

interface Append {
  readonly entries: readonly NewTrailEntry[];
}

const appendEntries = asWrite('trail.append', function* ({ entries }: Append): Script<void> {
  const hashes = [...new Set(entries.flatMap(({ ownerHash }) => ownerHash ?? []))];
  const erased = yield* all<ErasedOwnerRow>(
    'SELECT id, owner_hash, erased_at FROM erasures WHERE owner_hash IN :hashes',
    { hashes },
  );
  yield* insert(TRAIL, withoutErased(entries, erased.map(erasedOwnerFrom)).map(trailRowOf));
});

/** An erasure as it is looked up for entries that come late. */
interface ErasedOwnerRow {
  readonly id: string;
  readonly owner_hash: string;
  readonly erased_at: number | null;
}

const erasedOwnerFrom = (row: ErasedOwnerRow): ErasedOwner => ({
  erasureId: row.id,
  ownerHash: row.owner_hash,
  erasedAt: row.erased_at,
});

/** An entry as it is stored. */
interface TrailRow {
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

const TRAIL: Table<keyof TrailRow> = {
  name: 'trail',
  columns: {
    ...{ tenant: 'text', at: 'bigint', id: 'text', actor: 'text', session: 'bigint', action: 'text' },
    ...{ subject_kind: 'text', subject_id: 'text', status: 'bigint', code: 'text', request_id: 'text' },
  },
  onConflict: 'ON CONFLICT DO NOTHING',
};

interface List {
  readonly tenant: TenantId;
  readonly filter: TrailFilter;
  readonly page: Page;
}

const listEntries = asRead('trail.list', function* ({ tenant, filter, page }: List): Script<Paged<TrailEntry>> {
  const { by = null, subject = null, action = null, outcome, since = null, until = null } = filter;
  const newest = newestFirst(page, 't.at', 't.id');
  const conditions = where([
    't.tenant = @tenant',
    by === null ? null : 't.actor = @by',
    subject === null ? null : 't.subject_id = @subject',
    action === null ? null : actionIs(action),
    outcome === undefined ? null : OUTCOMES[outcome],
    since === null ? null : 't.at >= @since',
    until === null ? null : 't.at < @until',
    newest.condition,
  ]);
  const given = { tenant, by, subject, action, since, until, ...newest.params };
  const rows = yield* all<TrailRow>(`SELECT t.* FROM trail t${indexFor(filter)} ${conditions} ${newest.order}`, given);
  const { results, nextCursor } = pageOf(rows, page.limit, (row) => [row.at, row.id]);
  return { results: results.map(trailEntryFrom), nextCursor };
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

interface ForgetOwner {
  readonly erasureId: string;
  readonly limit: number;
}

const forgetOwner = asWrite('trail.forgetOwner', function* ({ erasureId, limit }: ForgetOwner): Script<number> {
  const owner = yield* first<{ tenant: TenantId; kind: string; ownerId: string }>(SELECT_OWNER, { erasureId });
  return owner === null ? 0 : yield* run(FORGET_OWNER, { ...owner, erasure: erasureId, limit });
});

const SELECT_OWNER = `
  SELECT tenant, owner_kind AS kind, owner_id AS "ownerId" FROM erasures
  WHERE id = @erasureId AND owner_id IS NOT NULL`;

/** The id that a caller has given a request may be made of the owner's. */
const FORGET_OWNER = `
  UPDATE trail SET subject_kind = 'erasure', subject_id = @erasure,
    request_id = CASE WHEN replace(request_id, @ownerId, '') <> request_id THEN NULL ELSE request_id END
  WHERE (tenant, at, id) IN (
    SELECT tenant, at, id FROM trail INDEXED BY trail_by_subject
    WHERE tenant = @tenant AND subject_id = @ownerId AND subject_kind = @kind LIMIT @limit)`;

interface Drop {
  readonly before: number;
  readonly limit: number;
}

const dropOld = asWrite('trail.drop', (of: Drop): Script<number> => run(DROP_OLD, { ...of }));

/** Tenant by tenant: an index by age alone would cost every entry. */
const DROP_OLD = `
  DELETE FROM trail WHERE (tenant, at, id) IN (
    WITH RECURSIVE tenants (name) AS (
      SELECT min(tenant) FROM trail
      UNION ALL
      SELECT (SELECT min(t.tenant) FROM trail t WHERE t.tenant > tenants.name) FROM tenants WHERE tenants.name IS NOT NULL
    )
    SELECT t.tenant, t.at, t.id FROM tenants JOIN trail t ON t.tenant = tenants.name WHERE t.at < @before LIMIT @limit)`;
