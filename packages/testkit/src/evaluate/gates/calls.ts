import type { Gate } from './gate.ts';

/** An extract and a decide call, and one repair call each. */
const CALLS_MAX = 2;
const PER_MESSAGE_MAX = 0.2;

/** G17: how often a model was asked, for one consolidation and over all, summaries and other follow-ups counted. */
export const calls: Gate = ({ world, evidence, calls: asked }) => {
  const plans = evidence.consolidations.flatMap(({ id, plan }) =>
    plan === null ? [] : [{ id, calls: plan.usage.calls }],
  );
  const most = Math.max(0, ...plans.map((plan) => plan.calls));
  const messages = world.batches.reduce((sum, batch) => sum + batch.messages.length, 0);
  const perMessage = asked.length / Math.max(messages, 1);
  const byName = Object.entries(Object.groupBy(asked, ({ name }) => name)).map(
    ([name, all]) => `${name} ${all?.length}`,
  );
  return {
    gate: 'G17',
    what: 'model calls',
    figures: `most per consolidation ${most} (${plans.length} of them), per message ${perMessage.toFixed(3)} (${byName.join(', ')})`,
    target: `≤ ${CALLS_MAX}, ≤ ${PER_MESSAGE_MAX}`,
    passed: most <= CALLS_MAX && perMessage <= PER_MESSAGE_MAX && asked.length > 0,
    misses: plans.filter((plan) => plan.calls > CALLS_MAX).map((plan) => `${plan.id} took ${plan.calls} calls`),
  };
};
