import type { Plan } from '@slowwave/engine';

/** A stored plan. One of an earlier release holds nothing back, and tells neither cost nor the use of single models. */
export function planFrom(text: string): Plan {
  const plan = JSON.parse(text);
  return { held: [], cost: null, ...plan, usage: { models: [], ...plan.usage } };
}
