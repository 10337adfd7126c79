import { useQuery } from '@tanstack/react-query';
import { type FormEvent, useState } from 'react';
import { Link } from 'wouter';
import { api } from '../api.ts';
import { useIds } from '../owner.ts';
import { useLooking, useWho } from '../session.ts';
import { Choice } from '../ui/filters.tsx';
import { Answer } from '../ui/states.tsx';
import { type Line, useConversation } from './playground/conversation.ts';
import { Outcome } from './playground/outcome.tsx';

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
