import type {
  Asked,
  Consolidation,
  ConversationContext,
  Gathered,
  KnownVectors,
  LaneId,
  LastLook,
  ModelCall,
  Page,
  Paged,
  Plan,
  Scope,
  Stored,
  StoredAnswer,
  TenantId,
  ThoughtStore,
  Turn,
} from '@slowwave/engine';
import { type Access, asLookup, asRead, asSnapshot, asStatement } from './access.ts';
import { isStanding, type Listing, laneOfUser, newestFirst } from './page.ts';
import { type MessageRow, messageFrom } from './rows/batch.ts';
import {
  type AnswerRow,
  answerFrom,
  type ConsolidationRow,
  consolidationFrom,
  SELECT_CONSOLIDATIONS,
} from './rows/consolidation.ts';
import { all, first, ifHeld, inOne, insert, run, type Script, together } from './script.ts';
import { type TermsColumns, termsFrom, termsOf } from './settings.ts';
import { HELD, laneAt, laneHeldBy } from './turn.ts';
import { type Caller, counting } from './usage.ts';
import { bytesOf, countRefused, vectorsFrom } from './vectors.ts';

export const thoughtStore = ({ read, write }: Access): ThoughtStore => ({
  gather: (turn, recentCount) => read(gather, { turn, recentCount }),
  context: (lane, scope, recentCount) => read(contextOf, { lane, scope, recentCount }),
  answer: (consolidationId, step, inputHash) => read(findAnswer, { consolidationId, step, inputHash }),
  lastLook: (turn, asked) => read(lastLook, { turn, asked }),
  storeAnswer: async (turn, answer) => {
    const stored = await write(storeAnswer, { turn, answer });
    if (stored.kind === 'fenced') await write(keepLate, { turn, answer });
    return stored;
  },
  answers: (consolidationId) => read(listAnswers, { consolidationId }),
  countFailedCall: (turn, call) => write(countFailedCall, { turn, call }),
  storePlan: (turn, plan) => write(storePlan, { turn, plan }),
  plan: (consolidationId) => read(planOf, { consolidationId }),
  get: (tenant, id) => read(getConsolidation, { tenant, id }),
  list: (tenant, filter, page) => read(listConsolidations, { tenant, filter, page }),
  vectors: (lane, fingerprint, textHashes) => read(vectorsOf, { lane, fingerprint, textHashes }),
  storeVectors: (lane, fingerprint, vectors) => write(storeVectors, { lane, fingerprint, vectors }),
  refusedTexts: (fingerprint) => read(refusedTexts, fingerprint),
});

interface Gather {
  readonly turn: Turn;
  readonly recentCount: number;
}

/** What a turn reads of the conversation, all of one moment. Answers are there where it was begun before. */
const gather = asSnapshot('thoughts.gather', function* ({ turn, recentCount }: Gather): Script<Gathered> {
  const { tenant, batchIds: ids, consolidationId: id } = turn;
  const [messages, batches] = yield* together(
    all<HeardRow>(SELECT_HEARD, { tenant, id, ids, limit: recentCount }),
    all<PinnedRow>(SELECT_BATCHES, { id, ids }),
  );
  const head = batches.find(({ is_first }) => is_first === 1);
  const isAnswered = head?.is_answered === 1 || batches.some(({ formers }) => formers !== '[]');
  const answers = isAnswered ? yield* all<AnswerRow>(SELECT_USABLE, { id, ids }) : [];
  const heard = (isPinned: 0 | 1) => messages.filter(({ is_pinned }) => is_pinned === isPinned).map(messageFrom);
  return {
    messages: heard(1),
    metadata: new Map(batches.map((row) => [row.id, JSON.parse(row.metadata)])),
    summary: head?.summary ?? null,
    recent: heard(0),
    thought: {
      plan: head?.plan == null ? null : JSON.parse(head.plan),
      answers: answers.filter((row) => row.consolidation_id === id).map(answerFrom),
      former: answers.filter((row) => row.consolidation_id !== id).map(formerFrom),
    },
    ...termsFrom(head),
  };
});

type HeardRow = MessageRow & { readonly is_pinned: 0 | 1 };

