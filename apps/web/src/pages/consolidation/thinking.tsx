import type { Batch, Consolidation, Plan } from '@slowwave/sdk';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { Link } from 'wouter';
import { api } from '../../api.ts';
import { lasting, money, whole } from '../../ui/figures.tsx';
import { Table, Wide } from '../../ui/lists.tsx';
import { Answer } from '../../ui/reading.tsx';

interface Told {
  readonly consolidation: Consolidation;
  readonly plan: Plan | null;
  /** The first batch: when it came, and when it could be found. */
  readonly batch: Batch | undefined;
}

interface Bar {
  readonly name: string;
  readonly fromMs: number;
  readonly ms: number;
}

/** How long each step took, one after the other. */
export function Times({ consolidation, plan, batch }: Told) {
  const bars = barsOf(plan, batch?.timings ?? null, consolidation);
  const whole = Math.max(1, ...bars.map(({ fromMs, ms }) => fromMs + ms));
  if (bars.length === 0) return null;
  return (
    <section className="card" aria-label="Duration">
      <h2>Duration</h2>
      <dl className="bars">
        {bars.map(({ name, fromMs, ms }) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>
              <span className="track" aria-hidden="true">
                <span style={{ marginInlineStart: `${(100 * fromMs) / whole}%`, width: `${(100 * ms) / whole}%` }} />
              </span>
              <span className="number">{lasting(ms)}</span>
            </dd>
          </div>
        ))}
      </dl>
    </section>
  );
}

/** The steps lie at the end of the time that the whole took; earlier attempts and waits come before them. */
function barsOf(plan: Plan | null, batch: Batch['timings'] | null, { applied_at: applied }: Consolidation): Bar[] {
  const steps = Object.entries(plan?.timings_ms ?? {});
  const thought = steps.reduce((sum, [, ms]) => sum + ms, 0);
  const accepted = batch === null ? null : Date.parse(batch.accepted_at);
  const claimed = batch?.claimed_at ?? null;
  const waited = accepted === null || claimed === null ? 0 : Math.max(0, Date.parse(claimed) - accepted);
  const bars: Bar[] = waited === 0 ? [] : [{ name: 'wait for a worker', fromMs: 0, ms: waited }];
  const until = accepted === null || applied === null ? waited + thought : Date.parse(applied) - accepted;
  let at = Math.max(waited, until - thought);
  for (const [name, ms] of steps) {
    bars.push({ name, fromMs: at, ms });
    at += ms;
  }
  const searchable = batch?.searchable_at ?? null;
  if (accepted !== null && applied !== null && searchable !== null) {
    bars.push({ name: 'update index', fromMs: at, ms: Math.max(0, Date.parse(searchable) - Date.parse(applied)) });
  }
  return bars;
}

/** Which models were asked how often, and what that cost. */
export const Usage = ({ plan: { usage, cost, prompts, models, variant, rung } }: { readonly plan: Plan }) => (
  <section className="card" aria-label="Models">
    <h2>Models</h2>
    <Table
      name="Usage"
      rows={usage.models.length > 1 ? [...usage.models, { ...usage, model: null, cost }] : usage.models}
      keyOf={({ model }) => model ?? ''}
      columns={[
        ['Model', ({ model }) => model ?? <strong>Total</strong>],
        ['Calls', ({ calls }) => calls, 'number'],
        ['Prompt tokens', (use) => whole(use.prompt_tokens), 'number'],
        ['Completion tokens', (use) => whole(use.completion_tokens), 'number'],
        ['Cost', (use) => money(use.cost, COST_DIGITS), 'number'],
      ]}
    />
    <p className="quiet">
      Embedding model: {models.embedder}. Prompts:{' '}
      {prompts.map(({ name, version }) => `${name} (version ${version})`).join(', ') || 'none'}.
      {variant !== null && (
        <>
          {' '}
          Made with the changes of <Link href={`/canaries/${variant}`}>a canary</Link>.
        </>
      )}
      {rung > 0 && ' Made while most of the daily budget was used.'}
    </p>
  </section>
);

const COST_DIGITS = 6;

type Written = Consolidation['answers'][number];

/** What the models were sent and what they wrote, as it went and came. */
export function Answers({ id, answers }: Pick<Consolidation, 'id' | 'answers'>) {
  if (answers.length === 0) return null;
  return (
    <section className="card" aria-label="Prompts and answers">
      <h2>Prompts and answers</h2>
      {answers.map((answer, at) => (
        <Exchange key={`${answer.step} ${answer.at}`} id={id} answer={answer} at={at} />
      ))}
    </section>
  );
}

interface Place {
  readonly id: string;
  /** Which of the answers it is. */
  readonly at: number;
}

function Exchange({ id, at, answer }: Place & { readonly answer: Written }) {
  const { step, model, output, prompt_tokens: read, completion_tokens: wrote, reused_from: former } = answer;
  const [isOpen, setOpen] = useState(false);
  return (
    <details open={isOpen} onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
      <summary>
        {step}{' '}
        <span className="quiet">
          {model}, {whole(read)} prompt tokens, {whole(wrote)} completion tokens
        </span>
      </summary>
      {former !== null && (
        <p>
          Reused from <Link href={`/consolidations/${former}`}>an undone consolidation</Link>, which paid for it.
        </p>
      )}
      {isOpen && <Sent id={id} at={at} />}
      <h3>Answer</h3>
      <Verbatim name={`Answer of ${step}`} text={readable(output)} />
    </details>
  );
}

/** Rebuilt by the server when somebody asks for it. */
function Sent({ id, at }: Place) {
  const prompts = useQuery({
    queryKey: ['consolidation', id, 'prompts'],
    queryFn: ({ signal }) => api.send('GET /v1/consolidations/{id}/prompts', { params: { id } }, { signal }),
  });
  return (
    <Answer of={prompts}>
      {({ results }) => {
        const { step = '', prompt = null } = results[at] ?? {};
        return prompt === null ? (
          <p className="quiet">
            Prompts are not stored, and this one can no longer be rebuilt: its messages, settings or memories have
            changed since, or some of them were forgotten.
          </p>
        ) : (
          <>
            <h3>System prompt</h3>
            <Verbatim name={`System prompt of ${step}`} text={prompt.system} />
            <h3>User message</h3>
            <Verbatim name={`User message of ${step}`} text={prompt.user} />
          </>
        );
      }}
    </Answer>
  );
}

const Verbatim = ({ name, text }: { readonly name: string; readonly text: string }) => (
  <Wide name={name}>
    <pre className="wrap">{text}</pre>
  </Wide>
);

/** JSON line by line; anything else as it is. */
function readable(output: string): string {
  try {
    return JSON.stringify(JSON.parse(output), null, 2);
  } catch {
    return output;
  }
}
