import type {
  JustApplied,
  LaneId,
  MadeFrom,
  Millis,
  SaidInLane,
  SaidMessage,
  SpeechStore,
  SpokenBatch,
  SpokenMessage,
  TenantId,
} from '@slowwave/engine';
import { sameCredits } from '@slowwave/engine/storing';
import { inConsolidations, LANE_NUMBER } from './page.ts';
import { creditsOf } from './receipts.ts';
import { type MessageRow, messageFrom, NAMED_MESSAGES, naming, settingsFrom } from './rows/batch.ts';
import { type OwnerColumns, ownerFrom, type ScopeColumns, scopeFrom } from './rows/columns.ts';
import { messageId, ofBatches } from './schema.ts';
import { all, counted, few, first, type Given, idsOf, read, run, type Script, storeOf, together } from './script.ts';

/**
 * Batches are read before their messages: what retention removes in between has a later revision by then, so that it is
 * projected again.
 */
export const speechStore = storeOf<SpeechStore>('speech', {
  said: read((lane, ids) => saidInLane({ lane, ids })),
  unprojected: few((limit, left = NOTHING_LEFT) => {
    const rest = '(b.applied_at IS NULL OR b.applied_at <= @after OR b.applied_at > @upTo)';
    return spokenWhere(`${UNPROJECTED} AND ${notAside('l.id')} AND ${rest} ${LOST_LAST}`, { limit, ...left });
  }),
  unprojectedIn: read((lane, limit) =>
    spokenWhere(`${UNPROJECTED} AND b.lane = ${LANE_NUMBER} ${LOST_LAST}`, { lane, limit }),
  ),
  unprojectedOf: read((ids) =>
    spokenWhere(`${inConsolidations('b.consolidation', 'ids')} AND ${UNPROJECTED} ORDER BY b.id`, { ids }),
  ),
  batches: read((ids) => spokenWhere('b.id IN :ids ORDER BY b.id', { ids })),
  every: read(({ after, limit, changedSince }) => {
    const changed = 'greatest(coalesce(b.applied_at, 0), coalesce(b.speech_revised_at, 0)) >= @changedSince';
    return spokenWhere(`b.id > @after AND l.erasure IS NULL AND ${changed} ORDER BY b.id LIMIT @limit`, {
      ...{ after: after ?? '', limit, changedSince: changedSince ?? 0 },
    });
  }),
  hearers: read((batchIds) => idsOf(`${selectHearers()} ORDER BY k.id`, { batchIds })),
  /** Of all of its batches: who asks compares a whole index. */
  points: read((tenant) =>
    counted('SELECT coalesce(sum(points), 0)::bigint AS count FROM batches WHERE tenant = @tenant', { tenant }),
  ),
});

/** Nothing is left to others. */
export const NOTHING_LEFT: JustApplied = { after: 0, upTo: 0 };

const LOST_LAST = 'ORDER BY b.projected_revision DESC, b.id LIMIT @limit';

interface OfLane {
  readonly lane: LaneId;
  readonly ids: readonly string[];
}

type Said = readonly SaidMessage[];
type Talk = readonly SpokenMessage[];

export function* saidInLane({ lane, ids }: OfLane): Script<SaidInLane> {
  if (ids.length === 0) return { stands: (yield* first(SELECT_STANDING, { lane })) !== null, said: [] };
  const rows = yield* all<FoundRow>(SELECT_IN_LANE, { lane, ...naming(ids) });
  return { stands: rows[0]?.stands === 1, said: saidFrom(rows.filter((row) => row.id !== null)) };
}

/** Messages `m` with what was said beside each, in the order of their lane. */
function* talkWhere(condition: string, given: Given): Script<Talk> {
  const rows = yield* all<TalkRow>(selectTalk(condition), given);
  const messages = new Map(rows.map((row) => [row.number, messageFrom(row)]));
  const before = new Map(rows.map((row) => [row.number, row.before]));
  const numbered = (number: number | null | undefined) => messages.get(number ?? NONE) ?? null;
  return rows
    .filter((row) => row.asked === 1)
    .toSorted((a, b) => a.seq - b.seq)
    .flatMap((row) => {
      const message = messages.get(row.number);
      const earlier = before.get(row.before ?? NONE);
      const beside = { before: numbered(row.before), earlier: numbered(earlier), next: numbered(row.next) };
      return message === undefined ? [] : [{ message, ...beside }];
    });
}

