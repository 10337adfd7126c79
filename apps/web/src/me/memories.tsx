import type { ForgottenMemory, Memory } from '@slowwave/sdk';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useId, useState } from 'react';
import { counted } from '../ui/figures.tsx';
import { Action, Confirm, FormDialog, LongText, Opens } from '../ui/forms.tsx';
import { Pages, usePages } from '../ui/lists.tsx';
import { Answer, useLater } from '../ui/reading.tsx';
import { Said } from '../ui/said.tsx';
import { dayOf, plainly, useOwn } from './coming.ts';

/** The list of memories, or what a search in it finds. */
export function Memories() {
  const [typed, setTyped] = useState('');
  const [forgotten, setForgotten] = useState<Memory | null>(null);
  const query = useLater(typed.trim());
  const field = useId();
  return (
    <>
      <search className="card fields">
        <label htmlFor={field}>Search</label>
        <input
          id={field}
          type="search"
          value={typed}
          autoComplete="off"
          onChange={({ target }) => setTyped(target.value)}
        />
      </search>
      {forgotten !== null && <Forgotten memory={forgotten} close={() => setForgotten(null)} />}
      {query === '' ? <All forgot={setForgotten} /> : <Found query={query} forgot={setForgotten} />}
    </>
  );
}

interface Listing {
  /** Told of what somebody had forgotten. */
  readonly forgot: (memory: Memory) => void;
}

const PAGE = 50;

function All({ forgot }: Listing) {
  const { api, userId } = useOwn();
  const list = usePages({
    queryKey: [...SHOWN, 'all'],
    read: (cursor, signal) => plainly(api.memories.list({ user_id: userId, limit: PAGE, cursor }, { signal })),
  });
  return (
    <section aria-label="Memories">
      <Pages of={list} none="Nothing is remembered about you.">
        {(memories) => (
          <>
            <p className="quiet" role="status">
              {counted(memories.length, 'memory', 'memories')}
              {list.query.hasNextPage && ' or more'}
            </p>
            <ul className="lines">
              {memories.map((memory) => (
                <One key={memory.id} memory={memory} forgot={forgot} />
              ))}
            </ul>
          </>
        )}
      </Pages>
    </section>
  );
}

function Found({ query, forgot }: Listing & { readonly query: string }) {
  const { api, userId, mayChange } = useOwn();
  const found = useQuery({
    queryKey: [...SHOWN, 'found', query],
    // No model is told what somebody looks up for themselves.
    queryFn: ({ signal }) =>
      plainly(api.memories.search({ user_id: userId, query, ...(mayChange && { receipt: false }) }, { signal })),
    placeholderData: keepPreviousData,
  });
  return (
    <section aria-label="Found">
      <Answer of={found}>
        {({ results }) => (
          <>
            <p className="quiet" role="status">
              {results.length === 0 ? 'Nothing found' : `${counted(results.length, 'memory', 'memories')} found`}
            </p>
            <ul className="lines">
              {results.map((memory) => (
                <One key={memory.id} memory={memory} forgot={forgot} />
              ))}
            </ul>
          </>
        )}
      </Answer>
    </section>
  );
}

/** Whose word it is, where it is not simply what the person said. */
const TRUST: Readonly<Partial<Record<Memory['trust'], string>>> = {
  imported: 'entered manually',
  agent: 'said by the assistant',
  tool: 'from a tool',
  inferred: 'concluded from other things you said',
  external: 'from somewhere else',
};

function One({ memory, forgot }: Listing & { readonly memory: Memory }) {
  const { mayChange } = useOwn();
  const [isOpen, setOpen] = useState(false);
  const { id, memory: text, valid_from: since, trust } = memory;
  return (
    <li className="card">
      <p className="text said">{text}</p>
      <p className="quiet">
        {dayOf(since)}
        {TRUST[trust] !== undefined && <> · {TRUST[trust]}</>}
      </p>
      <div className="row">
        <button type="button" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
          Where is this from?
        </button>
        {mayChange && (
          <>
            <Opens label={`Correct: ${text}`} window={(close) => <Correct memory={memory} close={close} />}>
              Correct
            </Opens>
            <Opens
              label={`Forget: ${text}`}
              window={(close) => <Forget memory={memory} close={close} done={() => forgot(memory)} />}
            >
              Forget
            </Opens>
          </>
        )}
      </div>
      {isOpen && <From id={id} />}
    </li>
  );
}

