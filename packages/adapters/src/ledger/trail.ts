import type {
  ErasedOwner,
  Millis,
  NewTrailEntry,
  Page,
  Paged,
  TenantId,
  TrailEntry,
  TrailFilter,
  TrailOutcome,
  TrailStore,
} from '@slowwave/engine';
import {
  digitsOf,
  FIRST_FAILED_STATUS,
  idOfPost,
  isPost,
  numberOf,
  POST,
  REFUSED_STATUSES,
  withoutErased,
} from '@slowwave/engine/storing';
import { newestFirst as listNewestFirst, pageOf, readCursor } from './page.ts';
import type { ColumnsOf } from './rows/columns.ts';
import { type Access, all, allAs, first, insert, read, run, type Script, storeOf, write } from './script.ts';

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

/**
 * Posts of batches in the audit log. Nearly all entries are of these, and what tells one from another is when it came, its batch and its
 * request. A row holds what one actor posted in a stretch of time, a line for each, and grows. Where many come at a time they
 * get a row of their own, so that none is written again and again while it becomes long.
 */
const STRETCH_MS = 10_000;
const MANY = 20;

interface PostsRow {
  readonly tenant: TenantId;
  readonly stretch: number;
  readonly actor: string;
  readonly part: string;
  readonly entries: string;
}

/** These entries are kept here. */
const isPacked = (entry: NewTrailEntry): boolean =>
  isPost(entry) && !entry.session && OF_BATCH.test(entry.subject?.id ?? '') && entry.id === idOfPost(batchOf(entry));

/** Of some posts, in the order of their keys: nobody waits in a circle. */
function postsRows(posts: readonly NewTrailEntry[]): readonly PostsRow[] {
  const together = Map.groupBy(posts, ({ tenant, at, by }) => JSON.stringify([tenant, stretchAt(at), by]));
  const sorted = [...together].sort(([a], [b]) => (a < b ? -1 : 1));
  return sorted.map(([key, some]) => {
    const [tenant, stretch, actor] = JSON.parse(key) as [TenantId, number, string];
    const part = some.length < MANY ? '' : String(some[0]?.id);
    return { tenant, stretch, actor, part, entries: some.map(lineOf).join('') };
  });
}

const ADD_POSTS = `
  ON CONFLICT (tenant, stretch, actor, part) DO UPDATE SET entries = trail_posts.entries || excluded.entries`;

const batchOf = ({ subject }: TrailEntry): string => subject?.id ?? '';
const stretchAt = (at: Millis): number => Math.floor(at / STRETCH_MS);

/** How many ms of the stretch were over, the batch's id, and the request's id: both in short if they are as usual. */
function lineOf(post: TrailEntry): string {
  const { at, requestId } = post;
  const isOurs = requestId !== null && UUID.test(requestId);
  const request = isOurs
    ? Buffer.from(requestId.replaceAll('-', ''), 'hex').toString('base64url')
    : JSON.stringify(requestId);
  return `${(at % STRETCH_MS).toString(36)}${shortBatch(post)} ${request}\n`;
}

const TIME_DIGITS = 10;
/** In ms. A batch is posted a moment before or after it is given its id. */
const MOMENT = 36 ** 2;
const END = '0000';

/** The digits of the batch's id, without the last ones if they say nothing, and with how much later than it was posted in the place of their time. */
function shortBatch(post: TrailEntry): string {
  const digits = batchOf(post).slice('bat_'.length);
  const rest = digits.endsWith(END) ? digits.slice(0, -END.length) : digits;
  const later = numberOf(digits.slice(0, TIME_DIGITS)) - post.at;
  if (Math.abs(later) >= MOMENT) return ` ${rest}`;
  return `${later < 0 ? '-' : '+'}${Math.abs(later).toString(36)} ${rest.slice(TIME_DIGITS)}`;
}

/** Back from it. */
function batchFrom(at: Millis, later: string | undefined, rest: string): string {
  const sign = later?.startsWith('-') ? -1 : 1;
  const time = later === undefined ? '' : digitsOf(at + sign * Number.parseInt(later.slice(1), 36), TIME_DIGITS);
  const digits = `${time}${rest}`;
  return `bat_${digits.length === DIGITS ? digits : `${digits}${END}`}`;
}

const DIGITS = 26;

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;
const OF_UUID = /^(.{8})(.{4})(.{4})(.{4})(.{12})$/;
/** The length of one in short; JSON of a text that long begins otherwise. */
const SHORT = /^[\w-]{22}$/;

