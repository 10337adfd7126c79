import type { AnsweredCall } from '../provider.ts';
import type { Finding } from './finding.ts';

/** A time in which an answer that had come could be lost before it was stored. */
export interface Disturbance {
  readonly from: number;
  readonly to: number;
}

/** Longer than it takes to store an answer, also on a busy machine. */
const STORE_MS = 1_000;

/** A question that was answered in full is not asked again, unless something went wrong before its answer was stored. */
export function checkPaid(calls: readonly AnsweredCall[], disturbances: readonly Disturbance[]): Finding[] {
  const byQuestion = new Map<string, AnsweredCall[]>();
  for (const call of calls) byQuestion.set(call.hash, [...(byQuestion.get(call.hash) ?? []), call]);
  return [...byQuestion.values()].flatMap((asked) =>
    asked.slice(1).flatMap((again, i): Finding[] => {
      const first = asked[i];
      if (first === undefined || !isPaidTwice(first, again, disturbances)) return [];
      const what = `${again.name}, answered to ${first.member}, was asked again by ${again.member} ${again.askedAt - (first.answeredAt ?? 0)} ms later`;
      return [{ kind: 'paid twice', what }];
    }),
  );
}

function isPaidTwice(first: AnsweredCall, again: AnsweredCall, disturbances: readonly Disturbance[]): boolean {
  const { answeredAt } = first;
  if (answeredAt === null || again.askedAt <= answeredAt + STORE_MS) return false;
  return !disturbances.some(({ from, to }) => from < answeredAt + STORE_MS && to > answeredAt - STORE_MS);
}
