import type { Settings } from '@slowwave/sdk';
import { Line } from '../../ui/fields.tsx';

const STEPS = {
  extract: 'Extract facts',
  decide: 'Decide what they change',
  graph: 'Find relations',
  summary: 'Write summaries',
  recall: 'Answer, rewrite and rerank',
} as const;

type Step = keyof typeof STEPS;
const NAMED = Object.entries(STEPS) as [Step, string][];

interface Choosing {
  readonly name: string;
  readonly hint: string;
  readonly models: Settings['models'];
  readonly change: (models: Settings['models']) => void;
}

/** Which chat models are asked in place of others. */
export function StepModels({ name: summary, hint, models, change }: Choosing) {
  const choose = (step: Step, model: string | null): void => {
    const { [step]: _before, ...others } = models;
    change(model === null ? others : { ...others, [step]: model });
  };
  return (
    <details>
      <summary>{summary}</summary>
      <p className="quiet hint">{hint}</p>
      <div className="fields">
        {NAMED.map(([step, name]) => (
          <Line key={step} name={name} value={models[step] ?? null} change={(model) => choose(step, model)} />
        ))}
      </div>
    </details>
  );
}