/** A pinned batch. What is of the consolidation or the tenant stands beside the first one only. */
interface PinnedRow extends TermsColumns {
  readonly id: string;
  readonly metadata: string;
  /** A list of consolidations that were undone. */
  readonly formers: string;
  readonly is_first: 1 | null;
  readonly summary: string | null;
  readonly plan: string | null;
  readonly is_answered: 0 | 1 | null;
}

interface ContextOf {
  readonly lane: LaneId;
  readonly scope: Scope;
  readonly recentCount: number;
}

/** The answers of a turn, and of those of its batches that were undone before. In the order they came. */
const SELECT_USABLE = `
  SELECT * FROM answers
  WHERE consolidation_id IN (
    SELECT @id::text AS id
    UNION SELECT f.value FROM batches b, jsonb_array_elements_text(b.formers) AS f WHERE b.id IN :ids)
  ORDER BY seq`;

/** An answer of a consolidation that was undone, for the one that follows it. */
const formerFrom = (row: AnswerRow): StoredAnswer => ({ former: row.consolidation_id, ...answerFrom(row) });

/** What a batch of a scope would be gathered with if it were claimed now. */
const contextOf = asSnapshot('thoughts.context', function* (of: ContextOf): Script<ConversationContext> {
  const { lane, scope, recentCount } = of;
  const row = yield* first<{ id: number; tenant: TenantId; summary: string | null }>(SELECT_SCOPE_OF_LANE, {
    lane,
    ...scope,
  });
  if (row === null) return { summary: null, recent: [] };
  const recent = yield* all<MessageRow>(SELECT_RECENT, {
    tenant: row.tenant,
    scope: row.id,
    before: Number.MAX_SAFE_INTEGER,
    limit: recentCount,
  });
  return { summary: row.summary, recent: recent.map(messageFrom).reverse() };
});

const NEWEST_PLAN = 'SELECT p.plan FROM plans p WHERE p.consolidation_id = @id ORDER BY p.round DESC LIMIT 1';

const SELECT_BATCHES = `
  SELECT b.id, b.metadata, b.formers, f.is_first, f.summary, f.plan, f.is_answered, f.rules, f.ceilings
  FROM batches b
  LEFT JOIN (
    SELECT c.batch_ids->>0 AS id, 1 AS is_first, c.summary, (${NEWEST_PLAN}) AS plan,
      EXISTS (SELECT 1 FROM answers a WHERE a.consolidation_id = c.id) AS is_answered, ${termsOf('c.tenant')}
    FROM consolidations c WHERE c.id = @id
  ) AS f ON f.id = b.id
  WHERE b.id IN :ids`;

const SELECT_SCOPE_OF_LANE = `
  SELECT s.id, l.tenant, s.summary FROM scopes s JOIN lanes l ON l.id = s.lane
  WHERE s.lane = @lane AND s.user_id IS NOT DISTINCT FROM @userId AND s.agent_id IS NOT DISTINCT FROM @agentId
    AND s.run_id IS NOT DISTINCT FROM @runId AND s.app_id IS NOT DISTINCT FROM @appId`;

const selectRecent = (scope: string, before: string): string => `
  SELECT m.* FROM messages m JOIN batches b ON b.id = m.batch_id
  WHERE m.tenant = @tenant AND m.scope = ${scope} AND m.seq < ${before} AND NOT m.resent
    AND b.applied_at IS NOT NULL AND b.state <> 'undone'
  ORDER BY m.seq DESC LIMIT @limit`;

const SELECT_RECENT = selectRecent('@scope', '@before');

/** The pinned messages, and the last ones before them, in the order of the lane. */
const SELECT_HEARD = `
  SELECT * FROM (
    SELECT p.*, 1 AS is_pinned FROM messages p WHERE p.tenant = @tenant AND p.batch_id IN :ids
    UNION ALL
    SELECT r.*, 0 FROM (${selectRecent(
      '(SELECT scope FROM consolidations WHERE id = @id)',
      '(SELECT min(p.seq) FROM messages p WHERE p.tenant = @tenant AND p.batch_id IN :ids)',
    )}) AS r
  ) AS heard ORDER BY seq`;

interface Looking {
  readonly turn: Turn;
  readonly asked: Asked;
}

/** A row where the turn has its lane; with nulls where nothing is answered. */
type LookRow = AnswerRow | { readonly [Name in keyof AnswerRow]: null };

