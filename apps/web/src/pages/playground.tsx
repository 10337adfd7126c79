import type { Batch, BatchEvent } from '@slowwave/sdk';
import { useQuery } from '@tanstack/react-query';
import { type FormEvent, useState } from 'react';
import { Link } from 'wouter';
import { api, queries, useLooking, useWho } from '../api.ts';
import { Decision, type Ids, useIds } from '../owner.tsx';
import { Choice } from '../ui/filters.tsx';
import { Answer, Problem } from '../ui/reading.tsx';

/** To begin with: something new, a change of it, and a wish to forget. */
const SUGGESTIONS = [
  'I am Ana, and I moved from Lisbon to Oslo last month.',
  'I live in Bergen now, and my dog is called Fado.',
  'Please forget that I have a dog.',
];

/** A chat beside the memory: what somebody types is posted, and what becomes of it appears as it happens. */
export function Playground() {
  const { user_id: bound } = useWho();
  const [user, setUser] = useState(bound ?? 'playground');
  const { lines, say, busy } = useConversation(useIds({ kind: 'user', id: user }));
  return (
    <>
      <div className="row">
        <h1>Playground</h1>
        <form className="push row" onSubmit={(event) => event.preventDefault()}>
          <label htmlFor="user">User</label>
          <input
            id="user"
            value={user}
            disabled={bound !== null || lines.length > 0}
            onChange={({ target }) => setUser(target.value)}
          />
        </form>
      </div>
      <div className="beside">
        <section className="card chat" aria-label="Conversation">
          <ol className="lines" aria-live="polite">
            {lines.map((line) => (
              <Said key={line.key} line={line} />
            ))}
          </ol>
          <Suggestions lines={lines} say={say} />
          <Composer say={say} busy={busy} disabled={user.trim() === ''} />
        </section>
        <Remembered user={user} lines={lines} />
      </div>
    </>
  );
}

const Said = ({ line }: { readonly line: Line }) => (
  <li>
    <p className="bubble">{line.text}</p>
    <Outcome line={line} />
  </li>
);

/** The next of the suggestions, as long as nothing else was said. */
function Suggestions({ lines, say }: { readonly lines: readonly Line[]; readonly say: (text: string) => void }) {
  const next = SUGGESTIONS[lines.length];
  if (next === undefined || lines.some(({ text }, i) => text !== SUGGESTIONS[i])) return null;
  return (
    <div className="empty">
      {lines.length === 0 && (
        <p>Say something worth remembering, as a user would say it to your assistant. For example:</p>
      )}
      <button type="button" onClick={() => say(next)}>
        {next}
      </button>
    </div>
  );
}

interface Composing {
  readonly say: (text: string) => void;
  readonly busy: boolean;
  readonly disabled: boolean;
}

function Composer({ say, busy, disabled }: Composing) {
  const [text, setText] = useState('');
  const send = (event: FormEvent): void => {
    event.preventDefault();
    if (text.trim() === '') return;
    say(text.trim());
    setText('');
  };
  return (
    <form className="row composer" onSubmit={send}>
      <input
        aria-label="What the user says"
        placeholder="What the user says"
        value={text}
        disabled={disabled}
        onChange={({ target }) => setText(target.value)}
      />
      <button type="submit" className="main" disabled={disabled || busy}>
        Say it
      </button>
    </form>
  );
}

const VIEWS = { memories: 'Memories', context: 'Prompt context' } as const;

/** What is known by now, as a list or as a model would be shown it for what was said last. */
function Remembered({ user, lines }: { readonly user: string; readonly lines: readonly Line[] }) {
  const [view, setView] = useState<keyof typeof VIEWS>('memories');
  const last = lines.at(-1)?.text ?? '';
  return (
    <section className="card" aria-label="Memory">
      <Choice name="Show" options={VIEWS} chosen={view} choose={setView} />
      {view === 'memories' ? <Memories user={user} /> : <Context user={user} question={last} />}
    </section>
  );
}

/** As many as a conversation here brings about, and more. */
const SHOWN = 50;

const NOTHING = <p className="quiet">Nothing is remembered about this user yet.</p>;

function Memories({ user }: { readonly user: string }) {
  const ids = useIds({ kind: 'user', id: user });
  const memories = useQuery({
    queryKey: ['playground', 'memories', user],
    queryFn: ({ signal }) => api.memories.list({ ...ids, limit: SHOWN }, { signal }),
    enabled: user.trim() !== '',
  });
  if (user.trim() === '') return NOTHING;
  return (
    <Answer of={memories}>
      {({ results }) =>
        results.length === 0 ? (
          NOTHING
        ) : (
          <ul className="plain">
            {results.map(({ id, memory, version }) => (
              <li key={id}>
                <Link href={`/memories/${id}`}>{memory}</Link>{' '}
                {version > 1 && <span className="tag">version {version}</span>}
              </li>
            ))}
          </ul>
        )
      }
    </Answer>
  );
}

