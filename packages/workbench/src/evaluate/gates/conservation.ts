import type { Gate } from './gate.ts';

/** G14: what was accepted is accounted for, and so is every fact of it. */
export const conservation: Gate = ({ world, evidence, posted }) => {
  const { gap, pending, consolidating, parked } = evidence.stats.batches;
  const parkedNow = parked - posted.statsBefore.batches.parked;
  const plans = evidence.consolidations.flatMap(({ plan }) => (plan === null ? [] : [plan]));
  const unsettled = plans.flatMap(({ facts, outcomes }) =>
    facts.filter(({ id }) => {
      const ends = outcomes.filter(({ fact }) => fact === id);
      return ends.length !== 1 || ends[0]?.reason === '';
    }),
  );
  const found = new Set(plans.flatMap(({ facts }) => facts.map(({ text }) => text)));
  const unread = world.batches
    .flatMap(({ messages }) => messages)
    .filter(({ role, content }) => role === 'user' && !found.has(content));
  const waiting = pending + consolidating;
  return {
    gate: 'G14',
    what: 'nothing lost',
    figures: `gap ${gap}, waiting ${waiting}, parked ${parkedNow}, facts without one outcome ${unsettled.length}, messages without a fact ${unread.length}`,
    target: 'all 0',
    passed: [gap, waiting, parkedNow, unsettled.length, unread.length].every((count) => count === 0),
    misses: [
      ...unsettled.map(({ text }) => `no single outcome: ${text}`),
      ...unread.map(({ content }) => `no fact: ${content}`),
    ],
  };
};
