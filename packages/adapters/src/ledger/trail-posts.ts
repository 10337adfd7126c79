import type { Millis, NewTrailEntry, TenantId, TrailEntry, TrailFilter } from '@slowwave/engine';
import { digitsOf, idOfPost, isPost, numberOf, POST } from '@slowwave/engine/storing';
import { all, type Script } from './script.ts';

/**
 * Posts of batches in the audit log. Nearly all entries are of these, and what tells one from another is when it came, its batch and its
 * request. A row holds what one actor posted in a stretch of time, a line for each, and grows. Where many come at a time they
 * get a row of their own, so that none is written again and again while it becomes long.
 */
export const STRETCH_MS = 10_000;
const MANY = 20;

export interface PostsRow {
  readonly tenant: TenantId;
  readonly stretch: number;
  readonly actor: string;
  readonly part: string;
  readonly entries: string;
}

/** These entries are kept here. */
export const isPacked = (entry: NewTrailEntry): boolean =>
  isPost(entry) && !entry.session && OF_BATCH.test(entry.subject?.id ?? '') && entry.id === idOfPost(batchOf(entry));

/** Of some posts, in the order of their keys: nobody waits in a circle. */
export function postsRows(posts: readonly NewTrailEntry[]): readonly PostsRow[] {
  const together = Map.groupBy(posts, ({ tenant, at, by }) => JSON.stringify([tenant, stretchAt(at), by]));
  const sorted = [...together].sort(([a], [b]) => (a < b ? -1 : 1));
  return sorted.map(([key, some]) => {
    const [tenant, stretch, actor] = JSON.parse(key) as [TenantId, number, string];
    const part = some.length < MANY ? '' : String(some[0]?.id);
    return { tenant, stretch, actor, part, entries: some.map(lineOf).join('') };
  });
}

export const ADD_POSTS = `
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
export function* postsUpTo(limit: number, asked: Asked): Script<readonly TrailEntry[]> {
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
export const newestFirst = (a: TrailEntry, b: TrailEntry): number => b.at - a.at || (a.id < b.id ? 1 : -1);

const selectPosts = (index: string, condition: string): string => `
  SELECT tenant, stretch, actor, part, entries FROM trail_posts${index}
  WHERE tenant = @tenant${condition} AND stretch >= @since AND (stretch, actor, part) < (@stretch, @actor, @part)
  ORDER BY stretch DESC, actor DESC, part DESC LIMIT @limit`;

const SELECT_POSTS = selectPosts('', '');
const SELECT_POSTS_BY = selectPosts(' INDEXED BY trail_posts_by_actor', ' AND actor = @by');