const lastLook = asLookup('thoughts.lastLook', function* ({ turn, asked }: Looking): Script<LastLook> {
  const { tenant, lane, epoch, consolidationId } = turn;
  const row = yield* first<LookRow>(SELECT_LOOK, { tenant, lane, epoch, consolidationId, ...asked });
  return { holds: row !== null, answer: row === null || row.step === null ? null : answerFrom(row) };
});

const SELECT_LOOK = `
  SELECT a.* FROM lanes l
  LEFT JOIN answers a ON a.consolidation_id = l.consolidation_id AND a.input_hash = @inputHash AND a.step IN :steps
  WHERE ${HELD} LIMIT 1`;

interface AnswerKey {
  readonly consolidationId: string;
  readonly step: string;
  readonly inputHash: string;
}

const findAnswer = asLookup('thoughts.answer', function* (key: AnswerKey): Script<StoredAnswer | null> {
  const row = yield* first<AnswerRow>(SELECT_ANSWER, { ...key });
  if (row === null) return null;
  return row.consolidation_id === key.consolidationId ? answerFrom(row) : formerFrom(row);
});

/** Its own, or the newest that was given to an undone consolidation of its batches. */
const SELECT_ANSWER = `
  SELECT * FROM answers
  WHERE step = @step AND input_hash = @inputHash AND consolidation_id IN (
    SELECT @consolidationId::text AS id
    UNION SELECT f.value FROM batches b, jsonb_array_elements_text(b.formers) AS f
    WHERE b.consolidation_id = @consolidationId)
  ORDER BY CASE WHEN consolidation_id = @consolidationId THEN 0 ELSE 1 END, seq DESC LIMIT 1`;

interface OfConsolidation {
  readonly consolidationId: string;
}

const listAnswers = asRead('thoughts.answers', answersOf);

/** In the order they came. */
function* answersOf(of: OfConsolidation): Script<readonly StoredAnswer[]> {
  const text = 'SELECT * FROM answers WHERE consolidation_id = @consolidationId ORDER BY seq';
  return (yield* all<AnswerRow>(text, { ...of })).map(answerFrom);
}

interface StoreAnswer {
  readonly turn: Turn;
  readonly answer: StoredAnswer;
}

/** Keeps a model answer and counts its usage; the same answer twice is kept and counted once. */
const storeAnswer = asStatement('thoughts.storeAnswer', function* ({ turn, answer }: StoreAnswer): Script<Stored> {
  const isHeld = yield* ifHeld(laneHeldBy(turn), ...keeping(turn, answer));
  return { kind: isHeld ? 'stored' : 'fenced' };
});

/** That of a turn that has lost its lane, for whoever has it now: it was paid for. */
const keepLate = asStatement('thoughts.keepLate', function* ({ turn, answer }: StoreAnswer): Script<void> {
  yield* ifHeld(laneAt(turn), ...keeping(turn, answer));
});

/** Counts before it keeps: what is there is not counted again, nor is what an undone consolidation has paid for. */
export function keeping(by: Caller, answer: StoredAnswer): readonly Script<unknown>[] {
  const { usage, truncated, former = null, ...columns } = answer;
  const { step, model, at, inputHash } = answer;
  const id = by.consolidationId;
  const keep = run(INSERT_ANSWER, { ...columns, ...usage, id, truncated: truncated ? 1 : 0, former });
  if (former !== null) return [keep];
  const kept = { text: SELECT_KEPT, given: { keptId: id, keptStep: step, keptHash: inputHash } };
  return [...counting(by, { step, model, failed: false, usage, at }, kept), keep];
}

const SELECT_KEPT =
  'SELECT 1 FROM answers WHERE consolidation_id = @keptId AND step = @keptStep AND input_hash = @keptHash';

const INSERT_ANSWER = `
  INSERT INTO answers (
    consolidation_id, step, input_hash, text, truncated, model, prompt_tokens, completion_tokens, at, former
  )
  SELECT @id, @step, @inputHash, @text, @truncated::boolean, @model, @promptTokens, @completionTokens, @at, @former
  WHERE :held
  ON CONFLICT (consolidation_id, step, input_hash) DO NOTHING`;

interface FailedCall {
  readonly turn: Caller;
  readonly call: ModelCall;
}

