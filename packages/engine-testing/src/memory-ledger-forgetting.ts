import type { Evidence, LaneId, Leaning, MemoryChange, Millis, WishToForget } from '@slowwave/engine';
import {
  besideQuote,
  evidenceByMessage,
  forgottenAt,
  hasFallen,
  isMerged,
  isOfForgotten,
  isQuoteKept,
  leaningIn,
  quoteShown,
  type ShownMessage,
  shownOf,
} from '@slowwave/engine/storing';
import { projectSpeechAgain } from './memory-ledger-speech.ts';
import { rowOf, type State } from './memory-ledger-state.ts';
import { forgetInSuites } from './memory-ledger-suites.ts';
import { forgetBegunSummaries, forgetSummaries } from './memory-ledger-summaries.ts';

/** What forgotten memories take with them, and what comes back: all of their lanes anew. Answers with the lanes. */
export function forgetWith(state: State, changes: readonly MemoryChange[], now: Millis): readonly LaneId[] {
  const lanes = [...new Set(changes.filter(isOfForgotten).map(({ memory }) => memory.lane))];
  for (const lane of lanes) showAgain(state, lane, now);
  for (const lane of lanes) standAgain(state, lane);
  for (const lane of lanes) forgetBegunSummaries(state, lane);
  for (const lane of lanes) forgetInSuites(state, lane);
  return lanes;
}

interface Noting {
  readonly lane: LaneId;
  readonly consolidationId: string;
}

export function noteWishes(state: State, { lane, consolidationId }: Noting, wishes: readonly WishToForget[]): void {
  if (wishes.length === 0) return;
  state.wishes.push(...wishes.map((wish) => ({ ...wish, lane, consolidationId })));
  forgetSummaries(state, lane);
  forgetBegunSummaries(state, lane);
}

/** What is shown of a lane's messages. */
export function showAgain(state: State, lane: LaneId, now: Millis): void {
  const cameOf = evidenceByMessage(evidenceOf(state, lane));
  const hiding = wishesOf(state).filter(({ hides }) => hides);
  const changed = new Set<string>();
  for (const row of state.messages.ofLane(lane)) {
    const { id, content, batchId } = row.message;
    const said = row.unhidden ?? content;
    const shown = shownOf(said, {
      evidence: cameOf([id]),
      wishes: hiding.filter(({ messageId }) => messageId === id).map(({ quote }) => quote),
    });
    if (JSON.stringify(shown ?? said) === JSON.stringify(content)) continue;
    changed.add(batchId);
    const { hidden: _, ...message } = row.message;
    row.message = shown === null ? { ...message, content: said } : { ...message, content: shown, hidden: true };
    row.unhidden = shown === null ? undefined : said;
  }
  projectSpeechAgain(state, changed, now);
}

/** Those that count, and whether their words are hidden. */
export const wishesOf = (state: State) =>
  state.wishes
    .filter(({ consolidationId }) => state.consolidations.get(consolidationId)?.state === 'applied')
    .map((wish) => ({ ...wish, hides: isHiding(state, wish) }));

function isHiding(state: State, { consolidationId, memoryId }: State['wishes'][number]): boolean {
  const memory = memoryId === null ? undefined : state.memories.get(memoryId);
  if (memory === undefined || memory.versions.length === 0 || forgottenAt(memory) !== null) return true;
  return [...state.reviews.values()].some(
    ({ operation, ...review }) =>
      review.state === 'pending' &&
      review.consolidationId === consolidationId &&
      operation.kind === 'DELETE' &&
      operation.memoryId === memoryId,
  );
}

/** Which statements of a lane's studies have fallen, and what they quote. The caller folds the graph again. */
export function standAgain(state: State, lane: LaneId): void {
  const cameOf = evidenceByMessage(evidenceOf(state, lane));
  const nameOf = (id: string): string => rowOf(state.graph.entities, id).name;
  for (const row of state.graph.statements.values()) {
    const { consolidationId } = row.statement;
    if (row.lane !== lane || consolidationId === null) continue;
    const said = row.quoteSaid ?? row.statement.quote;
    const beside = row.statement.messageIds.flatMap((id) => shownIn(state, id, cameOf([id])));
    const quote = quoteShown(said, beside);
    row.statement = { ...row.statement, quote };
    row.quoteSaid = quote === said || !isQuoteKept(beside) ? null : said;
    row.fallen = hasFallen(row.statement, cameOf(row.statement.messageIds), nameOf);
    row.counts = !row.fallen && rowOf(state.consolidations, consolidationId).state !== 'undone';
  }
}

function shownIn(state: State, messageId: string, evidence: readonly Evidence[]): readonly ShownMessage[] {
  const row = state.messages.get(messageId);
  if (row === undefined) return [];
  const wished = state.wishes.some((wish) => wish.messageId === messageId);
  return [besideQuote({ content: row.message.content, unhidden: row.unhidden ?? null, wished, evidence })];
}

/** Messages are not kept any more: what they hid of quotes is gone with them. */
export function loseQuotes(state: State, messageIds: ReadonlySet<string>): void {
  for (const row of state.graph.statements.values()) {
    if (row.statement.messageIds.some((id) => messageIds.has(id))) row.quoteSaid = null;
  }
}

export function evidenceOf(state: State, lane: LaneId): readonly Evidence[] {
  return state.events.flatMap(({ kind, memoryId, revision, sourceIds, text, details }) => {
    if (revision <= (state.erasedAt.get(memoryId) ?? 0)) return [];
    const memory = rowOf(state.memories, memoryId);
    const says = kind === 'ADD' || kind === 'UPDATE' || kind === 'NONE';
    if (!says || memory.lane !== lane || memory.versions.length === 0) return [];
    if (isMerged(memory)) return [];
    const forgotten = forgottenAt(memory) !== null;
    return [{ memoryId, messageIds: sourceIds, text, quote: details?.quote ?? null, forgotten }];
  });
}

export function leaningOn(state: State, lane: LaneId, memoryId: string): Leaning {
  const evidence = evidenceOf(state, lane);
  const wishes = wishesOf(state);
  const own = new Set([
    ...evidence.filter((one) => one.memoryId === memoryId).flatMap(({ messageIds }) => messageIds),
    ...wishes.filter((wish) => wish.memoryId === memoryId).map(({ messageId }) => messageId),
  ]);
  const rows = state.messages.ofLane(lane).filter((row) => own.has(row.message.id));
  const statements = [...state.graph.statements.values()].filter((row) => row.lane === lane && row.counts);
  return leaningIn(memoryId, {
    messages: rows.map(({ message, unhidden }) => ({ id: message.id, content: unhidden ?? message.content })),
    wishes,
    evidence,
    statements: statements
      .map(({ statement }) => statement)
      .filter(({ messageIds }) => messageIds.some((id) => own.has(id))),
    nameOf: (id) => rowOf(state.graph.entities, id).name,
  });
}
