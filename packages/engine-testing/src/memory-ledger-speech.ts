import {
  type JustApplied,
  type LaneId,
  type Message,
  type Millis,
  ownerOf,
  type ProjectedBatch,
  type SaidInLane,
  type SaidMessage,
  type SpeechStore,
  type SpokenBatch,
  type SpokenMessage,
} from '@slowwave/engine';
import { type BatchRow, change, rowOf, type State, scopeKey } from './memory-ledger-state.ts';
import { isStanding } from './memory-ledger-turns.ts';

export function memorySpeech(state: State): SpeechStore {
  const spoken = (rows: readonly BatchRow[]) => rows.map((row) => spokenOf(state, row));
  const known = () => [...state.batches.values()].filter(({ speechRevision }) => speechRevision > 0).sort(byId);
  return {
    said: async (lane, ids) => saidInLane(state, lane, ids),
    unprojected: async (limit, left = NOTHING_LEFT) =>
      spoken(
        unprojectedIn(state)
          .filter(({ lane, appliedAt }) => !state.aside.has(lane) && !isWithin(left, appliedAt))
          .sort(newestLossLast)
          .slice(0, limit),
      ),
    unprojectedIn: async (lane, limit) =>
      spoken(
        unprojectedIn(state)
          .filter((row) => row.lane === lane)
          .sort(newestLossLast)
          .slice(0, limit),
      ),
    unprojectedOf: async (ids) =>
      spoken(unprojectedIn(state).filter(({ consolidationId }) => ids.includes(consolidationId ?? ''))),
    batches: async (ids) => spoken(known().filter(({ id }) => ids.includes(id))),
    every: async ({ after, limit, changedSince }) => {
      const standing = known().filter(({ lane }) => state.lanes.get(lane)?.erasure === null);
      const changed = standing.filter((row) => changedSince === null || changedAt(row) >= changedSince);
      return spoken(changed.filter(({ id }) => after === null || id > after).slice(0, limit));
    },
    hearers: async (batchIds) => hearersOf(state, new Set(batchIds)),
    points: async (tenant) =>
      [...state.batches.values()].reduce((sum, row) => sum + (row.tenant === tenant ? row.points : 0), 0),
  };
}

export const saidInLane = (state: State, lane: LaneId, ids: readonly string[]): SaidInLane => ({
  stands: isStanding(state, lane),
  said: [...new Set(ids)].flatMap((id) => {
    const row = state.messages.get(id);
    return row?.lane === lane ? [saidOf(state, row)] : [];
  }),
});

/** Nothing is left to others. */
export const NOTHING_LEFT: JustApplied = { after: 0, upTo: 0 };

export const isWithin = ({ after, upTo }: JustApplied, at: Millis | null): boolean =>
  at !== null && at > after && at <= upTo;

/** The index that it was projected to is lost. */
export const LOST = -1;

/** What the index shows of a batch changes. */
export function reviseSpeech(row: BatchRow, now: Millis | null): void {
  change(row, { speechRevision: row.speechRevision + 1, speechRevisedAt: now ?? row.speechRevisedAt });
}

/** Answers with the consolidations of batches that the index knows by now. */
export function projectedSpeech(state: State, projected: readonly ProjectedBatch[]): string[] {
  return projected.flatMap(({ id, revision, points }) => {
    const row = state.batches.get(id);
    if (row === undefined || row.projectedRevision >= revision || row.speechRevision !== revision) return [];
    change(row, { projectedRevision: revision, points });
    return row.consolidationId ?? [];
  });
}

export const unprojectedIn = (state: State): BatchRow[] =>
  [...state.batches.values()].filter((row) => row.projectedRevision < row.speechRevision);

/** What batches say has changed: they are projected again, with all that is found by it. */
export function projectSpeechAgain(state: State, batchIds: ReadonlySet<string>, now: Millis): void {
  if (batchIds.size === 0) return;
  const all = [...state.messages.values()].filter(({ message }) => batchIds.has(message.batchId));
  const beside = all.flatMap((row) => {
    const { before, after } = besideOf(state, row);
    return [before.at(-1), ...after.slice(0, 2)].flatMap((other) => other?.message.batchId ?? []);
  });
  for (const id of new Set([...batchIds, ...beside])) {
    const batch = rowOf(state.batches, id);
    if (batch.speechRevision > 0) reviseSpeech(batch, now);
  }
  queue(state, hearersOf(state, batchIds));
}

/** What batches say is found from now on: by it the one before, whose last message is projected with them, and the two after. */
export function findSpeech(state: State, batchIds: ReadonlySet<string>, now: Millis): void {
  const rows = [...state.messages.values()].filter(({ message }) => batchIds.has(message.batchId));
  const others = (some: readonly (MessageRow | undefined)[]): Set<string> =>
    new Set(some.flatMap((row) => (row === undefined || batchIds.has(row.message.batchId) ? [] : row.message.batchId)));
  const beside = rows.map((row) => besideOf(state, row));
  const later = others(beside.flatMap(({ after }) => after.slice(0, 2)));
  const prior = others(beside.map(({ before }) => before.at(-1)));
  for (const id of new Set([...prior, ...later])) {
    const batch = rowOf(state.batches, id);
    if (batch.speechRevision === 0) continue;
    const isProjected = batch.projectedRevision === batch.speechRevision;
    reviseSpeech(batch, later.has(id) ? now : null);
    if (isProjected && !later.has(id)) change(batch, { projectedRevision: batch.speechRevision });
  }
  queue(state, hearersOf(state, batchIds, true));
}