function Context({ user, question }: { readonly user: string; readonly question: string }) {
  const ids = useIds({ kind: 'user', id: user });
  const looking = useLooking();
  const context = useQuery({
    queryKey: ['playground', 'context', user, question],
    queryFn: ({ signal }) =>
      api.memories.context({ ...ids, ...looking, ...(question !== '' && { query: question }) }, { signal }),
    enabled: question !== '',
  });
  if (question === '')
    return <p className="quiet">Say something first. The context is built for the latest message.</p>;
  return (
    <Answer of={context}>
      {({ text = '', tokens }) => (
        <>
          <p className="quiet">
            The response of POST /v1/context for “{question}”, {tokens} tokens. Put it into your prompt.
          </p>
          <pre className="wrap">{text === '' ? '(empty)' : text}</pre>
        </>
      )}
    </Answer>
  );
}

/** One message, and what became of it so far. */
interface Line {
  readonly key: number;
  readonly text: string;
  /** null: it is not stored yet. */
  readonly batch: Batch | null;
  readonly error: unknown;
}

interface Conversation {
  readonly lines: readonly Line[];
  /** A message is on its way. */
  readonly busy: boolean;
  say(text: string): void;
}

/** Posts each message and follows it until it is consolidated. */
function useConversation(ids: Ids): Conversation {
  const [lines, setLines] = useState<readonly Line[]>([]);
  const change = (key: number, fields: Partial<Line>): void =>
    setLines((before) => before.map((line) => (line.key === key ? { ...line, ...fields } : line)));
  const follow = async (key: number, text: string): Promise<void> => {
    try {
      const accepted = await api.batches.post({
        ...ids,
        messages: [{ role: 'user', content: text }],
        flush: true,
      });
      change(key, { batch: await api.batches.get(accepted.batch_id) });
      change(key, { batch: await api.batches.settled(accepted.batch_id) });
    } catch (error) {
      change(key, { error });
    }
    // Whatever is shown of the user may have changed.
    await queries.invalidateQueries({ queryKey: ['playground'] });
  };
  const say = (text: string): void => {
    const key = lines.length;
    setLines([...lines, { key, text, batch: null, error: null }]);
    void follow(key, text);
  };
  return { lines, say, busy: lines.some(({ batch, error }) => batch === null && error === null) };
}

/** What became of a message, as far as it is known. */
function Outcome({ line: { batch, error } }: { readonly line: Line }) {
  if (error !== null) return <Problem error={error} />;
  if (batch === null) return <p className="quiet">Sending …</p>;
  return (
    <div className="outcome">
      <p className="quiet">
        {sentenceOf(batch)} {batch.consolidation_id !== null && <Decision id={batch.consolidation_id}>Why</Decision>}
      </p>
      {batch.events.length > 0 && (
        <ul className="plain">
          {batch.events.map((event) => (
            <Change key={event.id} event={event} />
          ))}
        </ul>
      )}
    </div>
  );
}

const STAGES: Readonly<Record<Batch['stage'], string>> = {
  waiting: 'Stored. Waiting for a worker …',
  extract: 'Looking for facts …',
  decide: 'Comparing with known memories …',
  apply: 'Writing …',
  project: 'Making it searchable …',
  done: 'Done.',
};

function sentenceOf({ state, stage, timings, error }: Batch): string {
  switch (state) {
    case 'pending':
    case 'consolidating':
      return STAGES[stage];
    case 'empty':
      return 'Nothing to remember in it.';
    case 'parked':
      return `It could not be consolidated: ${error?.message ?? 'unknown reason'}`;
    case 'undone':
      return 'It was undone.';
    case 'consolidated':
      return `Consolidated${tookOf(timings)}.`;
  }
}

/** From its arrival to what it changed. */
const tookOf = ({ accepted_at: from, applied_at: to }: Batch['timings']): string =>
  to === null ? '' : ` in ${((Date.parse(to) - Date.parse(from)) / 1_000).toFixed(1)} s`;

const NAMES: Readonly<Record<BatchEvent['event'], readonly [name: string, look: string]>> = {
  ADD: ['remembered', 'tag good'],
  UPDATE: ['changed', 'tag wait'],
  DELETE: ['forgotten', 'tag bad'],
  NONE: ['already known', 'tag'],
  UNDO: ['undone', 'tag'],
};

function Change({ event: { event, memory, previous } }: { readonly event: BatchEvent }) {
  const [name, look] = NAMES[event];
  return (
    <li>
      <span className={look}>{name}</span> {memory} {event === 'UPDATE' && previous !== null && <del>{previous}</del>}
    </li>
  );
}
