import type { LaneId, Message, SummaryBasis, SummaryRefresh } from '@slowwave/engine';
import { type MessageRow, messageFrom } from './rows/message.ts';

/** A scope with its rolling summary. */
export interface SummaryRow {
  readonly id: number;
  readonly lane: LaneId;
  readonly summary: string | null;
  readonly summary_upto: number;
  readonly summary_revision: number;
}

/** A message that a summary does not cover. */
export interface SaidRow extends MessageRow {
  /** It told something that is deleted by now. */
  readonly forgotten: 0 | 1;
}

/** The refresh of a scope; null when fewer than `every` messages were said since. They come newest first. */
export function refreshOf(scope: SummaryRow, since: readonly SaidRow[], every: number): SummaryRefresh | null {
  const [last] = since;
  if (last === undefined || since.length < every) return null;
  return { lane: scope.lane, scope: String(scope.id), upTo: last.seq };
}

/** What a refresh starts from; null when none is due any more. */
export function basisOf(
  scope: SummaryRow,
  since: readonly SaidRow[],
  { every, limit }: { every: number; limit: number },
): SummaryBasis | null {
  const [last] = since;
  if (last === undefined || since.length < every) return null;
  const messages = since.slice(0, limit).reverse();
  return {
    summary: scope.summary,
    messages: messages.filter((row) => row.forgotten === 0).map(toMessage),
    upTo: last.seq,
    revision: scope.summary_revision,
  };
}

const toMessage = ({ forgotten, ...row }: SaidRow): Message => messageFrom(row);
