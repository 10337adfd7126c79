import type { Settings } from '@slowwave/sdk';
import { useState } from 'react';
import { Amount, Line } from '../../ui/fields.tsx';
import type { Editing } from './rules.tsx';
import { StepModels } from './step-models.tsx';

/** What models may use each day, and what they cost. */
export const Costs = (editing: Editing) => (
  <>
    <h2>Limits of a day</h2>
    <Budgets {...editing} />
    <Economy {...editing} />
    <h2>Prices of a million tokens</h2>
    <Prices {...editing} />
  </>
);

function Budgets({ draft: { budgets }, change }: Editing) {
  const limit = (part: Partial<typeof budgets>) => change({ budgets: { ...budgets, ...part } });
  return (
    <>
      <p className="quiet">
        Each day (UTC). Once a limit is reached, batches wait for the next day; nothing is dropped. Empty: no limit.
      </p>
      <Amount
        name="Tokens of all users"
        value={budgets.tokens_per_day}
        change={(tokens_per_day) => limit({ tokens_per_day })}
      />
      <Amount
        name="Cost of all users"
        step="any"
        hint="In the currency of the prices. Models without a price count as zero."
        value={budgets.cost_per_day}
        change={(cost_per_day) => limit({ cost_per_day })}
      />
      <Amount
        name="Tokens of each user"
        value={budgets.user_tokens_per_day}
        change={(user_tokens_per_day) => limit({ user_tokens_per_day })}
      />
      <Amount
        name="Cost of each user"
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
        name="Economise from (% of a limit)"
        hint="Larger batches first, then the cheaper models, then no summaries and no graph until the next day. Empty: only wait once a limit is reached."
        value={economy.soft_limit === null ? null : Math.round(economy.soft_limit * PERCENT)}
        change={(percent) => set({ soft_limit: percent === null ? null : percent / PERCENT })}
      />
      <Amount
        name="Hold a user, app or key at"
        hint="So many times what is usual in a day. Batches wait for the next day, or until you release them. Empty: never."
        min={2}
        step="any"
        value={hold_at}
        change={(times) => change({ hold_at: times })}
      />
      <StepModels
        name="Cheaper models"
        hint="Asked from the second step of saving on. Empty: the usual model is asked."
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
      <p className="quiet">All in one currency, whichever it is.</p>
      {Object.entries(prices).map(([name, price]) => (
        <fieldset key={name} className="row">
          <legend>{name}</legend>
          <Amount
            name="Read"
            step="any"
            value={price.prompt}
            change={(prompt) => put(name, { ...price, prompt: prompt ?? 0 })}
          />
          <Amount
            name="Written"
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
