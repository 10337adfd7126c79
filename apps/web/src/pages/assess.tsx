import type { SuiteAssessments, SuiteSample } from '@slowwave/sdk';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { Link, useParams } from 'wouter';
import { api } from '../api.ts';
import { OwnerLink } from '../owner.tsx';
import { percent } from '../ui/figures.tsx';
import { Action, Line } from '../ui/forms.tsx';
import { Table } from '../ui/lists.tsx';
import { Answer, Empty } from '../ui/reading.tsx';

const KEPT_AS = 'slowwave.assessor';

interface Place {
  readonly suite: string;
  readonly run: string;
  /** null: nobody has said who they are. */
  readonly by: string | null;
}

/** Messages of a run with what was made of them: a person says what is right and what is missing. */
export function AssessPage() {
  const { name: suite = '', id: run = '' } = useParams();
  const [by, setBy] = useState(() => localStorage.getItem(KEPT_AS));
  const name = by === null || by.trim() === '' ? null : by.trim();
  const place: Place = { suite, run, by: name };
  const sample = useQuery({
    queryKey: keyOf(place),
    queryFn: ({ signal }) => api.suites.sample({ name: suite, id: run }, name === null ? {} : { by: name }, { signal }),
  });
  const change = (value: string | null): void => {
    localStorage.setItem(KEPT_AS, value ?? '');
    setBy(value);
  };
  return (
    <>
      <h1>Assess a run of {suite}</h1>
      <section className="card" aria-label="About">
        <p className="quiet">
          Mark each fact as right or wrong, and each message as complete or not. Everybody gets the same messages, which
          shows how much people agree. <Link href={`/suites/${suite}/${run}`}>Back to the report</Link>
        </p>
        <Line name="Your name" hint="Your verdicts are stored under this name." value={by} change={change} />
      </section>
      <Answer of={sample}>
        {({ messages, assessed }) => (
          <>
            <Agreement of={assessed} />
            {messages.map((message) => (
              <Sampled key={message.id} of={message} place={place} />
            ))}
            {messages.length === 0 && (
              <Empty>There are no messages. The data of a run is deleted a week after the run ends.</Empty>
            )}
          </>
        )}
      </Answer>
    </>
  );
}

const keyOf = ({ suite, run, by }: Place) => ['suites', suite, 'runs', run, 'sample', by];

type Message = SuiteSample['messages'][number];

const OUTCOMES: Readonly<Record<Message['facts'][number]['outcome'], string>> = {
  ADD: 'added',
  UPDATE: 'updated',
  NONE: 'known',
  DROPPED: 'dropped',
};

function Sampled({ of, place }: { readonly of: Message; readonly place: Place }) {
  return (
    <section className="card" aria-label="Message">
      <p className="quiet">
        <OwnerLink of={of} />
        {of.before !== null && ` after: ${of.before}`}
      </p>
      <p>{of.content}</p>
      <ul className="plain">
        {of.facts.map((fact) => (
          <li key={fact.id} className="row">
            <span className="tag">{OUTCOMES[fact.outcome]}</span>
            <span>{fact.text}</span>
            {fact.replaced !== null && <span className="quiet">replaces: {fact.replaced}</span>}
            <span className="push">
              <Verdicts item={fact.id} of={fact.verdict} place={place} offers={{ agree: 'Right', wrong: 'Wrong' }} />
            </span>
          </li>
        ))}
        <li className="row">
          <span className="quiet">{of.facts.length === 0 ? 'No facts were found.' : 'Was everything found?'}</span>
          <span className="push">
            <Verdicts
              item={of.id}
              of={of.verdict}
              place={place}
              offers={{ complete: 'Complete', missing: 'Something is missing' }}
            />
          </span>
        </li>
      </ul>
    </section>
  );
}

interface Offered {
  readonly item: string;
  readonly of: Message['verdict'];
  readonly place: Place;
  readonly offers: Readonly<Partial<Record<NonNullable<Message['verdict']>, string>>>;
}

function Verdicts({ item, of, place, offers }: Offered) {
  const { suite, run, by } = place;
  return (
    <fieldset className="row choice" aria-label="Verdict">
      {(Object.keys(offers) as NonNullable<Message['verdict']>[]).map((verdict) => (
        <Action
          key={verdict}
          pressed={of === verdict}
          disabled={by === null}
          run={() => api.suites.assess({ name: suite, id: run }, { by: by ?? '', assessments: [{ item, verdict }] })}
          touches={[keyOf(place)]}
        >
          {offers[verdict]}
        </Action>
      ))}
    </fieldset>
  );
}

/** What each of them thinks, and how far two agree. */
function Agreement({ of: { assessors, pairs } }: { readonly of: SuiteAssessments }) {
  if (assessors.length === 0) return null;
  return (
    <Table
      name="Verdicts"
      card
      rows={[
        ...assessors.map(({ by, right, complete }) => [by, shareText(right), shareText(complete)] as const),
        ...pairs.map(
          ({ by, facts, messages }) =>
            [`${by.join(' and ')} agree`, agreementText(facts), agreementText(messages)] as const,
        ),
      ]}
      keyOf={([who]) => who}
      columns={[
        ['Assessor', ([who]) => who, 'name'],
        ['Correct facts', ([, facts]) => facts, 'number'],
        ['Complete messages', ([, , messages]) => messages, 'number'],
      ]}
    />
  );
}

const shareText = (share: SuiteAssessments['assessors'][number]['right']): string =>
  share === null ? '–' : `${percent(share.value)} of ${share.of} (${percent(share.low)} … ${percent(share.high)})`;

const agreementText = (agreement: SuiteAssessments['pairs'][number]['facts']): string => {
  if (agreement === null) return '–';
  const { of, same, kappa } = agreement;
  return `${same} of ${of}${kappa === null ? '' : `, kappa ${kappa.toFixed(2)}`}`;
};
