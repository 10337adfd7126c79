import type { BulkAnswered, BulkJob, BulkStore, LaneId, Millis, NewBulkQuestion, Nudge, Turn } from '@slowwave/engine';
import { type BulkJobRow, type BulkQuestionRow, change, type State } from './memory-ledger-state.ts';
import { heldBy, pinnedOf, raised, waitingOf } from './memory-ledger-turns.ts';
import { settle as settleCall } from './memory-ledger-usage.ts';

export function memoryBulk(state: State): BulkStore {
  const { bulkJobs: jobs, bulkQuestions: questions } = state;
  const open = (): BulkQuestionRow[] => [...questions.values()].filter((one) => one.state === 'open');
  return {
    ask: async (turn, question) => ask(state, turn, question),
    gather: async ({ id, before, limit, charsMax, now }) => {
      const waiting = open().filter(({ job }) => job === null);
      const [oldest] = waiting;
      if (oldest === undefined || oldest.askedAt > before) return null;
      let room = charsMax;
      for (const [i, question] of waiting.slice(0, limit).entries()) {
        room -= JSON.stringify(question.call).length;
        if (i > 0 && room < 0) break;
        question.job = id;
      }
      const job: BulkJob = { id, state: 'created', remote: null, tries: 0, createdAt: now };
      jobs.set(id, { ...job, dueAt: now, erasing: false });
      return job;
    },
    take: async (now, until) => {
      const [due] = [...jobs.values()].filter(({ dueAt }) => dueAt <= now).sort((a, b) => a.dueAt - b.dueAt);
      if (due === undefined) return null;
      jobs.set(due.id, { ...due, dueAt: until });
      return jobOf(due);
    },
    open: async (jobId) => open().filter(({ job }) => job === jobId),
    asked: async (jobId) => [...questions.values()].filter(({ job }) => job === jobId),
    move: async ({ id, state: from }, step) => {
      const job = jobs.get(id);
      const isAsKnown = job?.state === from;
      if (job === undefined) return false;
      if (step === null) return isAsKnown && jobs.delete(id);
      jobs.set(id, isAsKnown ? { ...job, ...step } : { ...job, remote: step.remote ?? job.remote });
      return isAsKnown;
    },
    answer: async (id, answered, now) => {
      const asked = questions.get(id);
      if (asked === undefined || asked.state === 'answered' || asked.state === 'failed') return null;
      const wakes = asked.state === 'open';
      if (answered !== null) keepAnswer(state, asked, answered);
      return settle(state, [asked], { to: answered === null ? 'failed' : 'answered', wakes, now })[0] ?? null;
    },
    takeBack: async (now, limit) => {
      const isLively = ({ lane }: BulkQuestionRow) =>
        waitingOf(state, lane).some(({ priority }) => priority === 'live');
      return settle(state, open().filter(isLively).slice(0, limit), { to: 'taken_back', wakes: true, now });
    },
    abandon: async (now, limit) => settle(state, open().slice(0, limit), { to: 'failed', wakes: true, now }),
    cancel: async (lane, now) => {
      for (const { lane: of, job: id } of questions.values()) {
        const job = of === lane && id !== null ? jobs.get(id) : undefined;
        if (job === undefined) continue;
        const to = job.state === 'cleaning' ? job.state : 'cancelling';
        jobs.set(job.id, { ...job, state: to, erasing: true, dueAt: now });
      }
    },
    erasing: async () => [...jobs.values()].filter(({ erasing }) => erasing).length,
    drop: async (before, limit) => {
      const over = [...questions.values()].filter((one) => one.state !== 'open' && one.askedAt < before);
      for (const { id } of over.slice(0, limit)) questions.delete(id);
      return Math.min(over.length, limit);
    },
  };
}

const jobOf = ({ id, state, remote, tries, createdAt }: BulkJobRow): BulkJob => ({
  ...{ id, state, remote, tries, createdAt },
});

function ask(
  state: State,
  turn: Turn,
  { until, now, why, ...question }: NewBulkQuestion,
): Awaited<ReturnType<BulkStore['ask']>> {
  const lane = heldBy(state, turn);
  if (lane === null) return { kind: 'fenced' };
  const { consolidationId, attempts } = turn;
  const known = [...state.bulkQuestions.values()].find(
    (one) =>
      one.consolidationId === consolidationId && one.step === question.step && one.inputHash === question.inputHash,
  );
  if (known !== undefined && (known.state !== 'open' || known.askedAt + (until - now) <= now)) return { kind: 'ask' };
  if (known === undefined) {
    const all = [...pinnedOf(state, consolidationId), ...waitingOf(state, turn.lane)];
    if (all.some(({ priority }) => priority === 'live')) return { kind: 'ask' };
    const row = { ...question, lane: turn.lane, consolidationId, attempts, askedAt: now, job: null };
    state.bulkQuestions.set(question.id, { ...row, state: 'open' });
  }
  for (const batch of pinnedOf(state, consolidationId)) batch.failure = why;
  lane.dueAt = until;
  return { kind: 'waits' };
}

function keepAnswer(state: State, { consolidationId }: BulkQuestionRow, { answer, call }: BulkAnswered): void {
  if (!state.consolidations.has(consolidationId)) return;
  settleCall(state, call);
  const answers = state.answers.get(consolidationId) ?? [];
  const isLate = answers.some(({ step, inputHash }) => step === answer.step && inputHash === answer.inputHash);
  const kept = { ...answer, ...(isLate && { step: `${answer.step}:late` }) };
  state.answers.set(consolidationId, [...answers, kept]);
}

interface Settling {
  readonly to: BulkQuestionRow['state'];
  readonly wakes: boolean;
  readonly now: Millis;
}

function settle(state: State, rows: readonly BulkQuestionRow[], { to, wakes, now }: Settling): readonly Nudge[] {
  for (const row of rows) row.state = to;
  const pinned = new Set(rows.map(({ consolidationId }) => consolidationId));
  const lanes = [...new Set(rows.map(({ lane }) => lane))].map((id) => state.lanes.get(id));
  return lanes.flatMap((lane) => {
    if (!wakes || lane === undefined || lane.erasure !== null || !pinned.has(lane.consolidationId ?? '')) return [];
    change(lane, { dueAt: now });
    return [raised(state, lane)];
  });
}

/** Questions of a lane that is erased. */
export function dropBulk(state: State, lane: LaneId): void {
  for (const [id, question] of state.bulkQuestions) if (question.lane === lane) state.bulkQuestions.delete(id);
}
