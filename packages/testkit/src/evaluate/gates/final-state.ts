import { type Gate, percent, shareOf } from './gate.ts';

/** G1: what holds in the end is the gold, no more and no less, and came about by updates. */
export const finalState: Gate = ({ world, course, evidence }) => {
  const gold = new Set(world.gold);
  const texts = evidence.live.map(({ memory }) => memory);
  const live = new Set(texts);
  const right = [...live].filter((text) => gold.has(text)).length;
  const stale = texts.filter((text) => course.stale.has(text));
  const lost = [...gold].filter((text) => !live.has(text));
  const others = texts.length - right - stale.length;
  const updates = [...evidence.histories.values()].flat().filter(({ event }) => event === 'UPDATE').length;
  const [precision, recall] = [shareOf(right, texts.length), shareOf(right, gold.size)];
  return {
    gate: 'G1',
    what: 'final state',
    figures:
      `precision ${percent(precision)}, recall ${percent(recall)}, live ${texts.length}, updates ${updates}, ` +
      `stale ${stale.length}, lost ${lost.length}${others > 0 ? `, other ${others}` : ''}`,
    target: `100 %, 100 %, live ${gold.size}, updates ${course.updates}, 0, 0`,
    passed: precision === 1 && recall === 1 && updates === course.updates,
    misses: [...stale.map((text) => `stale: ${text}`), ...lost.map((text) => `lost: ${text}`)],
  };
};
