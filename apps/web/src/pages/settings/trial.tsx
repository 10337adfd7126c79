import type { Message, Plan, Settings } from '@slowwave/sdk';
import { useState } from 'react';
import { api } from '../../api.ts';
import { Diff } from '../../ui/diff.tsx';
import { money, whole } from '../../ui/figures.tsx';
import { Action, ActionForm, Line, LongText, Select } from '../../ui/forms.tsx';
import { EventTag } from '../../ui/standing.tsx';

const EXAMPLE = 'I moved to Lisbon last week, and I am allergic to peanuts.\nassistant: Noted!';

/** What a conversation would lead to with settings that are not saved yet. Nothing is stored but what the model used. */
export function Trial({ draft }: { readonly draft: Settings }) {
  const [transcript, setTranscript] = useState<string | null>(EXAMPLE);
  const [user, setUser] = useState<string | null>('someone');
  const [mode, setMode] = useState<Mode>('decide');
  const [plan, setPlan] = useState<Plan | null>(null);
  return (
    <section className="card" aria-label="Try on a transcript">
      <h2>Try on a transcript</h2>
      <ActionForm
        submit="Try"
        disabled={transcript === null || user === null}
        run={() =>
          api.consolidations.preview({
            user_id: user ?? '',
            messages: messagesOf(transcript ?? ''),
            mode,
            settings: triedOf(draft),
          })
        }
        done={setPlan}
      >
        <LongText
          name="Conversation"
          hint="One message per line. Messages of the assistant begin with “assistant:”."
          value={transcript}
          rows={5}
          change={setTranscript}
        />
        <Line name="User" hint="The user whose memories the facts are compared with." value={user} change={setUser} />
        <Select
          name="Mode"
          hint="In production, each batch sets its own mode."
          value={mode}
          change={setMode}
          options={MODES}
        />
      </ActionForm>
      {plan !== null && <Outcome plan={plan} />}
    </section>
  );
}

type Mode = 'decide' | 'add_only' | 'verbatim' | 'procedural';

const MODES: Readonly<Record<Mode, string>> = {
  decide: 'decide: compare facts with known memories',
  add_only: 'add_only: keep every fact',
  verbatim: 'verbatim: store messages unchanged, without a model',
  procedural: 'procedural: record what an agent did',
};

const ASSISTANT = /^assistant:\s*/iu;

const messagesOf = (transcript: string): Message[] =>
  transcript
    .split('\n')
    .filter((line) => line.trim() !== '')
    .map((line) => ({ role: ASSISTANT.test(line) ? 'assistant' : 'user', content: line.replace(ASSISTANT, '') }));

const triedOf = (draft: Settings) => ({
  instructions: draft.instructions,
  includes: draft.includes,
  excludes: draft.excludes,
  decide_instructions: draft.decide_instructions,
  categories: draft.categories,
  prompts: draft.prompts,
  models: draft.models,
  review: draft.review,
  external_content: draft.external_content,
  prices: draft.prices,
});

function Outcome({ plan: { operations, held, discards, usage, cost } }: { readonly plan: Plan }) {
  const all = [
    ...operations.map((operation) => ({ ...operation, waits: false })),
    ...held.map((operation) => ({ ...operation, waits: true })),
  ];
  return (
    <div role="status">
      {all.length === 0 && <p>Nothing would be remembered.</p>}
      <ul className="plain">
        {all.map(({ event, before, after, reason, fact, waits }) => (
          <li key={`${fact} ${event} ${after}`}>
            <EventTag event={event} /> {waits && <span className="tag wait">waits for review</span>}
            <Diff from={before} to={event === 'DELETE' ? null : after} />
            <p className="quiet">{reason}</p>
          </li>
        ))}
        {discards.map(({ text, reason }) => (
          <li key={text}>
            <span className="tag">discarded</span> {text} <span className="quiet">{reason}</span>
          </li>
        ))}
      </ul>
      <p className="quiet">
        {usage.calls} calls, {whole(usage.prompt_tokens + usage.completion_tokens)} tokens
        {cost !== null && `, cost ${money(cost, 6)}`}. Nothing was stored.
      </p>
    </div>
  );
}

interface Answered {
  readonly asked: string;
  readonly rows: readonly (readonly [what: string, count: number])[];
}

/** What these settings would remove at once, before anybody saves them. */
export function Falling({ draft: { retention, forgetting } }: { readonly draft: Settings }) {
  const [answered, setAnswered] = useState<Answered | null>(null);
  const asked = JSON.stringify({ retention, forgetting });
  return (
    <section className="card" aria-label="Retention preview">
      <h2>What would be removed now</h2>
      <Action
        run={() => api.send('POST /v1/retention/preview', { body: { retention, forgetting }, readsOnly: true })}
        done={({ batches, consolidations, histories, memories, forgotten }) =>
          setAnswered({
            asked,
            rows: [
              ['Batches that lose their messages', batches],
              ['Consolidations that lose their plan', consolidations],
              ['Memories that lose their previous versions', histories],
              ['Memories forgotten because of their age', memories.age],
              ['Memories forgotten because they were not confirmed', memories.unconfirmed],
              ['Memories forgotten because there are too many', memories.budget],
              ['Forgotten memories that are erased', forgotten],
            ],
          })
        }
      >
        Show
      </Action>
      {answered?.asked === asked && (
        <dl className="pairs">
          {answered.rows.map(([what, count]) => (
            <div key={what}>
              <dt>{what}</dt>
              <dd>{whole(count)}</dd>
            </div>
          ))}
        </dl>
      )}
    </section>
  );
}
