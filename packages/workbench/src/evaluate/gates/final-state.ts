import { type Gate, percent, shareOf } from './gate.ts';

/** From here on a world is large: of many memories like it, the one to update may be missed once in so many. */
const LARGE = 1_000;
const ONE_IN = 1_473;

/** G1, and for large worlds G2: what holds in the end is the gold, no more and no less, and came about by updates. */
export const finalState: Gate = ({ world, course, evidence }) => {
  const gold = new Set(world.gold);
  const texts = evidence.live.map(({ memory }) => memory);
  const live = new Set(texts);
  const right = [...live].filter((text) => gold.has(text)).length;
  const stale = texts.filter((text) => course.stale.has(text));
  const lost = [...gold].filter((text) => !live.has(text));
  const others = texts.length - right - stale.length;
  const updates = [...evidence.histories.values()].flat().filter(({ event }) => event === 'UPDATE').length;
  const isLarge = gold.size >= LARGE;
  const mayMiss = isLarge ? Math.ceil(gold.size / ONE_IN) : 0;
  const [precision, recall] = [shareOf(right, texts.length), shareOf(right, gold.size)];
  return {
    gate: isLarge ? 'G2' : 'G1',
    what: 'final state',
    figures:
      `precision ${percent(precision)}, recall ${percent(recall)}, live ${texts.length}, updates ${updates}, ` +
      `stale ${stale.length}, lost ${lost.length}${others > 0 ? `, other ${others}` : ''}`,
    target: `${isLarge ? '' : 'precision 100%, '}recall 100%, live ${gold.size}, updates ${course.updates}, stale ≤ ${mayMiss}, lost 0`,
    passed: recall === 1 && texts.length - right <= mayMiss && Math.abs(updates - course.updates) <= mayMiss,
    misses: [...stale.map((text) => `stale: ${text}`), ...lost.map((text) => `lost: ${text}`)],
  };
};
