import type { Settings } from '@slowwave/sdk';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { api } from '../../api.ts';
import { ActionForm, Amount, Amounts, Line, LongText, Select, Several } from '../../ui/forms.tsx';
import { Answer } from '../../ui/reading.tsx';
import { Falling, Trial } from './trial.tsx';

type Part = 'remember' | 'review' | 'due' | 'retention' | 'budgets';

const SETTINGS = ['settings'];

/** What holds for all consolidations of a tenant from the next one on. */
export function Rules({ of }: { readonly of: Part }) {
  const settings = useQuery({
    queryKey: SETTINGS,
    queryFn: ({ signal }) => api.settings.get({ signal }),
    // Somebody may be typing.
    refetchOnWindowFocus: false,
  });
  return <Answer of={settings}>{(saved) => <Editor key={JSON.stringify(saved)} saved={saved} of={of} />}</Answer>;
}

interface Editing {
  readonly draft: Settings;
  readonly change: (part: Partial<Settings>) => void;
}

function Editor({ saved, of }: { readonly saved: Settings; readonly of: Part }) {
  const [draft, setDraft] = useState(saved);
  const editing: Editing = { draft, change: (part) => setDraft({ ...draft, ...part }) };
  const isChanged = JSON.stringify(draft) !== JSON.stringify(saved);
  return (
    <div className="beside">
      <section className="card" aria-label="Settings of the tenant">
        <ActionForm
          submit="Save"
          disabled={!isChanged}
          run={() => api.settings.replace(draft)}
          touches={[SETTINGS, ['overview']]}
          cancel={isChanged ? () => setDraft(saved) : undefined}
        >
          {of === 'remember' && <Remember {...editing} />}
          {of === 'review' && <Review {...editing} />}
          {of === 'retention' && <Retention {...editing} />}
          {of === 'due' && <Due {...editing} />}
          {of === 'budgets' && <Costs {...editing} />}
        </ActionForm>
      </section>
      {(of === 'remember' || of === 'review' || of === 'budgets') && <Trial draft={draft} />}
      {of === 'retention' && <Falling draft={draft} />}
    </div>
  );
}

function Remember({ draft, change }: Editing) {
  return (
    <>
      <LongText
        name="Instructions"
        hint="What to remember, in addition to the built-in rules."
        value={draft.instructions}
        change={(instructions) => change({ instructions })}
      />
      <LongText name="Remember only" value={draft.includes} rows={2} change={(includes) => change({ includes })} />
      <LongText name="Never remember" value={draft.excludes} rows={2} change={(excludes) => change({ excludes })} />
      <LongText
        name="How new facts change memories"
        value={draft.decide_instructions}
        rows={2}
        change={(decide_instructions) => change({ decide_instructions })}
      />
      <Categories draft={draft} change={change} />
      <details>
        <summary>Custom prompts</summary>
        <div className="fields">
          <LongText
            name="Prompt for extracting facts"
            hint="Must contain {{categories}}. The format of the answer stays the same."
            value={draft.prompts.extract}
            rows={8}
            change={(extract) => change({ prompts: { ...draft.prompts, extract } })}
          />
          <LongText
            name="Prompt for deciding"
            value={draft.prompts.decide}
            rows={8}
            change={(decide) => change({ prompts: { ...draft.prompts, decide } })}
          />
        </div>
      </details>
      <StepModels
        name="Models by step"
        hint="Names of chat models. Empty: as configured on the server."
        models={draft.models}
        change={(models) => change({ models })}
      />
      <Select
        name="Personal data"
        hint="Applied before anything is stored."
        value={draft.personal_data}
        options={{ off: 'Stored unchanged', mask: 'Masked', drop: 'Not stored' }}
        change={(personal_data) => change({ personal_data })}
      />
      <Select
        name="Relations"
        value={draft.graph ? 'on' : 'off'}
        options={{ on: 'Extracted from every batch', off: 'Only from batches that request it' }}
        change={(on) => change({ graph: on === 'on' })}
      />
      <Select
        name="Sleep"
        hint="Cleans up memories while their user is away. For all options, use PUT /v1/settings."
        value={draft.sleep.mode}
        options={{
          off: 'Off',
          preview: 'On, each night waits for approval',
          auto: 'On, nights are applied automatically',
        }}
        change={(mode) => change({ sleep: { ...draft.sleep, mode } })}
      />
      <Line
        name="Time zone of speakers"
        hint="For example Europe/Oslo. Empty: UTC."
        value={draft.timezone}
        change={(timezone) => change({ timezone })}
      />
    </>
  );
}

