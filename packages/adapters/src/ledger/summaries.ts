import type { LaneId, SummaryRefresh, SummaryStore, TenantId, Trust, Turn } from '@slowwave/engine';
import { LANE_NUMBER } from './page.ts';
import { idOfMessage, type MessageRow, messageFrom } from './rows/batch.ts';
import { messageId } from './schema.ts';
import { all, fewAtOnce, first, ifHeld, lastly, run, type Script, statement, storeOf, together } from './script.ts';
import { type TermsColumns, termsFrom, termsOf } from './settings.ts';
import { settle, settling } from './usage.ts';

export const summaryStore = storeOf<SummaryStore>('summaries', {
  /** What a refresh starts from; null when none is due any more. */
  read: fewAtOnce(function* (refresh, { every, limit }) {
    const of = { id: Number(refresh.scope), lane: refresh.lane };
    const [scope, since] = yield* lastly(
      together(
        first<SummaryRow>(SELECT_SCOPE, of),
        all<SaidRow>(SELECT_SAID, { ...of, limit: Math.max(every, limit) }),
      ),
    );
    const [last] = since;
    if (scope === null || last === undefined || since.length < every) return null;
    const messages = since.slice(0, limit).reverse();
    return {
      tenant: scope.tenant,
      summary: scope.summary,
      from: scope.summary_from,
      count: scope.summary_count,
      trust: scope.summary_trust,
      messages: messages.filter((row) => row.forgotten === 0).map(messageFrom),
      upTo: last.seq,
      revision: scope.summary_revision,
      ...termsFrom(scope),
    };
  }),
  /** Takes the place of the summary it was made from, and of no other. Where it comes too late its call is settled all the same. */
  store: statement(function* (refresh, { summary, from, count, trust, upTo, revision, call }) {
    const { lane } = refresh;
    const id = Number(refresh.scope);
    const calls = call === undefined ? [] : [call];
    const isStored = yield* ifHeld(
      { text: SELECT_UNCHANGED, given: { id, lane, revision } },
      run(REPLACE_SUMMARY, { id, summary, from, count, trust, upTo }),
      ...calls.flatMap((one) => settling(one)),
    );
    if (!isStored) for (const one of calls) yield* settle(one);
    return { kind: isStored ? 'stored' : 'overtaken' };
  }),
});

/** The lane stays until its call is counted. */
const SELECT_UNCHANGED = `
  SELECT 1 AS found FROM scopes s JOIN lanes l ON l.number = s.lane
  WHERE s.id = @id AND l.id = @lane AND s.summary_revision = @revision FOR NO KEY UPDATE OF s FOR KEY SHARE OF l`;

const REPLACE_SUMMARY = `
  UPDATE scopes SET summary = @summary, summary_from = @from, summary_count = @count, summary_upto = @upTo,
    summary_trust = @trust, summary_revision = summary_revision + 1
  WHERE id = @id AND :held`;

type Due = Script<SummaryRefresh | null>;

/** The refresh of the turn's scope; null when fewer than `every` messages were said since. */
export function* dueSummary({ consolidationId: id, lane }: Turn, every: number | null): Due {
  if (every === null) return null;
  const scope = yield* first<DueRow>(SELECT_DUE, { id, lane, passed: every - 1 });
  if (scope === null || scope.enough === null || scope.newest === null) return null;
  return { lane, scope: String(scope.id), upTo: scope.newest };
}

/** A scope with its rolling summary. */
interface SummaryRow extends TermsColumns {
  readonly tenant: TenantId;
  readonly summary: string | null;
  readonly summary_from: number | null;
  readonly summary_count: number;
  readonly summary_revision: number;
  readonly summary_trust: Trust | null;
}

/** What tells which messages a summary covers. */
export interface CoveredColumns {
  readonly first_message: string | null;
  readonly last_message: string | null;
  readonly summary_count: number;
}

/** Of the scopes s. */
export const COVERED = `
  ${idOfMessage('o.scope = s.id AND o.seq = s.summary_from')} AS first_message,
  ${idOfMessage('o.scope = s.id AND o.seq = s.summary_upto')} AS last_message, s.summary_count`;

export const coveredFrom = ({ first_message: first, last_message: last, summary_count: messages }: CoveredColumns) =>
  first === null || last === null ? null : { firstMessageId: first, lastMessageId: last, messages };

/** A message that a summary does not cover. */
interface SaidRow extends MessageRow {
  /** What came of it is deleted by now. */
  readonly forgotten: 0 | 1;
}

/** A scope, with messages that its summary does not cover. */
interface DueRow {
  readonly id: number;
  readonly newest: number | null;
  /** null: they are too few. */
  readonly enough: number | null;
}

const SELECT_SCOPE = `
  SELECT l.tenant, s.summary, s.summary_from, s.summary_count, s.summary_revision, s.summary_trust,
    ${termsOf('l.tenant')}
  FROM scopes s JOIN lanes l ON l.number = s.lane WHERE s.id = @id AND l.id = @lane`;

/** Messages `m` that a summary can cover. */
const SAID = `
  FROM messages m JOIN batches b ON b.number = m.batch
  WHERE NOT m.resent AND b.applied_at IS NOT NULL AND b.state <> 'undone'`;

const SELECT_DUE = `
  SELECT s.id,
    (SELECT m.seq ${SAID} AND m.scope = s.id AND m.seq > s.summary_upto ORDER BY m.seq DESC LIMIT 1) AS newest,
    (SELECT m.seq ${SAID} AND m.scope = s.id AND m.seq > s.summary_upto
      ORDER BY m.seq DESC LIMIT 1 OFFSET @passed) AS enough
  FROM consolidations c JOIN scopes s ON s.id = c.scope WHERE c.id = @id AND s.lane = ${LANE_NUMBER}`;

/** The newest consolidated messages that the summary of a scope does not cover, newest first. */
const SELECT_SAID = `
  SELECT m.*, ${messageId('m', 'b')} AS id, b.id AS batch_id, EXISTS (
    SELECT 1 FROM event_sources x JOIN events e ON e.seq = x.event_seq JOIN memories k ON k.number = e.memory
    WHERE x.lane = m.lane AND x.message_seq = m.seq AND e.kind <> 'DELETE' AND NOT k.live
  ) AS forgotten ${SAID} AND m.scope = @id
    AND m.seq > (SELECT s.summary_upto FROM scopes s WHERE s.id = @id AND s.lane = ${LANE_NUMBER})
  ORDER BY m.seq DESC LIMIT @limit`;

/** Those that consolidations of a lane began with: prompts of later tries, of studies and of what-ifs have them. */
export const forgetBegunSummaries = (lane: LaneId): Script<number> =>
  run(`UPDATE consolidations SET summary = NULL WHERE lane = ${LANE_NUMBER} AND summary IS NOT NULL`, { lane });

/** Summaries go back to covering nothing; refreshes under way no longer fit. Consolidations that began with them still know whose word they were. */
export function* forgetSummaries(lane: LaneId): Script<void> {
  yield* run(
    `UPDATE scopes SET summary = NULL, summary_from = NULL, summary_count = 0, summary_upto = 0,
       summary_revision = summary_revision + 1
     WHERE lane = ${LANE_NUMBER}`,
    { lane },
  );
}
