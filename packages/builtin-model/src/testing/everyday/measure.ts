import { engineBench, fixedTools } from '@slowwave/engine-testing';
import { builtinChat, builtinEmbedder } from '../../index.ts';
import { textsOf } from '../ask.ts';

/** What was read of a sentence that nobody said, and what was not read although it matters. */
interface Reading {
  readonly said: string;
  readonly wrong: readonly string[];
  readonly missed: readonly string[];
}

const WEDNESDAY = '2026-03-04T10:00:00Z';
const DAY_MS = 86_400_000;

export async function reading([said, must, may = []]: SentenceRow): Promise<Reading> {
  const found = await textsOf(said, WEDNESDAY);
  const right = [...must, ...may].map(whole);
  return {
    said,
    wrong: found.filter((text) => !right.some((pattern) => pattern.test(text))),
    missed: must.filter((pattern) => !found.some((text) => whole(pattern).test(text))),
  };
}

const whole = (pattern: string): RegExp => new RegExp(`^(?:${pattern})$`, 'u');

/** What is not as it should be after all posts, each consolidated by the engine on a day of its own. */
export async function faultsOf({ posts, holds, not }: SequenceRow): Promise<readonly string[]> {
  const bench = await engineBench({ chat: builtinChat(), embedder: builtinEmbedder(fixedTools()) });
  for (const [i, post] of posts.entries()) {
    const at = Date.parse(WEDNESDAY) + i * DAY_MS;
    bench.tools.set(at);
    await bench.post([{ content: post, at }]);
    await bench.run();
  }
  const live = await bench.live();
  const holding = (pattern: string) => live.some((text) => new RegExp(pattern, 'u').test(text));
  return [
    ...holds.filter((pattern) => !holding(pattern)).map((pattern) => `missing ${pattern} in: ${live.join('; ')}`),
    ...not.filter(holding).map((pattern) => `still ${pattern} in: ${live.join('; ')}`),
  ];
}

/** One message, said on Wednesday 4 March 2026: what must be remembered of it, and what else may be. Anything else is wrong. */
export type SentenceRow = readonly [said: string, must: readonly string[], may?: readonly string[]];

/** Posts of one user, a day apart from Wednesday 4 March 2026: what must hold at their end, and what must not. */
export interface SequenceRow {
  readonly posts: readonly string[];
  readonly holds: readonly string[];
  readonly not: readonly string[];
}
