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
