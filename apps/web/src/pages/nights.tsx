import type { Night, NightSummary } from '@slowwave/sdk';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { Link } from 'wouter';
import { api } from '../api.ts';
import { Decision, OwnerLink } from '../owner.tsx';
import { Diff } from '../ui/diff.tsx';
import { counted, Moment } from '../ui/figures.tsx';
import { Choice, Exact, Filters, useFilters } from '../ui/filters.tsx';
import { Action } from '../ui/forms.tsx';
import { Pages, usePages } from '../ui/lists.tsx';
import { Answer } from '../ui/reading.tsx';
import { StateTag } from '../ui/standing.tsx';

type State = 'thinking' | 'waiting' | 'applied' | 'discarded' | 'stale' | 'failed';

const STATES: Readonly<Record<State | 'all', string>> = {
  all: 'All',
  waiting: 'Waiting',
  applied: 'Applied',
  thinking: 'In progress',
  discarded: 'Discarded',
  stale: 'Stale',
  failed: 'Failed',
};

const WHY = {
  preview: 'The settings require approval of nights.',
  share: 'It would change more memories than the settings allow.',
} as const;

const ACTS = {
  age: 'Date passed',
  merge: 'Merged',
  contradictions: 'Contradiction',
  fade: 'Faded',
  patterns: 'Concluded',
  skills: 'Skill',
  runs: 'Run ended',
  profile: 'Profile',
} as const;

const PAGE = 50;
const EVERY_MS = 5_000;
/** What is read again after a decision. */
const TOUCHED = [['nights'], ['night']];

/** What was done with memories while their users were away. */
export function Nights() {
  const { chosen, choose } = useFilters(['state', 'user']);
  const state = (chosen.state ?? 'all') as State | 'all';
  const list = usePages({
    queryKey: ['nights', state, chosen.user],
    read: (cursor, signal) => {
      const query = { limit: PAGE, cursor, state: state === 'all' ? undefined : state, user_id: chosen.user };
      return api.send('GET /v1/nights', { query }, { signal });
    },
    everyMs: EVERY_MS,
  });
  return (
    <>
      <h1>Nights</h1>
      <Filters>
        <Choice name="State" options={STATES} chosen={state} choose={(next) => choose({ state: next })} />
        <Exact name="User" value={chosen.user} choose={(user) => choose({ user })} />
      </Filters>
      <Pages of={list} none="No nights found. The setting sleep determines whether there are nights and what they do.">
        {(rows) => rows.map((night) => <NightCard key={night.id} night={night} />)}
      </Pages>
    </>
  );
}

/** One night; those that wait show what they would do at once. */
function NightCard({ night }: { readonly night: NightSummary }) {
  const { id, state, why, acts, memories, failure } = night;
  const [isChosen, choose] = useState(false);
  const isOpen = isChosen || state === 'waiting';
  return (
    <article className="card" aria-label={`Night ${id}`}>
      <div className="row">
        <StateTag state={state} />
        <OwnerLink of={night} />
        <span className="quiet">
          <Moment iso={night.created_at} />
        </span>
        <span>
          {counted(acts, 'act', 'acts')}, {counted(memories, 'memory', 'memories')} changed
        </span>
      </div>
      {state === 'waiting' && why !== null && <p className="quiet">{WHY[why]}</p>}
      {failure !== null && <p>{failure.message}</p>}
      {isOpen && <Acts id={id} />}
      <div className="row">
        {state === 'waiting' && (
          <>
            <Action kind="main" run={() => api.nights.decide(id, { decision: 'apply' })} touches={TOUCHED}>
              Apply
            </Action>
            <Action kind="danger" run={() => api.nights.decide(id, { decision: 'discard' })} touches={TOUCHED}>
              Discard
            </Action>
          </>
        )}
        {state === 'applied' && acts > 0 && (
          <Action kind="danger" run={() => api.consolidations.undo(id)} touches={TOUCHED}>
            Undo
          </Action>
        )}
        {!isOpen && (
          <button type="button" onClick={() => choose(true)}>
            Show changes
          </button>
        )}
        <Decision id={id}>Consolidation</Decision>
      </div>
    </article>
  );
}

function Acts({ id }: { readonly id: string }) {
  const night = useQuery({ queryKey: ['night', id], queryFn: ({ signal }) => api.nights.get(id, { signal }) });
  return <Answer of={night}>{({ plan }) => <Done plan={plan} />}</Answer>;
}

function Done({ plan }: Pick<Night, 'plan'>) {
  if (plan === null) return <p className="quiet">Retention removed its plan.</p>;
  return (
    <>
      <ul className="plain">
        {plan.acts.map((act) => (
          <ActLine key={`${act.act} ${act.memory_id}`} act={act} />
        ))}
      </ul>
      {plan.refused.length > 0 && (
        <details>
          <summary>{plan.refused.length} refused</summary>
          <ul>
            {plan.refused.map(({ asked, why }) => (
              <li key={asked}>
                {asked}: {why}
              </li>
            ))}
          </ul>
        </details>
      )}
      <p className="quiet">
        {plan.calls} calls, {plan.tokens} tokens
      </p>
    </>
  );
}

type Act = NonNullable<Night['plan']>['acts'][number];

function ActLine({ act }: { readonly act: Act }) {
  const { act: kind, asks, before, after, certainty, slot, evidence, reason } = act;
  return (
    <li>
      <div className="row">
        <span className={`tag ${asks ? 'wait' : ''}`}>{asks ? `${ACTS[kind]}: needs review` : ACTS[kind]}</span>
        {slot !== undefined && <span className="tag">{slot.replaceAll('_', ' ')}</span>}
        {certainty !== undefined && <span className="tag">certainty {certainty}</span>}
        <Link href={`/memories/${act.memory_id}`}>Memory</Link>
      </div>
      {asks || before === after ? <p className="text">{before}</p> : <Diff from={before} to={after} />}
      {evidence.map(({ memory_id, memory }) => (
        <p key={memory_id} className="text">
          <Link href={`/memories/${memory_id}`}>{memory}</Link>
        </p>
      ))}
      <p className="quiet">{reason}</p>
    </li>
  );
}
