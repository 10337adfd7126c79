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
import { type Access, read, storeOf, write } from './access.ts';
import { newestFirst as listNewestFirst, pageOf, readCursor } from './page.ts';
import type { ColumnsOf } from './rows/columns.ts';
import { allAs, first, insert, run, type Script } from './script.ts';
import { ADD_POSTS, isPacked, newestFirst, type PostsRow, postsRows, postsUpTo, STRETCH_MS } from './trail-posts.ts';

export function trailStore(access: Access): TrailStore {
  const { take, ...store } = scripted(access);
  return {
    ...store,
    append: (entries) => {
      const { posts = [], others = [] } = Object.groupBy(entries, (entry) => (isPacked(entry) ? 'posts' : 'others'));
      return take(others, postsRows(posts));
    },
  };
}

interface TrailScripts extends Omit<TrailStore, 'append'> {
  /** Entries, and posts as they are stored. */
  take(entries: readonly NewTrailEntry[], posts: readonly PostsRow[]): Promise<void>;
}

const scripted = storeOf<TrailScripts>('trail', {
  take: write(function* (entries, posts) {
    const hashes = [...new Set(entries.flatMap(({ ownerHash }) => ownerHash ?? []))];
    const text = 'SELECT id, owner_hash, erased_at FROM erasures WHERE owner_hash IN :hashes';
    const erased = hashes.length === 0 ? [] : yield* allAs(erasedOwnerFrom, text, { hashes });
    yield* insert('trail', withoutErased(entries, erased).map(trailRowOf), 'ON CONFLICT DO NOTHING');
    yield* insert('trail_posts', posts, ADD_POSTS);
  }),
  list: read(function* (tenant, filter, page) {
    const [beforeAt, beforeId] = readCursor(page.cursor, ['number', 'string']) ?? [];
    const before = beforeAt === undefined ? null : { at: Number(beforeAt), id: String(beforeId) };
    // One more than asked for shows whether there is another page.
    const limit = page.limit + 1;
    const { results: others } = yield* listOthers(tenant, filter, { ...page, limit });
    const posts = yield* postsUpTo(limit, { tenant, filter, before });
    const entries = [...others, ...posts].sort(newestFirst);
    return pageOf(entries, page.limit, ({ at, id }) => [at, id]);
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
  drop: write(function* (before, limit) {
    const dropped = yield* run(dropOld('trail', ['at', 'id']), { before, limit });
    if (dropped === limit) return limit;
    const given = { before: Math.floor(before / STRETCH_MS), limit: limit - dropped };
    return dropped + (yield* run(dropOld('trail_posts', ['stretch', 'actor', 'part']), given));
  }),
});

/** All but the posts that are packed. */
function listOthers(tenant: TenantId, filter: TrailFilter, page: Page): Script<Paged<TrailEntry>> {
  const { outcome, ...values } = filter;
  const listing = {
    select: `SELECT t.* FROM trail t${indexFor(filter)}`,
    by: ['t.at', 't.id'] as const,
    always: outcome === undefined ? [] : [OUTCOMES[outcome]],
    asked: ASKED,
    make: trailEntryFrom,
  };
  return listNewestFirst(listing, page, { tenant, ...values });
}

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
function indexFor({ by, subject, action, outcome = 'done' }: TrailFilter): string {
  if (subject !== undefined) return ' INDEXED BY trail_by_subject';
  if (by !== undefined) return ' INDEXED BY trail_by_actor';
  if (action !== undefined) return ' INDEXED BY trail_by_action';
  return outcome === 'done' ? '' : ' INDEXED BY trail_failed';
}

const ASKED = {
  tenant: 't.tenant = @tenant',
  by: 't.actor = @by',
  subject: 't.subject_id = @subject',
  action: 't.action = @action',
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
const dropOld = (table: string, key: readonly [time: string, ...string[]]): string => `
  DELETE FROM ${table} WHERE (tenant, ${key.join(', ')}) IN (
    WITH RECURSIVE tenants (name) AS (
      SELECT min(tenant) FROM ${table}
      UNION ALL
      SELECT (SELECT min(t.tenant) FROM ${table} t WHERE t.tenant > tenants.name) FROM tenants WHERE tenants.name IS NOT NULL
    )
    SELECT t.tenant, ${key.map((column) => `t.${column}`).join(', ')} FROM tenants JOIN ${table} t ON t.tenant = tenants.name
    WHERE t.${key[0]} < @before LIMIT @limit)`;