/** No message has this number. */
const NONE = -1;

function saidFrom(rows: readonly SaidRow[]): Said {
  const messages = new Map(rows.map((row) => [row.number, messageFrom(row)]));
  return rows
    .filter((row) => row.asked === 1)
    .toSorted((a, b) => a.seq - b.seq)
    .flatMap((row) => {
      const message = messages.get(row.number);
      const before = messages.get(row.before ?? NONE) ?? null;
      return message === undefined ? [] : [{ message, before }];
    });
}

/** Messages with the one before each, the one before that, and the next one. */
const selectTalk = (condition: string): string => `
  WITH said AS MATERIALIZED (SELECT m.*, ${BEFORE}, ${NEXT} FROM lane_messages m WHERE ${condition}),
    prior AS MATERIALIZED (
      SELECT m.*, ${BEFORE}, NULL::bigint AS next FROM lane_messages m
      WHERE m.number IN FEW (SELECT before FROM said;) AND NOT (m.number IN (SELECT number FROM said)))
  SELECT said.*, 1 AS asked FROM said
  UNION ALL
  SELECT prior.*, 0 FROM prior
  UNION ALL
  SELECT m.*, NULL::bigint, NULL::bigint, 0 FROM lane_messages m
  WHERE m.number IN FEW (SELECT before FROM prior UNION SELECT next FROM said;)
    AND NOT (m.number IN (SELECT number FROM said UNION ALL SELECT number FROM prior))`;

/** A message, and the numbers of those beside it. */
type TalkRow = SaidRow & { readonly next: number | null };

/** A message and the number of the one before it; whether it was asked for, or is one before others. */
type SaidRow = MessageRow & { readonly number: number; readonly before: number | null; readonly asked: 0 | 1 };

/** A message of a lane; nulls beside `stands` where none is found. */
type FoundRow = { readonly stands: 0 | 1 } & (SaidRow | { readonly [Name in keyof SaidRow]: null });

/** A user or an assistant said message `p`. */
const SPOKEN = `NOT p.resent AND p.role IN ('user', 'assistant')`;

/** Of each message `m` the last earlier one of its scope that a user or an assistant said. */
const PRIOR_SEQ = `(SELECT max(p.seq) FROM messages p WHERE p.scope = m.scope AND p.seq < m.seq AND ${SPOKEN})`;

/** The next one. */
const NEXT_SEQ = `(SELECT min(p.seq) FROM messages p WHERE p.scope = m.scope AND p.seq > m.seq AND ${SPOKEN})`;

/** The next but one. */
const SECOND_SEQ = `(
    SELECT p.seq FROM messages p WHERE p.scope = m.scope AND p.seq > m.seq AND ${SPOKEN} ORDER BY p.seq LIMIT 1 OFFSET 1)`;

/** What batches `b` say is found. */
const COUNTS = `b.outcome IS NOT NULL AND b.state <> 'undone' AND b.stripped_at IS NULL`;

/** What is said beside `m` at a place of its scope, if it is found: nothing is found by words of a batch that does not count. */
const besideAt = (seq: string): string => `(
    SELECT p.number FROM messages p JOIN batches b ON b.number = p.batch
    WHERE p.scope = m.scope AND p.seq = ${seq} AND ${COUNTS}
  )`;
const BEFORE = `${besideAt(PRIOR_SEQ)} AS before`;
const NEXT = `${besideAt(NEXT_SEQ)} AS next`;

const SELECT_STANDING = 'SELECT 1 AS found FROM lanes WHERE id = @lane AND erasure IS NULL';

/** One statement, so that they and those before them are of one moment. */
const withSaid = (columnsOf: (message: string) => string): string => `
  WITH said AS MATERIALIZED (SELECT ${columnsOf('m')}, ${BEFORE} FROM ${NAMED_MESSAGES} AS m WHERE m.lane = @lane), heard AS (
    SELECT said.*, 1 AS asked FROM said
    UNION ALL
    SELECT ${columnsOf('p')}, NULL::bigint, 0 FROM said JOIN lane_messages p ON p.number = said.before
  )`;

