import type { Consolidation, Plan } from '@slowwave/sdk';
import { Link } from 'wouter';
import { Diff } from '../../ui/diff.tsx';
import { counted, Day, Moment } from '../../ui/figures.tsx';
import { Table } from '../../ui/lists.tsx';
import { Empty } from '../../ui/reading.tsx';
import { WITHHELD } from '../../ui/said.tsx';
import { EventTag } from '../../ui/standing.tsx';

type Message = NonNullable<Consolidation['messages']>[number];
type Fact = Plan['facts'][number];
type Candidate = Plan['candidates'][number];
type Operation = Plan['operations'][number] | Plan['held'][number];

interface Told {
  readonly plan: Plan | null;
  readonly messages: readonly Message[];
}

/** What was said, with what became facts marked. */
export const Messages = ({ plan, messages }: Told) => (
  <section className="card" aria-label="Messages">
    <h2>Messages</h2>
    <ol className="lines">
      {messages.map((message) => (
        <li key={message.message_id} id={message.message_id}>
          <p className="quiet">
            {message.name ?? message.role} · <Moment iso={message.said_at} />{' '}
            {attacksIn(plan, message.message_id).map((kind) => (
              <span key={kind} className="tag bad">
                possible attack: {kind.replaceAll('_', ' ')}
              </span>
            ))}
          </p>
          {message.withheld === undefined ? (
            <Quoted text={message.content} facts={factsFrom(plan, message.message_id)} />
          ) : (
            <p className="quiet">{WITHHELD[message.withheld]}</p>
          )}
        </li>
      ))}
    </ol>
  </section>
);

const factsFrom = (plan: Plan | null, message: string): readonly Fact[] =>
  plan?.facts.filter(({ source_ids: sources }) => sources.includes(message)) ?? [];

const attacksIn = (plan: Plan | null, message: string): readonly string[] =>
  plan?.attacks.find(({ message_id: id }) => id === message)?.kinds ?? [];

function Quoted({ text, facts }: { readonly text: string; readonly facts: readonly Fact[] }) {
  const pieces = piecesOf(text, facts);
  const isLast = (fact: string, at: number) => !pieces.slice(at + 1).some((piece) => piece.facts.includes(fact));
  return (
    <p className="text">
      {pieces.map((piece, at) =>
        piece.facts.length === 0 ? (
          piece.text
        ) : (
          <mark key={`${at} ${piece.text}`}>
            {piece.text}
            {piece.facts
              .filter((fact) => isLast(fact, at))
              .map((fact) => (
                <a key={fact} className="note" href={`#${fact}`} aria-label={`fact ${numberOf(fact)}`}>
                  {numberOf(fact)}
                </a>
              ))}
          </mark>
        ),
      )}
    </p>
  );
}

/** A piece of a message, and the facts whose quote it belongs to. */
interface Piece {
  readonly text: string;
  readonly facts: readonly string[];
}

/** A text in pieces, so that what facts quote of it can be marked. Quotes may overlap. */
function piecesOf(text: string, facts: readonly Pick<Fact, 'id' | 'quote'>[]): readonly Piece[] {
  const quoted = facts.flatMap(({ id, quote }) => {
    const from = quote === null || quote === '' ? -1 : text.indexOf(quote);
    return from < 0 || quote === null ? [] : [{ id, from, to: from + quote.length }];
  });
  const cuts = [...new Set([0, text.length, ...quoted.flatMap(({ from, to }) => [from, to])])].sort((a, b) => a - b);
  return cuts.slice(1).map((to, i) => {
    const from = cuts[i] ?? 0;
    const around = quoted.filter((quote) => quote.from <= from && quote.to >= to);
    return { text: text.slice(from, to), facts: around.map(({ id }) => id) };
  });
}

/** What was found in the messages, what was known near it, and what was decided. */
export const Decisions = ({ plan }: { readonly plan: Plan }) => (
  <section aria-label="Facts and decisions">
    <h2>Facts and decisions</h2>
    {plan.facts.length === 0 && <Empty>Nothing in these messages was worth remembering.</Empty>}
    {plan.facts.map((fact) => (
      <Decision key={fact.id} fact={fact} plan={plan} />
    ))}
    <Rest plan={plan} />
  </section>
);