function postsFrom({ tenant, stretch, actor, entries }: PostsRow): readonly TrailEntry[] {
  return entries.split('\n').flatMap((line) => {
    const [, over, later, rest, request] = /^(\w+)([+-]\w+)? (\w+) (.*)$/.exec(line) ?? [];
    if (over === undefined || rest === undefined || request === undefined) return [];
    const at = stretch * STRETCH_MS + Number.parseInt(over, 36);
    const hex = SHORT.test(request) ? Buffer.from(request, 'base64url').toString('hex') : null;
    const id = batchFrom(at, later, rest);
    return {
      ...{ id: idOfPost(id), tenant, at, by: actor, session: false },
      ...{ action: POST.action, subject: { kind: POST.subject, id }, status: POST.status, code: null },
      requestId: hex === null ? (JSON.parse(request) as string | null) : hex.replace(OF_UUID, '$1-$2-$3-$4-$5'),
    };
  });
}

interface Asked {
  readonly tenant: TenantId;
  readonly filter: TrailFilter;
  /** The last entry of the page before. */
  readonly before: Pick<TrailEntry, 'at' | 'id'> | null;
}

/** The newest posts that are asked for, newest first. */
function* postsUpTo(limit: number, asked: Asked): Script<readonly TrailEntry[]> {
  const { tenant, filter, before } = asked;
  if (!mayHave(filter)) return [];
  const [since, until] = timesOf(filter);
  const given = { tenant, by: filter.by ?? null, since: stretchAt(since), limit: ROWS_AT_ONCE };
  const text = filter.by === undefined ? SELECT_POSTS : SELECT_POSTS_BY;
  // A batch is new once.
  const wanted = filter.subject === undefined ? limit : 1;
  const found: TrailEntry[] = [];
  let place = { stretch: stretchAt(Math.min(until, before?.at ?? until)) + 1, actor: '', part: '' };
  for (let rest: readonly PostsRow[] = []; ; ) {
    const read: readonly PostsRow[] = yield* all<PostsRow>(text, { ...given, ...place });
    const rows = [...rest, ...read];
    const last = read.length < ROWS_AT_ONCE ? undefined : rows.at(-1);
    // Its stretch may go on.
    rest = rows.filter(({ stretch }) => stretch === last?.stretch);
    found.push(...newestOf(rows.slice(0, rows.length - rest.length), { ...asked, since, until }));
    if (last === undefined || found.length >= wanted) return found.slice(0, limit);
    place = { stretch: last.stretch, actor: last.actor, part: last.part };
  }
}

const ROWS_AT_ONCE = 20;

const mayHave = ({ action, outcome, subject }: TrailFilter): boolean =>
  (action ?? POST.action) === POST.action && (outcome ?? 'done') === 'done' && (subject ?? 'bat_').startsWith('bat_');

/** From when and until when something is asked for. The id of a batch says when it was made: it was posted a moment before. */
function timesOf({ since = 0, until = Number.MAX_SAFE_INTEGER, subject }: TrailFilter): readonly [Millis, Millis] {
  const made = subject === undefined ? null : OF_BATCH.exec(subject)?.[1];
  if (made == null) return [since, until];
  const at = numberOf(made);
  return [Math.max(since, at - POSTING_MS), Math.min(until, at + POSTING_MS)];
}

const OF_BATCH = /^bat_([0-9a-hjkmnp-tv-z]{10})[0-9a-hjkmnp-tv-z]{16}$/;
/** Longer than a request takes, and than clocks of the machines differ. */
const POSTING_MS = 120_000;

/** What is asked for of some rows. What was sent twice is there twice. */
function newestOf(rows: readonly PostsRow[], asked: Asked & Record<'since' | 'until', Millis>): readonly TrailEntry[] {
  const posts = new Map(rows.flatMap(postsFrom).map((post) => [post.id, post]));
  return [...posts.values()].filter((post) => isMeant(post, asked)).sort(newestFirst);
}

function isMeant({ at, id, subject }: TrailEntry, asked: Parameters<typeof newestOf>[1]): boolean {
  const { filter, before, since, until } = asked;
  const isBefore = before === null || at < before.at || (at === before.at && id < before.id);
  return isBefore && at >= since && at < until && (filter.subject ?? subject?.id) === subject?.id;
}

/** For sorting, as lists are ordered. */
const newestFirst = (a: TrailEntry, b: TrailEntry): number => b.at - a.at || (a.id < b.id ? 1 : -1);

const selectPosts = (index: string, condition: string): string => `
  SELECT tenant, stretch, actor, part, entries FROM trail_posts${index}
  WHERE tenant = @tenant${condition} AND stretch >= @since AND (stretch, actor, part) < (@stretch, @actor, @part)
  ORDER BY stretch DESC, actor DESC, part DESC LIMIT @limit`;

const SELECT_POSTS = selectPosts('', '');
const SELECT_POSTS_BY = selectPosts(' INDEXED BY trail_posts_by_actor', ' AND actor = @by');