const SELECT_IN_LANE = `
  ${withSaid((message) => `${message}.*`)}
  SELECT heard.*, EXISTS (${SELECT_STANDING}) AS stands
  FROM (SELECT 1 AS one) AS o LEFT JOIN heard ON true`;

/** The same counted, without reading what they say. */
const SELECT_SAYING = `
  ${withSaid((message) => `${message}.content, ${message}.unhidden`)}
  SELECT EXISTS (${SELECT_STANDING}) AS stands,
    (SELECT count(*) FROM heard WHERE content ->> 'withheld' IS NULL AND unhidden IS NULL) AS saying`;

interface SayingRow {
  readonly stands: 0 | 1;
  readonly saying: number;
}

/**
 * Whether the lane stands, its messages say as much as when points were made from them, and answers credit its memories the same.
 * Messages that say more by now have put what is found by them into the outbox again.
 */
export function* isAsMade(from: MadeFrom | null): Script<boolean> {
  if (from === null) return true;
  const { lane, messageIds, memoryIds } = from;
  const [row, credits] = yield* together(
    first<SayingRow>(SELECT_SAYING, { lane, ...naming(messageIds) }),
    creditsOf(memoryIds),
  );
  return row?.stands === 1 && row.saying >= from.saying && sameCredits(credits, from.credits);
}

type Spoken = readonly SpokenBatch[];

/** Batches `b` of lanes `l` that an index knows or is to know, with what they say. */
function* spokenWhere(condition: string, given: Given): Script<Spoken> {
  return yield* spokenOf(yield* spokenRows(condition, given));
}

export const spokenRows = (condition: string, given: Given): Script<readonly SpokenRow[]> =>
  all<SpokenRow>(`${SELECT_SPOKEN} AND ${condition}`, given);

/** Batches are read before what they say, and so are those that they go on. */
function* spokenOf(rows: readonly SpokenRow[]): Script<Spoken> {
  return rows.length === 0 ? [] : yield* spokenBy(rows, yield* endsBefore(rows.map(({ id }) => id)));
}

/** What batches go on, if it counts. */
export const endsBefore = (ids: readonly string[]): Script<readonly EndRow[]> => all<EndRow>(SELECT_ENDS, { ids });

/** Batches with what they say, and with the ends of those that they go on. */
export function* spokenBy(rows: readonly SpokenRow[], ends: readonly EndRow[]): Script<Spoken> {
  if (rows.length === 0) return [];
  const lasts = ends.map((row) => row.last_number);
  const talk = yield* talkWhere(SAID_IN, { ids: rows.map(({ id }) => id), lasts });
  const messages = Map.groupBy(talk, ({ message }) => message.batchId);
  const endBefore = new Map(
    ends.map((row) => [
      row.followed_by,
      batchFrom(
        row,
        talk.filter(({ message }) => message.id === row.last_id),
      ),
    ]),
  );
  return rows.map((row) => ({
    ...batchFrom(row, messages.get(row.id) ?? []),
    goesOn: endBefore.get(row.id) ?? null,
  }));
}

/** By their ids alone: of a condition on two tables SQLite would read all of both. */
const SAID_IN = `m.number IN FEW (
    SELECT n.number FROM messages n WHERE ${ofBatches('n.batch', 'ids')}
    UNION SELECT n.number FROM messages n WHERE n.number IN :lasts::bigint;)`;

/** A batch, as far as it is projected. One that waits again has no outcome any more: an index forgets it. */
interface SpokenRow extends ScopeColumns, OwnerColumns {
  readonly id: string;
  readonly tenant: TenantId;
  readonly lane: LaneId;
  readonly settings: string;
  readonly metadata: string;
  readonly state: string;
  readonly outcome: string | null;
  readonly stripped_at: number | null;
  readonly accepted_at: number;
  readonly applied_at: number | null;
  readonly speech_revised_at: number | null;
  readonly speech_revision: number;
  readonly projected_revision: number;
}

const SPOKEN_COLUMNS = `
  b.id, b.tenant, l.id AS lane, b.settings, b.metadata, b.state, b.outcome, b.stripped_at, b.accepted_at, b.applied_at,
  b.speech_revised_at, b.speech_revision, b.projected_revision,
  s.user_id, s.agent_id, s.run_id, s.app_id, l.owner_kind, l.owner_id`;