/** Counts whoever asked: the call was made, even by a turn that has lost its lane. */
const countFailedCall = asStatement('thoughts.countFailedCall', function* ({ turn, call }: FailedCall): Script<void> {
  yield* inOne(...counting(turn, { ...call, failed: true }));
});

interface StorePlan {
  readonly turn: Turn;
  readonly plan: Plan;
}

/** A plan is stored before anything changes. */
const storePlan = asStatement('thoughts.storePlan', function* ({ turn, plan }: StorePlan): Script<Stored> {
  const id = turn.consolidationId;
  const isHeld = yield* ifHeld(
    laneHeldBy(turn),
    run(UPSERT_PLAN, { id, round: plan.round, plan: JSON.stringify(plan) }),
    run("UPDATE consolidations SET state = 'planned' WHERE id = @id AND :held", { id }),
  );
  return { kind: isHeld ? 'stored' : 'fenced' };
});

const UPSERT_PLAN = `
  INSERT INTO plans (consolidation_id, round, plan) SELECT @id, @round, @plan::jsonb WHERE :held
  ON CONFLICT (consolidation_id, round) DO UPDATE SET plan = excluded.plan`;

/** The newest round. */
const planOf = asLookup('thoughts.plan', function* (of: OfConsolidation): Script<Plan | null> {
  const row = yield* first<{ plan: string }>(NEWEST_PLAN, { id: of.consolidationId });
  return row === null ? null : JSON.parse(row.plan);
});

interface OneOf {
  readonly tenant: TenantId;
  readonly id: string;
}

const getConsolidation = asRead('thoughts.get', function* (of: OneOf): Script<Consolidation | null> {
  const text = `${SELECT_CONSOLIDATIONS} WHERE c.tenant = @tenant AND c.id = @id AND ${isStanding('c.lane')}`;
  const row = yield* first<ConsolidationRow>(text, { ...of });
  return row === null ? null : consolidationFrom(row);
});

interface List {
  readonly tenant: TenantId;
  readonly filter: { readonly state?: Consolidation['state']; readonly userId?: string };
  readonly page: Page;
}

const listConsolidations = asRead('thoughts.list', ({ tenant, filter, page }: List): Script<Paged<Consolidation>> => {
  return newestFirst(CONSOLIDATIONS, page, { tenant, ...filter });
});

const CONSOLIDATIONS: Listing<ConsolidationRow, Consolidation> = {
  select: SELECT_CONSOLIDATIONS,
  by: ['c.created_at', 'c.id'],
  always: [isStanding('c.lane')],
  asked: { tenant: 'c.tenant = @tenant', state: 'c.state = @state', userId: laneOfUser('c.lane') },
  make: consolidationFrom,
};

interface VectorsOf {
  readonly lane: LaneId;
  readonly fingerprint: string;
  readonly textHashes: readonly string[];
}

const vectorsOf = asRead('thoughts.vectors', function* (of: VectorsOf): Script<KnownVectors> {
  const rows = yield* all<{ text_hash: string; vector: Uint8Array }>(
    `SELECT text_hash, vector FROM vectors
     WHERE lane = @lane AND fingerprint = @fingerprint AND text_hash IN :textHashes`,
    { ...of },
  );
  return vectorsFrom(rows);
});

interface StoreVectors {
  readonly lane: LaneId;
  readonly fingerprint: string;
  readonly vectors: KnownVectors;
}

/** Keeps vectors of texts, so that they are embedded once. In one order, so that nobody waits in a circle. */
const storeVectors = asStatement('thoughts.storeVectors', function* (of: StoreVectors): Script<void> {
  const { lane, fingerprint, vectors } = of;
  const rows = [...vectors].map(([hash, vector]) => ({ lane, fingerprint, text_hash: hash, vector: bytesOf(vector) }));
  yield* ifHeld(
    { text: SELECT_STANDING, given: { lane } }, // else it was erased in the meantime
    insert(
      'vectors',
      rows.toSorted((a, b) => (a.text_hash < b.text_hash ? -1 : 1)),
      'ON CONFLICT (lane, fingerprint, text_hash) DO NOTHING',
    ),
  );
});

const SELECT_STANDING = 'SELECT 1 AS found FROM lanes WHERE id = @lane AND erasure IS NULL FOR KEY SHARE';

const refusedTexts = asRead('thoughts.refusedTexts', countRefused);
