import type { Settings } from '@slowwave/sdk';
import { useState } from 'react';
import { Amount, Line } from '../../ui/fields.tsx';
import type { Editing } from './rules.tsx';
import { StepModels } from './step-models.tsx';

/** What models may use each day, and what they cost. */
export const Costs = (editing: Editing) => (
  <>
    <h2>Daily limits</h2>
    <Budgets {...editing} />
    <Economy {...editing} />
    <h2>Prices per million tokens</h2>
    <Prices {...editing} />
  </>
);

function Budgets({ draft: { budgets }, change }: Editing) {
  const limit = (part: Partial<typeof budgets>) => change({ budgets: { ...budgets, ...part } });
  return (
    <>
      <p className="quiet">Per day (UTC). Once a limit is reached, batches wait until the next day. Nothing is lost.</p>
      <Amount
        name="Tokens of all users"
        empty="no limit"
        value={budgets.tokens_per_day}
        change={(tokens_per_day) => limit({ tokens_per_day })}
      />
      <Amount
        name="Cost of all users"
        empty="no limit"
        step="any"
        hint="In the currency of the prices. Models without a price count as zero."
        value={budgets.cost_per_day}
        change={(cost_per_day) => limit({ cost_per_day })}
      />
      <Amount
        name="Tokens per user"
        empty="no limit"
        value={budgets.user_tokens_per_day}
        change={(user_tokens_per_day) => limit({ user_tokens_per_day })}
      />
      <Amount
        name="Cost per user"
        empty="no limit"
        step="any"
        value={budgets.user_cost_per_day}
        change={(user_cost_per_day) => limit({ user_cost_per_day })}
      />
    </>
  );
}

const PERCENT = 100;

function Economy({ draft: { economy, hold_at }, change }: Editing) {
  const set = (part: Partial<typeof economy>) => change({ economy: { ...economy, ...part } });
  return (
    <>
      <Amount
        name="Start saving at (% of a limit)"
        empty="never"
        hint="First larger batches, then cheaper models, then no summaries and no graph until the next day. Empty: batches just wait once a limit is reached."
        value={economy.soft_limit === null ? null : Math.round(economy.soft_limit * PERCENT)}
        change={(percent) => set({ soft_limit: percent === null ? null : percent / PERCENT })}
      />
      <Amount
        name="Hold a user, app or key at (× the usual daily use)"
        empty="never"
        hint="Its batches then wait until the next day, or until you release it."
        min={2}
        step="any"
        value={hold_at}
        change={(times) => change({ hold_at: times })}
      />
      <StepModels
        name="Cheaper models"
        hint="Used from the second saving step on. Empty: the usual model."
        models={economy.models}
        change={(models) => set({ models })}
      />
    </>
  );
}

type Price = Settings['prices'][string];

function Prices({ draft: { prices }, change }: Editing) {
  const [model, setModel] = useState<string | null>(null);
  const put = (name: string, price: Price) => change({ prices: { ...prices, [name]: price } });
  const remove = (name: string) =>
    change({ prices: Object.fromEntries(Object.entries(prices).filter(([other]) => other !== name)) });
  return (
    <>
      <p className="quiet">Use the same currency for all prices.</p>
      {Object.entries(prices).map(([name, price]) => (
        <fieldset key={name} className="row">
          <legend>{name}</legend>
          <Amount
            name="Prompt tokens"
            step="any"
            value={price.prompt}
            change={(prompt) => put(name, { ...price, prompt: prompt ?? 0 })}
          />
          <Amount
            name="Completion tokens"
            step="any"
            value={price.completion}
            change={(completion) => put(name, { ...price, completion: completion ?? 0 })}
          />
          <button type="button" aria-label={`Remove the price of ${name}`} onClick={() => remove(name)}>
            Remove
          </button>
        </fieldset>
      ))}
      <div className="row">
        <Line name="Model" value={model} change={setModel} />
        <button
          type="button"
          disabled={model === null || Object.hasOwn(prices, model)}
          onClick={() => {
            if (model !== null) put(model, { prompt: 0, completion: 0 });
            setModel(null);
          }}
        >
          Add a price
        </button>
      </div>
    </>
  );
}