const OF_SCOPE = 'JOIN scopes s ON s.id = b.scope JOIN lanes l ON l.number = b.lane WHERE b.speech_revision > 0';

const SELECT_SPOKEN = `SELECT ${SPOKEN_COLUMNS} FROM batches b ${OF_SCOPE}`;

/** A batch that another one goes on, and the last message before that one. */
type EndRow = SpokenRow & { readonly followed_by: string; readonly last_number: number; readonly last_id: string };

const SELECT_ENDS = `
  SELECT ${SPOKEN_COLUMNS}, e.followed_by, e.number AS last_number, ${messageId('e', 'b')} AS last_id
  FROM (
    SELECT (SELECT w.id FROM batches w WHERE w.number = f.batch) AS followed_by, m.batch, m.number, m.id, m.place
    FROM (
      SELECT p.batch, p.scope, min(p.seq) AS seq FROM messages p WHERE ${ofBatches('p.batch', 'ids')} AND ${SPOKEN}
      GROUP BY p.batch, p.scope
    ) AS f
    JOIN messages m ON m.scope = f.scope
      AND m.seq = (SELECT max(p.seq) FROM messages p WHERE p.scope = f.scope AND p.seq < f.seq AND ${SPOKEN})
  ) AS e
  JOIN batches b ON b.number = e.batch ${OF_SCOPE} AND ${COUNTS}`;

const batchFrom = (row: SpokenRow, messages: Talk): Omit<SpokenBatch, 'goesOn'> => ({
  id: row.id,
  tenant: row.tenant,
  lane: row.lane,
  owner: ownerFrom(row),
  scope: scopeFrom(row),
  revision: row.speech_revision,
  projected: row.projected_revision >= row.speech_revision,
  counts: row.outcome !== null && row.state !== 'undone' && row.stripped_at === null,
  metadata: JSON.parse(row.metadata),
  acceptedAt: row.accepted_at,
  changedAt: Math.max(row.applied_at ?? 0, row.speech_revised_at ?? 0),
  expiresAt: settingsFrom(row.settings).expiresAt,
  messages,
});

/** What is not projected as it is now. */
export const UNPROJECTED = 'b.projected_revision < b.speech_revision';

/** The lane of a row is projected with all others. */
export const notAside = (lane: string): string =>
  `NOT EXISTS (SELECT 1 FROM unprojected_lanes u WHERE u.lane = ${lane})`;

/** What an index shows of a batch changes: it is projected again. */
const REVISE = 'speech_revision = speech_revision + 1, speech_revised_at = @now';

/** Stands for a batch that was projected before the index was lost. */
export const LOST = -1;

/** What was projected of batches: their ids, and at which revision. */
const GIVEN = `
    SELECT value ->> 'id' AS id, (value ->> 'revision')::bigint AS revision, (value ->> 'points')::bigint AS points
    FROM :rows AS r`;

/** Of a batch that changed meanwhile it is not noted that it was projected: it will be projected again. */
export const NOTE_TOLD = `
  UPDATE batches SET projected_revision = n.revision, points = n.points
  FROM (${GIVEN}
  ) AS n
  WHERE batches.id = n.id AND speech_revision = n.revision AND projected_revision < n.revision`;

/** The batches of which that would be noted. */
export const TOLD = `
  SELECT n.id, n.revision, n.points FROM (${GIVEN}
  ) AS n JOIN batches b ON b.id = n.id AND b.speech_revision = n.revision AND b.projected_revision < n.revision`;

export const COUNT_UNPROJECTED = `SELECT count(*) AS count FROM batches b WHERE ${UNPROJECTED}`;

/** Memories m as rows of the outbox. */
export const TO_PROJECT = 'SELECT m.id, m.tenant, l.id FROM memories m JOIN lanes l ON l.number = m.lane';

/** What these batches say has changed: they are projected again, with all that is found by it. */
export function* projectSpeechAgain(batchIds: readonly string[], now: Millis): Script<void> {
  yield* together(
    run(REVISE_WITH_BESIDE, { batchIds, now }),
    run(
      `INSERT INTO outbox (memory_id, tenant, lane)
       ${TO_PROJECT} WHERE m.id IN (SELECT h.id FROM (${selectHearers()}) h) ORDER BY m.id`,
      { batchIds },
    ),
  );
}

