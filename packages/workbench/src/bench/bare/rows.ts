/** One post. */
export interface Posted {
  readonly user: string;
  readonly messages: readonly { readonly role: string; readonly content: string }[];
}

export interface BareWriter {
  /** Answers the id of the batch when it is on the disk. */
  append(posted: Posted): Promise<string>;
}

/** Somebody who posts, as the writer knows them: one writer needs to ask nobody. */
export interface Poster {
  readonly lane: string;
  readonly laneNumber: number;
  readonly scope: number;
  position: number;
  seq: number;
}

const DIGITS = 26;
let count = 0;

/** In the order of their making, as the ledger's are: new rows are at the end of every index of them. */
export const nextId = (kind: string): string => `${kind}_${String(++count).padStart(DIGITS, '0')}`;

export const TENANT = 'default';
/** What the columns of a batch hold that are the same for all. */
export const SETTINGS = '{"mode":"facts","instructions":null,"includes":[],"excludes":[],"expiresAt":null}';
export const TOKENS = 600;
const NEVER_MS = 3_600_000;

export const NEW_LANE = {
  /** Nothing is due meanwhile. */
  waitMs: NEVER_MS,
  columns:
    'id, tenant, owner_kind, owner_id, state, generation, epoch, due_at, next_position, next_seq, pending, pending_tokens, ' +
    'pending_backfill, nudged_backfill, flush_through, attempts, created_at, updated_at, newest_at',
  values: (lane: string, user: string, now: number) =>
    [lane, TENANT, 'user', user, 'waiting', 1, 0, now + NEVER_MS, 0, 0, 0, 0, 0, 0, 0, 0, now, now, now] as const,
};

export const BATCH_COLUMNS =
  'id, lane, scope, position, message_count, accepted_at, tenant, settings, metadata, tokens, exchanges, backfill, state, stage, attempts';
export const MESSAGE_COLUMNS = 'place, lane, scope, batch, seq, role, content, said_at, resent';

/** The rows of one batch. Its messages name it by its id: it has no number yet. */
export interface Rows {
  readonly poster: Poster;
  readonly batch: readonly [id: string, lane: number, scope: number, position: number, messages: number, at: number];
  readonly messages: readonly (readonly [
    place: number,
    lane: number,
    scope: number,
    batch: string,
    seq: number,
    role: string,
    content: string,
    at: number,
  ])[];
}

export function rowsOf({ messages }: Posted, poster: Poster): Rows {
  const [id, at] = [nextId('bat'), Date.now()];
  const { laneNumber, scope } = poster;
  poster.position += 1;
  return {
    poster,
    batch: [id, laneNumber, scope, poster.position, messages.length, at],
    messages: messages.map(({ role, content }, place) => {
      poster.seq += 1;
      return [place, laneNumber, scope, id, poster.seq, role, JSON.stringify(content), at];
    }),
  };
}