/** The messages that it comes from, with the words that say it. */
function From({ id }: { readonly id: string }) {
  const { api } = useOwn();
  const sources = useQuery({
    queryKey: [...SHOWN, 'from', id],
    queryFn: ({ signal }) => plainly(api.memories.sources(id, {}, { signal })),
  });
  return (
    <section aria-label="Where it is from" className="behind">
      <Answer of={sources}>
        {({ results }) =>
          results.length === 0 ? (
            <p className="quiet">There is no message: it was entered manually, or the message is no longer stored.</p>
          ) : (
            <ol className="lines">
              {results.map((source) => (
                <Said key={source.message_id} source={source} by={SPEAKERS[source.role]} at={dayOf(source.said_at)} />
              ))}
            </ol>
          )
        }
      </Answer>
    </section>
  );
}

const SPEAKERS = { user: 'You', assistant: 'The assistant', tool: 'A tool', system: 'The service' } as const;

/** What was just forgotten can be had back, as long as somebody looks at it. */
function Forgotten({
  memory: { id, memory, version },
  close,
}: {
  readonly memory: Memory;
  readonly close: () => void;
}) {
  const { api } = useOwn();
  return (
    <div className="card row" role="status">
      <span className="text">Forgotten: “{memory}”</span>
      <Action run={() => plainly(api.memories.restore(id, version))} touches={[SHOWN]} done={close}>
        Undo
      </Action>
    </div>
  );
}

/** What every change makes the page read again. */
export const SHOWN = ['own'] as const;

interface Changing {
  readonly memory: Memory;
  readonly close: () => void;
}

/** A new text in the place of the old one; refused if it has changed meanwhile. */
function Correct({ memory: { id, memory: before, version }, close }: Changing) {
  const { api } = useOwn();
  const [text, setText] = useState<string | null>(before);
  return (
    <FormDialog
      title="Correct this memory"
      submit="Save"
      close={close}
      disabled={text === null || text === before}
      run={() => plainly(api.memories.update(id, { memory: text ?? before, version }))}
      touches={[SHOWN]}
    >
      <LongText name="What should it say?" value={text} change={setText} rows={4} />
    </FormDialog>
  );
}

/** Shows what goes with it before it goes. */
function Forget({ memory: { id, memory: text }, close, done }: Changing & { readonly done: () => void }) {
  const { api } = useOwn();
  const fall = useQuery({
    // Not read again with the rest: there is nothing left that could fall.
    queryKey: ['fall', id],
    queryFn: ({ signal }) => plainly(api.memories.delete(id, { dry_run: 'true' }, { signal })),
  });
  return (
    <Confirm
      title="Forget this?"
      submit="Forget"
      close={close}
      disabled={fall.data === undefined}
      run={() => plainly(api.memories.delete(id))}
      touches={[SHOWN]}
      done={done}
    >
      <blockquote className="text">{text}</blockquote>
      <p>It will no longer be used or shown.</p>
      <Answer of={fall}>{(what) => <Falling what={what} />}</Answer>
    </Confirm>
  );
}

function Falling({ what: { fell, stays } }: { readonly what: ForgottenMemory }) {
  const hidden = (how: 'all' | 'words'): number => fell.messages.filter((message) => message.hidden === how).length;
  const [whole, words] = [hidden('all'), hidden('words')];
  const lines = [
    whole > 0 && `${counted(whole, 'message that says it is', 'messages that say it are')} hidden`,
    words > 0 && `the words that say it are hidden in ${counted(words, 'message', 'messages')}`,
    fell.summaries > 0 && 'the summary of your conversation is rewritten without it',
    ...fell.relations.map(({ text }) => `“${text}” is forgotten`),
    ...fell.entities.map(({ name }) => `${name} is no longer known`),
    ...stays.relations.map(({ text }) => `“${text}” stays, because you also said it elsewhere`),
  ].filter((line) => line !== false);
  if (lines.length === 0) return <p>Nothing else changes.</p>;
  return (
    <>
      <p>What else changes:</p>
      <ul>
        {lines.map((line) => (
          <li key={line}>{line}</li>
        ))}
      </ul>
    </>
  );
}
