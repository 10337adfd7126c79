import type {
  Consolidation,
  Gathered,
  KnownVectors,
  LaneId,
  Message,
  Plan,
  Scope,
  Stored,
  StoredAnswer,
  ThoughtStore,
  Turn,
} from '@slowwave/engine';
import { hasRoom } from './memory-ledger-limits.ts';
import { pageOf } from './memory-ledger-page.ts';
import { termsIn } from './memory-ledger-settings.ts';
import { rowOf, type State, scopeKey } from './memory-ledger-state.ts';
import { summaryOf } from './memory-ledger-summaries.ts';
import { heldBy, isOfUser, isStanding, pinnedOf } from './memory-ledger-turns.ts';
import { note, settle } from './memory-ledger-usage.ts';

export function memoryThoughts(state: State): ThoughtStore {
  return {
    gather: async (turn, recentCount) => gather(state, turn, recentCount),
    context: async (lane, scope, recentCount) => ({
      summary: summaryOf(state, lane, scope).summary,
      summaryTrust: summaryOf(state, lane, scope).trust,
      recent: recentBefore(state, { lane, scope, before: Number.POSITIVE_INFINITY }, recentCount),
    }),
    answer: async (consolidationId, step, inputHash) => findAnswer(state, consolidationId, { step, inputHash }),
    lastLook: async (turn, { inputHash, steps, rooms = [] }, call) => {
      const holds = heldBy(state, turn) !== null;
      const found = steps.flatMap((step) => ownAnswer(state, turn.consolidationId, { step, inputHash }) ?? []);
      const answer = holds ? (found[0] ?? null) : null;
      const isNoted = holds && answer === null && hasRoom(state, turn.tenant, rooms);
      if (isNoted) note(state, call);
      return { holds, answer, isNoted };
    },
    storeAnswer: async (turn, answer, call = null) => {
      if (call !== null) settle(state, call);
      return storeAnswer(state, turn, answer);
    },
    answers: async (consolidationId) => [...(state.answers.get(consolidationId) ?? [])],
    storePlan: async (turn, plan) => {
      if (heldBy(state, turn) === null) return { kind: 'fenced' };
      keepPlan(state, turn, plan);
      rowOf(state.consolidations, turn.consolidationId).state = 'planned';
      for (const batch of pinnedOf(state, turn.consolidationId)) batch.stage = 'apply';
      return { kind: 'stored' };
    },
    plan: async (consolidationId) => newestPlan(state, consolidationId),
    get: async (tenant, id) => {
      const row = state.consolidations.get(id);
      return row?.tenant === tenant && isStanding(state, row.lane) ? { ...row } : null;
    },
    list: async (tenant, filter, page) => {
      const rows = [...state.consolidations.values()].filter(
        (row) =>
          row.tenant === tenant &&
          (filter.state === undefined || row.state === filter.state) &&
          isOfUser(state, row.lane, filter.userId),
      );
      const paged = pageOf<Consolidation>(rows, (row) => ({ order: row.createdAt, id: row.id }), page);
      return { ...paged, results: paged.results.map((row) => ({ ...row })) };
    },
    vectors: async (lane, fingerprint, textHashes) => vectorsOf(state, { lane, fingerprint }, textHashes),
    storeVectors: async (lane, fingerprint, vectors) => {
      if (state.lanes.get(lane)?.erasure !== null) return; // erased in the meantime, or about to be
      for (const [textHash, vector] of vectors) {
        state.vectors.set(vectorKey({ lane, fingerprint }, textHash), vector?.slice() ?? null);
      }
    },
    dropVectors: async (fingerprint, { after, limit }) => {
      const lanes = [...state.lanes.keys()]
        .sort()
        .filter((id) => id > (after ?? ''))
        .slice(0, limit);
      for (const key of [...state.vectors.keys()]) {
        const [lane, of] = JSON.parse(key);
        if (of === fingerprint && lanes.includes(lane)) state.vectors.delete(key);
      }
      return lanes.at(-1) ?? null;
    },
    refusedTexts: async (fingerprint) =>
      [...state.vectors].filter(([key, vector]) => vector === null && JSON.parse(key)[1] === fingerprint).length,
  };
}

export function keepPlan(state: State, { consolidationId }: Turn, plan: Plan): void {
  state.plans.set(consolidationId, [...(state.plans.get(consolidationId) ?? []), plan]);
}

