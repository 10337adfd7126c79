import type {
  Asked,
  Consolidation,
  ConversationContext,
  Gathered,
  LaneId,
  LastLook,
  Message,
  Plan,
  Scope,
  SentCall,
  SettledCall,
  Stored,
  StoredAnswer,
  TenantId,
  ThoughtStore,
  Trust,
  Turn,
} from '@slowwave/engine';
import { NOTHING_USED } from '@slowwave/engine/storing';
import { laidOpen, packed, unpacked } from '../packed.ts';
import {
  type AnswerOf,
  type AnswerRow,
  answerFrom,
  answersIn,
  type ConsolidationRow,
  consolidationFrom,
  countRefused,
  dropVectors,
  SELECT_CONSOLIDATIONS,
  shownIn,
  storeVectors,
  thoughtsFrom,
  vectorsOf,
} from './kept-thoughts.ts';
import { HAS_ROOM, roomsGiven } from './limits.ts';
import { consolidationNumber, isLaneStanding, type Listing, laneOfUser, newestFirst } from './page.ts';
import { type MessageRow, messageFrom } from './rows/batch.ts';
import { ofBatches } from './schema.ts';
import {
  type Access,
  all,
  few,
  fewAtOnce,
  first,
  firstAs,
  ifHeld,
  lookup,
  read,
  run,
  type Script,
  snapshot,
  statement,
  storeOf,
  together,
  write,
} from './script.ts';
import { type TermsColumns, termsFrom, termsOf } from './settings.ts';
import { HELD, laneAt, laneHeldBy } from './turn.ts';
import { noting, settle, settling } from './usage.ts';

export function thoughtStore(access: Access): ThoughtStore {
  const { keepLate, look, withdraw, ...store } = scripted(access);
  return {
    ...store,
    lastLook: async (turn, asked, call) => {
      const first = await store.lastLook(turn, asked, call);
      if (turn.resumed !== true || !first.isNoted) return first;
      // Noting waits for its turn and for the disk; whoever had the lane before may have stored the answer meanwhile.
      const second = await look(turn, asked);
      if (second.holds && second.answer === null) return first;
      await withdraw(call);
      return second;
    },
    storeAnswer: async (turn, answer, call = null) => {
      const stored = await store.storeAnswer(turn, answer, call);
      if (stored.kind === 'fenced') await keepLate(turn, answer, call);
      return stored;
    },
  };
}

interface ThoughtScripts extends ThoughtStore {
  /** The answer of a turn that has lost its lane, for whoever has it now: it was paid for. */
  keepLate(turn: Turn, answer: StoredAnswer, call: SettledCall | null): Promise<void>;
  look(turn: Turn, asked: Asked): Promise<LastLook>;
  /** Of a call that was noted nothing was sent. */
  withdraw(call: SentCall): Promise<void>;
}

const scripted = storeOf<ThoughtScripts>('thoughts', {
  gather: fewAtOnce(gather),
  context: snapshot(contextOf),
  answer: lookup(findAnswer),
  lastLook: statement(lastLook),
  look: lookup(look),
  withdraw: write((call) =>
    settle({ ...call, outcome: 'refused', usage: NOTHING_USED, cost: 0, noted: call, tookMs: 0 }),
  ),
  /** Keeps a model answer, and settles its call; both once. */
  storeAnswer: statement(function* (turn, answer, call) {
    return storedIf(yield* ifHeld(laneHeldBy(turn), ...keepingOpen(turn, answer, call)));
  }),
  keepLate: statement(function* (turn, answer, call) {
    const isKept = yield* ifHeld(laneAt(turn), ...keepingOpen(turn, answer, call));
    if (!isKept && call !== null) yield* settle(call);
  }),
  /** In the order they came. */
  answers: read(function* (id) {
    return (yield* answersOf([id])).map(answerFrom);
  }),
  storePlan: statement(function* (turn, plan) {
    const id = turn.consolidationId;
    const isHeld = yield* ifHeld(
      laneHeldBy(turn),
      keepingPlan(id, plan, laidOpen),
      run("UPDATE consolidations SET state = 'planned' WHERE id = @id AND :held", { id }),
    );
    return storedIf(isHeld);
  }),
  /** The newest round. */
  plan: lookup(newestPlan),
  get: read((tenant, id) =>
    firstAs(
      consolidationFrom,
      `${SELECT_CONSOLIDATIONS} WHERE c.tenant = @tenant AND c.id = @id AND ${isLaneStanding('c.lane')}`,
      { tenant, id },
    ),
  ),
  list: read((tenant, filter, page) => {
    const isFew = filter.state !== undefined && filter.state !== 'applied';
    return newestFirst(isFew ? NOT_APPLIED : CONSOLIDATIONS, page, { tenant, ...filter });
  }),
  vectors: few(vectorsOf),
  storeVectors: write(storeVectors),
  dropVectors: write(dropVectors),
  refusedTexts: read(countRefused),
});

