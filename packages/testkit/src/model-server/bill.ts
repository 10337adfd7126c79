import type { RecordedCall } from './endpoints.ts';

export interface Bill {
  /** Of the calls whose answer went out whole, to somebody who read it. */
  readonly answered: BillSums;
  /** Of all that a provider may charge for: also answers that came too late or broke off, and questions that got none. */
  readonly atMost: BillSums;
}

export interface BillSums {
  readonly calls: number;
  readonly prompt: number;
  readonly completion: number;
}

/** What a provider with these calls has on its bill; errors are free. */
export function billOf(calls: readonly RecordedCall[]): Bill {
  const answered = calls.filter(({ status, aborted }) => status === 200 && !aborted);
  return { answered: sumOf(answered), atMost: sumOf(calls.filter(({ status }) => status === 200 || status === 0)) };
}

const sumOf = (calls: readonly RecordedCall[]): BillSums => ({
  calls: calls.length,
  prompt: calls.reduce((sum, { tokens }) => sum + tokens.prompt, 0),
  completion: calls.reduce((sum, { tokens }) => sum + tokens.completion, 0),
});

/** How long before its end a process usually may have read an answer that it never wrote down. */
const IN_DOUBT_MS = 250;

/** The end of a process that asked, by kill -9. */
export interface Kill {
  readonly at: number;
  /** Of the calls of this key; all, where it is missing. */
  readonly apiKey?: string;
  /** Longer, where the process shared its cores with many others, and asked so little that few answers are in doubt. */
  readonly inDoubtMs?: number;
}

/**
 * What may be counted as answered: everything whose answer was read whole, less any of the answers that came so shortly before their reader
 * was killed that it may not have written them down.
 */
export function answeredSums(calls: readonly RecordedCall[], kills: readonly Kill[]): readonly BillSums[] {
  const inDoubt = calls.filter(({ status, aborted, at, endedAt, apiKey: asker }) =>
    kills.some(
      ({ at: killedAt, apiKey = asker, inDoubtMs = IN_DOUBT_MS }) =>
        status === 200 &&
        !aborted &&
        asker === apiKey &&
        at <= killedAt &&
        (endedAt ?? killedAt) > killedAt - inDoubtMs,
    ),
  );
  let all = [billOf(calls).answered];
  for (const { tokens } of inDoubt) {
    const without = all.map(({ calls: n, prompt, completion }) => ({
      calls: n - 1,
      prompt: prompt - tokens.prompt,
      completion: completion - tokens.completion,
    }));
    all = [...new Map([...all, ...without].map((one) => [JSON.stringify(one), one])).values()];
  }
  return all;
}