const newestPlan = (state: State, consolidationId: string): Plan | null =>
  state.plans.get(consolidationId)?.toSorted((a, b) => b.round - a.round)[0] ?? null;

export function gather(state: State, turn: Turn, recentCount: number): Gathered {
  const pinned = pinnedOf(state, turn.consolidationId);
  const messages = messagesWhere(state, turn.lane, ({ message }) => turn.batchIds.includes(message.batchId));
  const firstSeq = messages[0]?.saidAt.seq ?? 0;
  return {
    messages,
    metadata: new Map(pinned.map((batch) => [batch.id, batch.metadata])),
    summary: state.pinnedSummaries.get(turn.consolidationId) ?? null,
    summaryTrust: summaryOf(state, turn.lane, turn.scope).trust,
    recent: recentBefore(state, { lane: turn.lane, scope: turn.scope, before: firstSeq }, recentCount),
    thought: {
      plan: newestPlan(state, turn.consolidationId),
      answers: [...(state.answers.get(turn.consolidationId) ?? [])],
      former: formerAnswers(state, turn.consolidationId),
    },
    ...termsIn(state, turn.tenant),
  };
}

/** The last consolidated messages of a scope, each once. */
function recentBefore(
  state: State,
  { lane, scope, before }: { lane: LaneId; scope: Scope; before: number },
  count: number,
): Message[] {
  const earlier = messagesWhere(state, lane, (row) => {
    const { appliedAt, state: batchState } = rowOf(state.batches, row.message.batchId);
    const isApplied = appliedAt !== null && batchState !== 'undone';
    const isEarlier = row.message.saidAt.seq < before && !row.message.resent;
    return isApplied && isEarlier && scopeKey(row.scope) === scopeKey(scope);
  });
  return count === 0 ? [] : earlier.slice(-count);
}

/** Messages of a lane in the order of their arrival. */
function messagesWhere(
  state: State,
  lane: LaneId,
  isWanted: (row: { message: Message; scope: Turn['scope'] }) => boolean,
): Message[] {
  const rows = state.messages.ofLane(lane).filter(isWanted);
  return rows.map((row) => row.message).sort((a, b) => a.saidAt.seq - b.saidAt.seq);
}

interface AnswerKey {
  readonly step: string;
  readonly inputHash: string;
}

const findAnswer = (state: State, id: string, key: AnswerKey): StoredAnswer | null =>
  ownAnswer(state, id, key) ?? formerAnswers(state, id).findLast((answer) => isTo(answer, key)) ?? null;

const ownAnswer = (state: State, id: string, key: AnswerKey): StoredAnswer | undefined =>
  state.answers.get(id)?.find((answer) => isTo(answer, key));

const isTo = (answer: StoredAnswer, { step, inputHash }: AnswerKey): boolean =>
  answer.step === step && answer.inputHash === inputHash;

/** Those of undone consolidations of its batches, oldest first. */
function formerAnswers(state: State, id: string): readonly StoredAnswer[] {
  const formers = new Set(pinnedOf(state, id).flatMap((batch) => batch.formers));
  return [...formers].flatMap((former) => (state.answers.get(former) ?? []).map((answer) => ({ former, ...answer })));
}

function storeAnswer(state: State, turn: Turn, answer: StoredAnswer): Stored {
  const { lane, consolidationId } = turn;
  const stored: Stored = { kind: heldBy(state, turn) === null ? 'fenced' : 'stored' };
  if (state.lanes.get(lane)?.consolidationId !== consolidationId) return stored;
  if (ownAnswer(state, consolidationId, answer) !== undefined) return stored;
  state.answers.set(consolidationId, [...(state.answers.get(consolidationId) ?? []), answer]);
  if (answer.step === 'extract') {
    for (const batch of pinnedOf(state, consolidationId)) batch.stage = 'decide';
  }
  return stored;
}

interface Space {
  readonly lane: LaneId;
  readonly fingerprint: string;
}

const vectorKey = (space: Space, textHash: string): string => JSON.stringify([space.lane, space.fingerprint, textHash]);

function vectorsOf(state: State, space: Space, textHashes: readonly string[]): KnownVectors {
  const found = new Map<string, Float32Array | null>();
  for (const textHash of textHashes) {
    const vector = state.vectors.get(vectorKey(space, textHash));
    if (vector !== undefined) found.set(textHash, vector);
  }
  return found;
}