const storedIf = (isHeld: boolean): Stored => ({ kind: isHeld ? 'stored' : 'fenced' });

/**
 * What a turn reads of the conversation, all of one moment. Answers are there where it was begun before. What its batches say is not
 * read by whoever has just written it.
 */
export function* gather(turn: Turn, recentCount: number, said: readonly Message[] | null = null): Script<Gathered> {
  const { batchIds: ids, consolidationId: id } = turn;
  const [heard, batches] = yield* together(
    heardBy(turn, recentCount, said),
    all<PinnedRow>(SELECT_BATCHES, { id, ids }),
  );
  const head = batches.find(({ is_first }) => is_first === 1);
  const isAnswered = head?.is_answered === 1 || batches.some(({ formers }) => formers !== '[]');
  const answers = isAnswered ? yield* answersOf([id, ...batches.flatMap((row) => JSON.parse(row.formers))]) : [];
  const plan = head?.plan == null ? yield* planIn(id, head?.thought ?? null) : JSON.parse(unpacked(head.plan));
  return {
    messages: heard.pinned,
    metadata: new Map(batches.map((row) => [row.id, JSON.parse(row.metadata)])),
    summary: head?.summary ?? null,
    summaryTrust: head?.summary_trust ?? null,
    recent: heard.recent,
    thought: {
      plan,
      answers: answers.filter((row) => row.consolidation_id === id).map(answerFrom),
      former: answers.filter((row) => row.consolidation_id !== id).map(formerFrom),
    },
    ...termsFrom(head),
  };
}

interface Heard {
  readonly pinned: readonly Message[];
  /** The last ones before them. */
  readonly recent: readonly Message[];
}

/** Both in the order of the lane. */
function* heardBy(
  { tenant, batchIds: ids, consolidationId: id }: Turn,
  limit: number,
  said: Heard['pinned'] | null,
): Script<Heard> {
  if (said === null || said.length === 0) {
    const rows = yield* all<HeardRow>(SELECT_HEARD, { tenant, id, ids, limit });
    const heard = (isPinned: 0 | 1) => rows.filter(({ is_pinned }) => is_pinned === isPinned).map(messageFrom);
    return { pinned: heard(1), recent: heard(0) };
  }
  const pinned = said.toSorted((a, b) => a.saidAt.seq - b.saidAt.seq);
  const recent = yield* all<MessageRow>(SELECT_RECENT_OF, { tenant, id, before: pinned[0]?.saidAt.seq ?? 0, limit });
  return { pinned, recent: recent.map(messageFrom).reverse() };
}

type HeardRow = MessageRow & { readonly is_pinned: 0 | 1 };