function queue(state: State, memoryIds: readonly string[]): void {
  for (const memoryId of memoryIds) {
    const { tenant, lane } = rowOf(state.memories, memoryId);
    state.counters.outboxSeq += 1;
    const seq = state.counters.outboxSeq;
    state.outbox.set(seq, { seq, memoryId, tenant, lane, consolidationId: null });
  }
}

/** Memories whose points were made from these batches' messages; `beside`: from what was said before their own alone. */
function hearersOf(state: State, batchIds: ReadonlySet<string>, beside = false): string[] {
  const isAmong = (id: string): boolean => {
    const row = state.messages.get(id);
    if (row === undefined) return false;
    if (batchIds.has(row.message.batchId)) return !beside;
    return batchIds.has(besideOf(state, row).before.at(-1)?.message.batchId ?? '');
  };
  const memories = [...state.memories.values()].filter(({ versions }) =>
    versions.some(({ details }) => details.sourceIds.some(isAmong)),
  );
  return memories.map(({ id }) => id).sort();
}

type MessageRow = State['messages'] extends Map<string, infer Row> ? Row : never;

const byId = (a: BatchRow, b: BatchRow): number => (a.id < b.id ? -1 : 1);

const newestLossLast = (a: BatchRow, b: BatchRow): number => b.projectedRevision - a.projectedRevision || byId(a, b);

const changedAt = ({ appliedAt, speechRevisedAt }: BatchRow): Millis => Math.max(appliedAt ?? 0, speechRevisedAt ?? 0);

export function spokenOf(state: State, row: BatchRow): SpokenBatch {
  const messages = messagesOf(state, row.id);
  const first = messages.find(isSpoken);
  const last = first === undefined ? undefined : besideOf(state, first).before.at(-1);
  const prior = last === undefined ? null : rowOf(state.batches, last.message.batchId);
  const goesOn = last === undefined || prior === null || !counts(state, prior) ? null : batchOf(state, prior, [last]);
  return { ...batchOf(state, row, messages), goesOn };
}

function batchOf(state: State, row: BatchRow, messages: readonly MessageRow[]): Omit<SpokenBatch, 'goesOn'> {
  const { id, tenant, lane, scope, metadata, acceptedAt, settings } = row;
  return {
    ...{ id, tenant, lane, scope, metadata, acceptedAt },
    owner: state.lanes.get(lane)?.erasure === null ? ownerOf(scope) : rowOf(state.lanes, lane).owner,
    revision: row.speechRevision,
    changedAt: changedAt(row),
    projected: row.projectedRevision >= row.speechRevision,
    counts: counts(state, row),
    expiresAt: settings.expiresAt,
    messages: messages.map((message) => inTalk(state, message)),
  };
}

const counts = (state: State, { id, outcome, state: at }: BatchRow): boolean =>
  outcome !== null && at !== 'undone' && !state.stripped.has(id);

/** In the order of the lane. */
const messagesOf = ({ batches, messages }: State, batchId: string): MessageRow[] =>
  messages
    .ofLane(rowOf(batches, batchId).lane)
    .filter(({ message }) => message.batchId === batchId)
    .sort(bySeq);

const seqOf = ({ message }: MessageRow): number => message.saidAt.seq;
const bySeq = (a: MessageRow, b: MessageRow): number => seqOf(a) - seqOf(b);

const isSpoken = ({ message: { resent, role } }: MessageRow): boolean =>
  !resent && (role === 'user' || role === 'assistant');

/** What users and assistants said in the scope of a row, before and after it. */
function besideOf(state: State, row: MessageRow): Record<'before' | 'after', readonly MessageRow[]> {
  const key = scopeKey(row.scope);
  const talk = state.messages.ofLane(row.lane).filter((other) => isSpoken(other) && scopeKey(other.scope) === key);
  return {
    before: talk.filter((other) => seqOf(other) < seqOf(row)).sort(bySeq),
    after: talk.filter((other) => seqOf(other) > seqOf(row)).sort(bySeq),
  };
}

/** What is said beside a message, if it is found. Copies: retention empties the rows in place. */
const foundIn = (state: State, row: MessageRow | undefined): Message | null =>
  row === undefined || !counts(state, rowOf(state.batches, row.message.batchId)) ? null : { ...row.message };

function saidOf(state: State, row: MessageRow): SaidMessage {
  return { message: { ...row.message }, before: foundIn(state, besideOf(state, row).before.at(-1)) };
}

function inTalk(state: State, row: MessageRow): SpokenMessage {
  const talk = besideOf(state, row);
  const before = foundIn(state, talk.before.at(-1));
  const earlier = before === null ? null : foundIn(state, talk.before.at(-2));
  return { message: { ...row.message }, before, earlier, next: foundIn(state, talk.after[0]) };
}