/**
 * The other batches of messages beside those of some batches: the one before, and the two after; and whether one of them is later.
 * Each is looked up by its place alone: joined to a table without statistics, PostgreSQL would read all messages there are instead.
 */
const BESIDE = `
    WITH said AS MATERIALIZED (
      SELECT m.scope, m.seq, ${PRIOR_SEQ} AS prior, ${NEXT_SEQ} AS next, ${SECOND_SEQ} AS second
      FROM messages m WHERE ${ofBatches('m.batch', 'batchIds')}
    ), place AS MATERIALIZED (
      SELECT scope, prior AS seq, 0 AS later FROM said
      UNION SELECT scope, next, 1 FROM said
      UNION SELECT scope, second, 1 FROM said
    ), found AS MATERIALIZED (
      SELECT (SELECT b.id FROM messages n JOIN batches b ON b.number = n.batch WHERE n.scope = place.scope AND n.seq = place.seq) AS id, later
      FROM place WHERE (scope, seq) NOT IN (SELECT scope, seq FROM said)
    )
    SELECT id, max(later) AS later FROM found GROUP BY id`;

/** Batches, and those of which a message is found by what they say. */
const REVISE_WITH_BESIDE = `
  UPDATE batches SET ${REVISE}
  WHERE speech_revision > 0 AND id IN FEW (
    SELECT b.id FROM batches b WHERE b.id IN :batchIds
    UNION
    SELECT beside.id FROM (${BESIDE}
    ) AS beside;)`;

/**
 * What batches say is found from now on. The one before is found by it: its last message is projected with them, at a revision of
 * its own, so that whoever read it earlier writes nothing over it. The two after were applied before only if these are replayed:
 * they are projected again, with the memories found by what these say.
 */
export const findSpeech = (batchIds: readonly string[], now: Millis): readonly Script<unknown>[] => [
  run(RAISE_BESIDE, { batchIds, now }),
  run(
    `INSERT INTO outbox (memory_id, tenant, lane)
     ${TO_PROJECT} WHERE m.id IN (SELECT h.id FROM (${selectHearers(OF_OTHERS)}) h) ORDER BY m.id`,
    { batchIds },
  ),
];

const IS_LATER = `EXISTS (SELECT 1 FROM beside WHERE beside.id = batches.id AND beside.later = 1)`;

const RAISE_BESIDE = `
  WITH beside AS MATERIALIZED (${BESIDE}
  )
  UPDATE batches SET speech_revision = speech_revision + 1,
    speech_revised_at = CASE WHEN ${IS_LATER} THEN @now ELSE speech_revised_at END,
    projected_revision = CASE
      WHEN NOT ${IS_LATER} AND projected_revision = speech_revision THEN speech_revision + 1 ELSE projected_revision
    END
  WHERE id IN FEW (SELECT id FROM beside;) AND speech_revision > 0`;

/**
 * Memories that came from messages `m` of some batches, or from one up to the next that was said after one of them: that
 * one, and what tools printed in between, have it before them.
 */
const selectHearers = (more = ''): string => `
  WITH heard AS MATERIALIZED (
    SELECT m.lane, m.scope, m.seq, coalesce(${NEXT_SEQ}, ${SCOPE_END}) AS upto
    FROM messages m WHERE ${ofBatches('m.batch', 'batchIds')})
  SELECT DISTINCT k.id FROM heard h
  JOIN event_sources x ON x.lane = h.lane AND x.message_seq >= h.seq AND x.message_seq <= h.upto
  JOIN events e ON e.seq = x.event_seq
  JOIN memories k ON k.number = e.memory
  WHERE ${ofSource('scope')} = h.scope${more}`;

/** Where the scope of a message `m` ends by now. */
const SCOPE_END = '(SELECT max(p.seq) FROM messages p WHERE p.scope = m.scope)';

/** What the message says of itself that is the source `x`. Looked up by its place, as above. */
function ofSource(column: 'scope' | 'batch'): string {
  return `(SELECT n.${column} FROM messages n WHERE n.lane = x.lane AND n.seq = x.message_seq)`;
}

/** What others say is found by it. */
const OF_OTHERS = ` AND NOT (${ofSource('batch')} IN (SELECT number FROM batches WHERE id IN :batchIds))`;