/** A pinned batch. What is of the consolidation or the tenant stands beside the first one only. */
interface PinnedRow extends TermsColumns {
  readonly id: string;
  readonly metadata: string;
  /** A list of consolidations that were undone. */
  readonly formers: string;
  readonly is_first: 1 | null;
  readonly summary: string | null;
  readonly summary_trust: Trust | null;
  readonly plan: Uint8Array | null;
  readonly thought: Uint8Array | null;
  readonly is_answered: 0 | 1 | null;
}

/** What was answered to consolidations, in the order it came. */
export function* answersOf(ids: readonly string[]): Script<readonly AnswerOf[]> {
  return answersFrom(yield* all<AnsweredRow>(SELECT_ANSWERED, { ids }));
}

/** An answer beside what is kept of its consolidation; either is null where there is none. */
type AnsweredRow = { readonly of: string; readonly thought: Uint8Array | null } & (
  | AnswerRow
  | { readonly [Name in keyof AnswerRow]: null }
);

/** What was folded was there before. */
function answersFrom(rows: readonly AnsweredRow[]): readonly AnswerOf[] {
  return [...Map.groupBy(rows, (row) => row.of)].flatMap(([id, of]) => {
    const thought = of[0]?.thought ?? null;
    const kept = thought === null ? [] : answersIn(id, thought);
    return [...kept, ...of.filter((row) => row.step !== null)];
  });
}

const answered = (which: string): string => `
  SELECT c.id AS of, c.thought, a.* FROM consolidations c LEFT JOIN answers a ON a.consolidation_id = c.id ${which}
    AND (c.thought IS NOT NULL OR a.seq IS NOT NULL) ORDER BY c.created_at, c.id, a.seq`;

const SELECT_ANSWERED = answered('WHERE c.id IN :ids');

/** An answer of a consolidation that was undone, for the one that follows it. */
const formerFrom = (row: AnswerOf): StoredAnswer => ({ former: row.consolidation_id, ...answerFrom(row) });

interface ScopeRow {
  readonly id: number;
  readonly tenant: TenantId;
  readonly summary: string | null;
  readonly summary_trust: Trust | null;
}

/** What a batch of a scope would be gathered with if it were claimed now. */
function* contextOf(lane: LaneId, scope: Scope, recentCount: number): Script<ConversationContext> {
  const row = yield* first<ScopeRow>(SELECT_SCOPE_OF_LANE, { lane, ...scope });
  if (row === null) return { summary: null, summaryTrust: null, recent: [] };
  const recent = yield* all<MessageRow>(SELECT_RECENT, {
    tenant: row.tenant,
    scope: row.id,
    before: Number.MAX_SAFE_INTEGER,
    limit: recentCount,
  });
  return { summary: row.summary, summaryTrust: row.summary_trust, recent: recent.map(messageFrom).reverse() };
}

const NEWEST_PLAN = 'SELECT p.plan FROM plans p WHERE p.consolidation_id = @id ORDER BY p.round DESC LIMIT 1';

const SELECT_BATCHES = `
  SELECT b.id, b.metadata, b.formers, f.is_first, f.summary, f.summary_trust, f.plan, f.thought, f.is_answered, f.rules, f.ceilings, f.economy
  FROM batches b
  LEFT JOIN (
    SELECT c.batch_ids->>0 AS id, 1 AS is_first, c.summary, (${NEWEST_PLAN}) AS plan, c.thought,
      (SELECT s.summary_trust FROM scopes s WHERE s.id = c.scope) AS summary_trust,
      c.thought IS NOT NULL OR EXISTS (SELECT 1 FROM answers a WHERE a.consolidation_id = c.id) AS is_answered, ${termsOf('c.tenant')}
    FROM consolidations c WHERE c.id = @id
  ) AS f ON f.id = b.id
  WHERE b.id IN :ids`;