/** Typed as a line; what is typed is kept as it stands until it is a list of others. */
function Categories({ draft, change }: Editing) {
  const [typed, setTyped] = useState(draft.categories?.join(', ') ?? null);
  return (
    <Line
      name="Categories"
      hint="Separated by commas. Empty: the built-in ones."
      value={typed}
      change={(text) => {
        setTyped(text);
        const names = (text ?? '').split(',').flatMap((name) => (name.trim() === '' ? [] : [name.trim()]));
        change({ categories: names.length === 0 ? null : names });
      }}
    />
  );
}

const Review = ({ draft, change }: Editing) => (
  <>
    <Several
      name="Operations that require review"
      hint="They wait under Reviews until someone approves or rejects them."
      value={draft.review}
      options={['ADD', 'UPDATE', 'DELETE']}
      change={(review) => change({ review })}
    />
    <Select
      name="Facts from external content"
      hint="Output of other systems, web pages, pasted emails."
      value={draft.external_content}
      options={{ review: 'Require review', remember: 'Remember like other facts', ignore: 'Discard' }}
      change={(external_content) => change({ external_content })}
    />
  </>
);

const SECOND_MS = 1_000;

/** Empty: as the service is configured. */
function Due({ draft: { due }, change }: Editing) {
  const wait = (part: { readonly [Name in keyof typeof due]?: number | null }) => {
    const next = Object.entries({ ...due, ...part }).filter(([, value]) => value !== null);
    change({ due: Object.fromEntries(next) });
  };
  const seconds = (ms: number | undefined): number | null => (ms === undefined ? null : ms / SECOND_MS);
  const millis = (value: number | null): number | null => (value === null ? null : Math.round(value * SECOND_MS));
  return (
    <>
      <p className="quiet">
        Messages are consolidated as soon as one of these limits is reached. Higher limits mean fewer model calls. Until
        then, searches find the messages themselves. Empty: as configured on the server.
      </p>
      <Amount
        name="Seconds since the last message"
        empty="default"
        hint="After this pause a conversation counts as finished."
        step="any"
        value={seconds(due.idle_ms)}
        change={(value) => wait({ idle_ms: millis(value) })}
      />
      <Amount
        name="Seconds since the first message"
        empty="default"
        hint="Even if the conversation continues."
        step="any"
        value={seconds(due.max_age_ms)}
        change={(value) => wait({ max_age_ms: millis(value) })}
      />
      <Amount
        name="Exchanges"
        empty="default"
        min={1}
        value={due.exchanges ?? null}
        change={(exchanges) => wait({ exchanges })}
      />
      <Amount name="Tokens" empty="default" min={1} value={due.tokens ?? null} change={(tokens) => wait({ tokens })} />
    </>
  );
}

const Retention = ({ draft: { retention, forgetting }, change }: Editing) => (
  <>
    <h2>Retention in days</h2>
    <Amounts
      of={retention}
      change={(next) => change({ retention: next })}
      empty="forever"
      min={1}
      fields={{
        messages_days: { name: 'Messages' },
        plans_days: { name: 'Plans and model answers' },
        history_days: { name: 'Previous versions of memories' },
        forgotten_days: {
          name: 'Forgotten memories',
          hint: 'After that they are erased and can no longer be restored.',
        },
      }}
    />
    <h2>Automatic forgetting</h2>
    <p className="quiet">
      A memory is forgotten when it reaches one of these limits. Pinned memories are never forgotten.
    </p>
    <Amounts
      of={forgetting}
      change={(next) => change({ forgetting: next })}
      empty="never"
      min={1}
      fields={{
        max_age_days: { name: 'Days without a change' },
        unconfirmed_days: { name: 'Days without a change or a confirmation' },
        max_memories: { name: 'Maximum number of memories per user', empty: 'no limit' },
      }}
    />
  </>
);

/** What models may use each day, and what they cost. */
const Costs = (editing: Editing) => (
  <>
    <h2>Daily limits</h2>
    <p className="quiet">Per day (UTC). Once a limit is reached, batches wait until the next day. Nothing is lost.</p>
    <Amounts
      of={editing.draft.budgets}
      change={(budgets) => editing.change({ budgets })}
      empty="no limit"
      fields={{
        tokens_per_day: { name: 'Tokens of all users' },
        cost_per_day: {
          name: 'Cost of all users',
          step: 'any',
          hint: 'In the currency of the prices. Models without a price count as zero.',
        },
        user_tokens_per_day: { name: 'Tokens per user' },
        user_cost_per_day: { name: 'Cost per user', step: 'any' },
      }}
    />
    <Economy {...editing} />
    <h2>Prices per million tokens</h2>
    <Prices {...editing} />
  </>
);

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
function StepModels({ name: summary, hint, models, change }: Choosing) {
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
