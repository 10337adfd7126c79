import { Line } from '../../ui/fields.tsx';
import type { Editing } from './rules.tsx';

const STEPS = {
  extract: 'Extract facts',
  decide: 'Decide what they change',
  graph: 'Find relations',
  summary: 'Keep summaries',
  recall: 'Answer, rewrite and rerank',
} as const;

type Step = keyof typeof STEPS;
const NAMED = Object.entries(STEPS) as [Step, string][];

/** Which chat models are asked in place of the configured ones. */
export function StepModels({ draft: { models }, change }: Editing) {
  const choose = (step: Step, model: string | null): void => {
    const { [step]: _before, ...others } = models;
    change({ models: model === null ? others : { ...others, [step]: model } });
  };
  return (
    <details>
      <summary>Models by step</summary>
      <p className="quiet hint">Names of chat models. Empty: as the server is configured.</p>
      <div className="fields">
        {NAMED.map(([step, name]) => (
          <Line key={step} name={name} value={models[step] ?? null} change={(model) => choose(step, model)} />
        ))}
      </div>
    </details>
  );
}