const SELECT_SCOPE_OF_LANE = `
  SELECT s.id, l.tenant, s.summary, s.summary_trust FROM scopes s JOIN lanes l ON l.number = s.lane
  WHERE l.id = @lane AND s.user_id IS NOT DISTINCT FROM @userId AND s.agent_id IS NOT DISTINCT FROM @agentId
    AND s.run_id IS NOT DISTINCT FROM @runId AND s.app_id IS NOT DISTINCT FROM @appId`;

const selectRecent = (scope: string, before: string): string => `
  SELECT m.* FROM lane_messages m
  WHERE +m.tenant = @tenant AND m.number IN FEW (
    SELECT r.number FROM messages r JOIN batches b ON b.number = r.batch
    WHERE r.scope = ${scope} AND r.seq < ${before} AND NOT r.resent AND b.applied_at IS NOT NULL AND b.state <> 'undone'
    ORDER BY r.seq DESC LIMIT @limit;)
  ORDER BY m.seq DESC`;

const SELECT_RECENT = selectRecent('@scope', '@before');

const OF_CONSOLIDATION = '(SELECT scope FROM consolidations WHERE id = @id)';

const SELECT_RECENT_OF = selectRecent(OF_CONSOLIDATION, '@before');

/** The pinned messages, and the last ones before them, in the order of the lane. */
const SELECT_HEARD = `
  SELECT * FROM (
    SELECT p.*, 1 AS is_pinned FROM lane_messages p WHERE +p.tenant = @tenant AND ${ofBatches('p.batch', 'ids')}
    UNION ALL
    SELECT r.*, 0 FROM (${selectRecent(
      OF_CONSOLIDATION,
      `(SELECT min(p.seq) FROM messages p WHERE ${ofBatches('p.batch', 'ids')})`,
    )}) AS r
  ) AS heard ORDER BY seq`;

/** A row where the turn has its lane; with nulls where nothing is answered. */
type LookRow = AnswerRow | { readonly [Name in keyof AnswerRow]: null };

function* lastLook(turn: Turn, asked: Asked, call: SentCall): Script<LastLook> {
  const given = { ...lookingAt(turn, asked), ...roomsGiven(turn.tenant, asked.rooms ?? []) };
  if (yield* ifHeld({ text: SELECT_UNANSWERED, given }, ...noting(call)))
    return { holds: true, answer: null, isNoted: true };
  return yield* look(turn, asked);
}

function* look(turn: Turn, asked: Asked): Script<LastLook> {
  const row = yield* first<LookRow>(SELECT_LOOK, lookingAt(turn, asked));
  const answer = row === null || row.step === null ? null : answerFrom(row);
  return { holds: row !== null, answer, isNoted: false };
}

const lookingAt = ({ tenant, lane, epoch, consolidationId }: Turn, { inputHash, steps }: Asked) => ({
  ...{ tenant, lane, epoch, consolidationId },
  ...{ inputHash, steps },
});

/** The lane stays until its call is noted. */
const SELECT_UNANSWERED = `
  SELECT 1 AS found FROM lanes l
  WHERE ${HELD} AND NOT EXISTS (
    SELECT 1 FROM answers a WHERE a.consolidation_id = l.consolidation_id AND a.input_hash = @inputHash AND a.step IN :steps)
    AND ${HAS_ROOM}
  FOR KEY SHARE OF l`;

const SELECT_LOOK = `
  SELECT a.* FROM lanes l
  LEFT JOIN answers a ON a.consolidation_id = l.consolidation_id AND a.input_hash = @inputHash AND a.step IN :steps
  WHERE ${HELD} LIMIT 1`;

function* findAnswer(consolidationId: string, step: string, inputHash: string): Script<StoredAnswer | null> {
  const rows = yield* all<AnsweredRow>(SELECT_USABLE, { consolidationId, step, inputHash });
  const found = answersFrom(rows).filter((one) => one.step === step && one.input_hash === inputHash);
  const own = found.find((one) => one.consolidation_id === consolidationId);
  if (own !== undefined) return answerFrom(own);
  const newest = found.toSorted((a, b) => a.at - b.at).at(-1);
  return newest === undefined ? null : formerFrom(newest);
}