function Decision({ fact, plan }: { readonly fact: Fact; readonly plan: Plan }) {
  const done = plan.operations.filter((operation) => operation.fact === fact.id);
  const held = plan.held.filter((operation) => operation.fact === fact.id);
  const outcome = plan.outcomes.find((one) => one.fact === fact.id);
  return (
    <article className="card" id={fact.id}>
      <h3>
        <span className="note">{numberOf(fact.id)}</span> {fact.text}
      </h3>
      <p className="quiet">
        {fact.category !== null && <span className="tag">{fact.category}</span>} about the {fact.about}, true since{' '}
        <Day iso={fact.valid_from} />
      </p>
      <Recalled fact={fact.id} candidates={plan.candidates} />
      {done.length + held.length === 0 && outcome !== undefined && (
        <p>
          <span className="tag">{outcome.outcome}</span> {outcome.reason}
        </p>
      )}
      {done.map((operation) => (
        <Change key={`${operation.event} ${operation.memory_id}`} operation={operation} />
      ))}
      {held.map((operation) => (
        <div key={operation.review_id}>
          <Change operation={operation} />
          <p>
            <Link href="/reviews">Waiting for review</Link>
          </p>
        </div>
      ))}
    </article>
  );
}

const Change = ({
  operation: { event, memory_id: id, before, after, reason, decided_by: by },
}: {
  operation: Operation;
}) => (
  <div className="change">
    <p>
      <EventTag event={event} /> {reason} <span className="quiet">(decided by the {by})</span>
    </p>
    {event === 'NONE' ? <p className="text">{after ?? before}</p> : <Diff from={before} to={after} />}
    {id !== null && <Link href={`/memories/${id}`}>Current memory</Link>}
  </div>
);

/** The memories that were compared with a fact, the nearest first. */
function Recalled({ fact, candidates }: { readonly fact: string; readonly candidates: readonly Candidate[] }) {
  const near = candidates
    .flatMap(({ recalled_by: by, ...candidate }) => {
      const score = by.find((one) => one.fact === fact);
      return score === undefined ? [] : [{ ...candidate, vector: score.vector, keyword: score.keyword }];
    })
    .sort((a, b) => (b.vector ?? 0) - (a.vector ?? 0));
  if (near.length === 0) return <p className="quiet">No similar memory was known.</p>;
  return (
    <details>
      <summary>Compared with {counted(near.length, 'memory', 'memories')}</summary>
      <Table
        name="Compared with"
        rows={near}
        keyOf={({ memory_id: id, text }) => `${id} ${text}`}
        columns={[
          ['Memory', (memory) => <Compared memory={memory} />],
          ['Vector score', ({ vector }) => (vector === null ? '–' : <Score value={vector} />), 'number'],
          ['Keyword score', ({ keyword }) => keyword?.toFixed(2) ?? '–', 'number'],
        ]}
      />
    </details>
  );
}

const Compared = ({
  memory: { memory_id: id, text, standing },
}: {
  readonly memory: Omit<Candidate, 'recalled_by'>;
}) => (
  <>
    <Link href={`/memories/${id}`}>{text}</Link> {standing !== 'live' && <span className="tag">{standing}</span>}
  </>
);

const Score = ({ value }: { readonly value: number }) => (
  <>
    <meter min={0} max={1} value={Math.max(0, value)} aria-hidden="true" /> {value.toFixed(2)}
  </>
);

/** Operations of no fact, and what was read and not used. */
function Rest({ plan: { operations, facts, discards, remarks } }: { readonly plan: Plan }) {
  const ids = new Set(facts.map(({ id }) => id));
  const others = operations.filter(({ fact }) => fact === null || !ids.has(fact));
  return (
    <>
      {others.map((operation) => (
        <article key={`${operation.event} ${operation.memory_id}`} className="card">
          <Change operation={operation} />
        </article>
      ))}
      <NotUsed title="Discarded" of={discards.map(({ text, reason }) => [text, reason])} />
      <NotUsed title="Rejected or repaired" of={remarks.map(({ asked, did }) => [asked, did])} />
    </>
  );
}

interface Left {
  readonly title: string;
  readonly of: readonly (readonly [what: string, why: string])[];
}

const NotUsed = ({ title, of }: Left) =>
  of.length > 0 && (
    <article className="card">
      <h3>{title}</h3>
      <ul>
        {of.map(([what, why], at) => (
          <li key={`${at} ${what}`}>
            {what} <span className="quiet">– {why}</span>
          </li>
        ))}
      </ul>
    </article>
  );

/** f0 is shown as 1. */
const numberOf = (fact: string): string => String(Number(fact.slice(1)) + 1);
