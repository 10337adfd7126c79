import type { Replay, ReplayDifference, ReplaySide, WhatIfResult } from '@slowwave/sdk';
import { useQuery } from '@tanstack/react-query';
import { Link, useParams } from 'wouter';
import { api } from '../api.ts';
import { OwnerLink } from '../owner.tsx';
import { Diff } from '../ui/diff.tsx';
import { Moment, money, whole } from '../ui/figures.tsx';
import { Action } from '../ui/forms.tsx';
import { Table } from '../ui/lists.tsx';
import { Answer, Empty } from '../ui/reading.tsx';
import { isOpenReplay, Progress, StateTag, Tried } from '../ui/standing.tsx';

const EVERY_MS = 1_000;

/** How far a replay is, and what a what-if found out. */
export function ReplayPage() {
  const { id = '' } = useParams();
  const replay = useQuery({
    queryKey: ['replays', id],
    queryFn: ({ signal }) => api.replays.get(id, { signal }),
    refetchInterval: ({ state: { data } }) => data !== undefined && isOpenReplay(data) && EVERY_MS,
  });
  return (
    <Answer of={replay}>
      {(now) => (
        <>
          <h1>{now.kind === 'live' ? 'Replay' : now.kind === 'suite' ? 'Suite run' : 'What-if'}</h1>
          <Head replay={now} />
          {now.result !== null && <Result result={now.result} />}
        </>
      )}
    </Answer>
  );
}

function Head({ replay }: { readonly replay: Replay }) {
  const { id, kind, state, created_at: created, error, waiting_for: waitingFor, changes } = replay;
  return (
    <section className="card">
      <div className="row">
        <StateTag state={state} />
        <span className="quiet">
          requested <Moment iso={created} />
        </span>
        <Tried of={changes} />
        <span className="push row">
          <Link href="/work">All work</Link>
          {kind === 'what_if' && !state.startsWith('discard') && (
            <Action run={() => api.replays.discard(id)} touches={[['replays']]}>
              Discard
            </Action>
          )}
        </span>
      </div>
      <Progress replay={replay} />
      {waitingFor !== null && <p className="quiet">Waiting: {waitingFor.message}</p>}
      {error !== null && <p className="problem">{error.message}</p>}
    </section>
  );
}

/** What would be different, and what it would have cost. */
function Result({
  result: { memories, differences, relations, life, what_if: whatIf },
}: {
  readonly result: WhatIfResult;
}) {
  const { added, changed, gone } = memories;
  return (
    <>
      <section className="card" aria-label="Memories">
        <h2>Memories</h2>
        <Counts of={memories} />
        {differences.length === 0 && <Empty>The result would be the same.</Empty>}
        <ul className="plain">
          {differences.map((difference) => (
            <Difference key={`${difference.memory_id} ${difference.what_if}`} difference={difference} />
          ))}
        </ul>
        {differences.length < added + changed + gone && (
          <p className="quiet">The first {differences.length} are shown.</p>
        )}
      </section>
      {relations !== null && <Relations relations={relations} />}
      <Compared life={life} whatIf={whatIf} />
    </>
  );
}

const Counts = ({ of: { same, added, changed, gone } }: { readonly of: WhatIfResult['memories'] }) => (
  <p>
    <span className="tag good">{added} added</span> <span className="tag wait">{changed} changed</span>{' '}
    <span className="tag bad">{gone} missing</span> <span className="tag">{same} unchanged</span>
  </p>
);

const Difference = ({ difference }: { readonly difference: ReplayDifference }) => (
  <li>
    <span className="quiet">
      <OwnerLink of={difference} />
      {difference.memory_id !== null && (
        <>
          {' '}
          · <Link href={`/memories/${difference.memory_id}`}>memory</Link>
        </>
      )}
    </span>
    <Diff from={difference.life} to={difference.what_if} />
  </li>
);

type RelationsOf = NonNullable<WhatIfResult['relations']>;

const Relations = ({ relations }: { readonly relations: RelationsOf }) => (
  <section className="card" aria-label="Relations">
    <h2>Relations</h2>
    <Counts of={relations} />
    <ul className="plain">
      {relations.differences.map((difference) => {
        const { source, relationship, destination, life, what_if: whatIf } = difference;
        const text = `${source} ${relationship.replaceAll('_', ' ')} ${destination}`;
        const held = (time: typeof life) => (time === null ? null : `${text}, ${timeOf(time)}`);
        return (
          <li key={`${text} ${life?.valid_from} ${whatIf?.valid_from}`}>
            <Diff from={held(life)} to={held(whatIf)} />
          </li>
        );
      })}
    </ul>
  </section>
);

const DAY = new Intl.DateTimeFormat('en', { dateStyle: 'medium', timeZone: 'UTC' });

const timeOf = ({ valid_from: from, invalid_at: until }: { valid_from: string; invalid_at: string | null }): string =>
  `from ${DAY.format(new Date(from))}${until === null ? '' : ` until ${DAY.format(new Date(until))}`}`;

const ROWS: readonly (readonly [name: string, of: (side: ReplaySide) => string | number])[] = [
  ['Added', ({ operations }) => operations.ADD],
  ['Updated', ({ operations }) => operations.UPDATE],
  ['Deleted', ({ operations }) => operations.DELETE],
  ['Confirmed', ({ operations }) => operations.NONE],
  ['Model calls', ({ calls }) => calls],
  ['Prompt tokens', ({ prompt_tokens: read }) => whole(read)],
  ['Completion tokens', ({ completion_tokens: wrote }) => whole(wrote)],
  ['Cost', ({ cost }) => money(cost)],
];

const Compared = ({ life, whatIf }: { readonly life: ReplaySide; readonly whatIf: ReplaySide }) => (
  <Table
    name="Compared"
    card
    rows={ROWS}
    keyOf={([name]) => name}
    columns={[
      ['', ([name]) => name, 'name'],
      ['Live', ([, of]) => of(life), 'number'],
      ['What-if', ([, of]) => of(whatIf), 'number'],
    ]}
  />
);