/** Its own, and those that were given to undone consolidations of its batches; and the consolidations that they are of. */
const USABLE = `
  SELECT @consolidationId::text AS id
  UNION SELECT f.value FROM batches b, jsonb_array_elements_text(b.formers) AS f
    WHERE b.consolidation = ${consolidationNumber('@consolidationId')}`;

const SELECT_USABLE = answered(`AND a.step = @step AND a.input_hash = @inputHash WHERE c.id IN (${USABLE})`);

type Kept = (text: string) => Buffer;

/** Keeps an answer once, and settles the call that brought it. */
const keepingAs =
  (kept: Kept) =>
  (
    { consolidationId: id }: Pick<Turn, 'consolidationId'>,
    answer: StoredAnswer,
    call: SettledCall | null = null,
  ): readonly Script<unknown>[] => {
    const { text, usage, truncated, former = null, ...columns } = answer;
    const { promptTokens, cachedTokens = 0, completionTokens } = usage;
    const used = { promptTokens, cachedTokens, completionTokens };
    const row = { ...columns, ...used, id, text: kept(text), truncated: truncated ? 1 : 0, former };
    return [...(call === null ? [] : settling(call)), run(INSERT_ANSWER, row)];
  };

export const keeping = keepingAs(packed);

/** A turn ends in seconds, which folds what it thought. */
const keepingOpen = keepingAs(laidOpen);

const INSERT_ANSWER = `
  INSERT INTO answers (
    consolidation_id, step, input_hash, text, truncated, model, prompt_tokens, cached_tokens, completion_tokens, at, former
  )
  SELECT @id, @step, @inputHash, @text, @truncated::boolean, @model, @promptTokens, @cachedTokens, @completionTokens, @at, @former
  WHERE :held
  ON CONFLICT (consolidation_id, step, input_hash) DO NOTHING`;

/** A row per round. */
export const keepingPlan = (id: string, plan: Plan, kept: Kept): Script<number> =>
  run(UPSERT_PLAN, {
    ...{ id, round: plan.round, plan: kept(JSON.stringify(plan)) },
    shown: shownIn(plan),
  });

export function* newestPlan(id: string): Script<Plan | null> {
  const row = yield* first<{ readonly thought: Uint8Array | null; readonly plan: Uint8Array | null }>(SELECT_PLAN, {
    id,
  });
  const [thought, plan] = [row?.thought ?? null, row?.plan ?? null];
  return plan === null ? yield* planIn(id, thought) : (JSON.parse(unpacked(plan)) as Plan);
}

const SELECT_PLAN = `SELECT c.thought, (${NEWEST_PLAN}) AS plan FROM consolidations c WHERE c.id = @id`;

function* planIn(id: string, thought: Uint8Array | null): Script<Plan | null> {
  if (thought === null) return null;
  return (yield* thoughtsFrom([{ id, thought }])).get(id)?.plans.at(-1) ?? null;
}

const UPSERT_PLAN = `
  INSERT INTO plans (consolidation_id, round, plan, shown) SELECT @id, @round, @plan::bytea, @shown::jsonb WHERE :held
  ON CONFLICT (consolidation_id, round) DO UPDATE SET plan = excluded.plan, shown = excluded.shown`;

const CONSOLIDATIONS: Listing<ConsolidationRow, Consolidation> = {
  select: SELECT_CONSOLIDATIONS,
  by: ['c.created_at', 'c.id'],
  always: [isLaneStanding('c.lane')],
  asked: { tenant: 'c.tenant = @tenant', state: 'c.state = @state', userId: laneOfUser('c.lane', 'number') },
  make: consolidationFrom,
};

/** In the words of their index. */
const NOT_APPLIED = { ...CONSOLIDATIONS, always: [isLaneStanding('c.lane'), "c.state <> 'applied'"] };
