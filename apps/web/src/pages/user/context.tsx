import type { ContextResult } from '@slowwave/sdk';
import { useQuery } from '@tanstack/react-query';
import { type FormEvent, useId, useState } from 'react';
import { Link } from 'wouter';
import { api, useLooking } from '../../api.ts';
import { type Owner, useIds } from '../../owner.tsx';
import { whole } from '../../ui/figures.tsx';
import { Answer, Empty } from '../../ui/reading.tsx';

interface Shown {
  readonly owner: Owner;
  readonly asOf: string | null;
}

/** What a chat is given for its prompt: the profile by itself, and more once somebody asks something. */
export function AsChatsGetIt({ owner, asOf }: Shown) {
  const ids = useIds(owner);
  const looking = useLooking();
  const [asked, ask] = useState({ question: '', tokens: 1_000 });
  const { question, tokens } = asked;
  const context = useQuery({
    queryKey: ['owner', owner.kind, owner.id, 'context', question, tokens, asOf],
    queryFn: ({ signal }) =>
      api.memories.context(
        {
          ...ids,
          ...looking,
          query: question === '' ? undefined : question,
          max_tokens: tokens,
          as_of: asOf ?? undefined,
        },
        { signal },
      ),
  });
  return (
    <>
      <Question ask={ask} />
      <Answer of={context}>{(block) => <Block block={block} isAsked={question !== ''} />}</Answer>
    </>
  );
}

interface Asking {
  readonly ask: (asked: { readonly question: string; readonly tokens: number }) => void;
}

function Question({ ask }: Asking) {
  const [text, tokens] = [useId(), useId()];
  const send = (event: FormEvent<HTMLFormElement>): void => {
    event.preventDefault();
    const given = new FormData(event.currentTarget);
    ask({ question: String(given.get('question')).trim(), tokens: Number(given.get('tokens')) });
  };
  return (
    <form className="card fields" onSubmit={send}>
      <div>
        <label htmlFor={text}>Question of the user</label>
        <textarea id={text} name="question" rows={2} placeholder="Leave empty to see only the profile" />
      </div>
      <div className="row">
        <label htmlFor={tokens}>Maximum tokens</label>
        <input id={tokens} name="tokens" type="number" min={100} max={16_000} defaultValue={1_000} required />
        <button type="submit" className="main push">
          Show
        </button>
      </div>
    </form>
  );
}

const NAMES: Readonly<Record<keyof ContextResult['sections'], string>> = {
  profile: 'Profile',
  summary: 'Summary',
  memories: 'Memories',
  relations: 'Relations',
  task: 'Task state',
  pending: 'Not consolidated yet',
};

function Block({ block, isAsked }: { readonly block: ContextResult; readonly isAsked: boolean }) {
  const { text = '', tokens, sections, citations, took_ms: took, degraded = [] } = block;
  return (
    <div className="beside">
      <section className="card" aria-label="Context">
        <h2>
          Context <span className="tag">{whole(tokens)} tokens</span> <span className="tag">{took.toFixed(0)} ms</span>
        </h2>
        {degraded.map((note) => (
          <p key={note} className="tag wait">
            {note}
          </p>
        ))}
        {text === '' ? (
          <Empty>{isAsked ? 'Nothing relevant is known.' : 'There is no profile yet.'}</Empty>
        ) : (
          <pre className="wrap">{text}</pre>
        )}
      </section>
      <section className="card" aria-label="Sources">
        <h2>Sources</h2>
        <dl className="facts">
          {(Object.entries(sections) as [keyof typeof NAMES, { shown: number; left_out: number }][]).map(
            ([section, { shown, left_out: left }]) => (
              <div key={section} className="contents">
                <dt>{NAMES[section]}</dt>
                <dd>
                  {shown} included{left > 0 && `, ${left} left out`}
                </dd>
              </div>
            ),
          )}
        </dl>
        <ul className="plain">
          {citations.map(({ ref, memory_id: id, section }) => (
            <li key={`${section} ${ref}`}>
              <Link href={`/memories/${id}`}>
                {ref}, {NAMES[section].toLowerCase()}
              </Link>
            </li>
          ))}
        </ul>
      </section>
    </div>
  );
}
