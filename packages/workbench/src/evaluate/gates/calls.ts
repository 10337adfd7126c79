import type { Consolidation } from '../evidence.ts';
import type { Gate } from './gate.ts';

/** One call to extract, one to decide; a long transcript is extracted in parts. */
const allowed = (consolidation: Consolidation): number =>
  Math.max(1, consolidation.answers.filter(({ step }) => /^extract(:\d+)?$/.test(step)).length) + 1;
const callsOf = ({ plan }: Consolidation): number => plan?.usage.calls ?? 0;
const PER_MESSAGE_MAX = 0.2;

/** G17: how often a model was asked, for one consolidation and over all, summaries and other follow-ups counted. */
export const calls: Gate = ({ world, evidence, calls: asked }) => {
  const plans = evidence.consolidations.filter(({ plan }) => plan !== null);
  const over = plans.filter((one) => callsOf(one) > allowed(one));
  const most = Math.max(0, ...plans.map(callsOf));
  const messages = world.batches.reduce((sum, batch) => sum + batch.messages.length, 0);
  const perMessage = asked.length / Math.max(messages, 1);
  const byName = Object.entries(Object.groupBy(asked, ({ name }) => name)).map(
    ([name, all]) => `${name} ${all?.length}`,
  );
  return {
    gate: 'G17',
    what: 'model calls',
    figures: `most per consolidation ${most} (${plans.length} of them), per message ${perMessage.toFixed(3)} (${byName.join(', ')})`,
    target: `≤ 2, or parts + 1 for long ones; ≤ ${PER_MESSAGE_MAX}`,
    passed: over.length === 0 && perMessage <= PER_MESSAGE_MAX && asked.length > 0,
    misses: over.map((one) => `${one.id} took ${callsOf(one)} calls`),
  };
};
