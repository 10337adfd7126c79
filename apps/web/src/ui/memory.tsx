import type { ForgottenMemory, Memory } from '@slowwave/sdk';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { Link } from 'wouter';
import { api, may, mayCorrect, useWho } from '../api.ts';
import { touchedBy } from '../owner.tsx';
import { counted, Moment } from './figures.tsx';
import { Action, Confirm, FormDialog, LongText, Opens } from './forms.tsx';
import { Answer } from './reading.tsx';
import { Said } from './said.tsx';

const RATINGS = { positive: 'Good', negative: 'Bad', very_negative: 'Very bad' } as const;

/** What somebody may do with a memory: say what it says, keep it, rate it, delete it. */
export function Changes({ memory }: { readonly memory: Memory }) {
  const who = useWho();
  const { id, pinned = false, feedback = null, version } = memory;
  const touches = touchedBy(id);
  return (
    <>
      {may(who, 'manage') && (
        <fieldset className="row choice" aria-label="Rating">
          <span className="quiet">Rate:</span>
          {(Object.keys(RATINGS) as (keyof typeof RATINGS)[]).map((rating) => (
            <Action
              key={rating}
              pressed={feedback === rating}
              run={() => api.memories.feedback(id, { rating: feedback === rating ? 'none' : rating, version })}
              touches={touches}
            >
              {RATINGS[rating]}
            </Action>
          ))}
        </fieldset>
      )}
      {mayCorrect(who) && (
        <div className="row">
          <Opens window={(close) => <Edit memory={memory} close={close} />}>Edit …</Opens>
          <Action run={() => api.memories.update(id, { pinned: !pinned })} touches={touches}>
            {pinned ? 'Unpin' : 'Pin'}
          </Action>
          <Opens kind="danger" window={(close) => <Deletion id={id} close={close} />}>
            Delete …
          </Opens>
        </div>
      )}
    </>
  );
}

interface Editing {
  readonly memory: Memory;
  readonly close: () => void;
}

/** A new text, which becomes a new version; refused where somebody else changed it meanwhile. */
function Edit({ memory: { id, memory: before, version }, close }: Editing) {
  const [text, setText] = useState<string | null>(before);
  return (
    <FormDialog
      title="Edit memory"
      submit="Save"
      close={close}
      disabled={text === null || text === before}
      run={() => api.memories.update(id, { memory: text ?? before, version })}
      touches={touchedBy(id)}
    >
      <LongText name="Text" value={text} change={setText} rows={4} />
    </FormDialog>
  );
}

interface Deleting {
  readonly id: string;
  readonly close: () => void;
}

/** Shows what falls with it before it falls. */
function Deletion({ id, close }: Deleting) {
  const fall = useQuery({
    queryKey: ['memory', id, 'fall'],
    queryFn: ({ signal }) => api.memories.delete(id, { dry_run: 'true' }, { signal }),
  });
  return (
    <Confirm
      title="Delete this memory?"
      submit="Delete"
      close={close}
      disabled={fall.data === undefined}
      run={() => api.memories.delete(id)}
      touches={touchedBy(id)}
    >
      <p>It can no longer be found or used in answers. You can restore any of its versions.</p>
      <Answer of={fall}>{(what) => <Falling what={what} />}</Answer>
    </Confirm>
  );
}

function Falling({ what: { fell, stays } }: { readonly what: ForgottenMemory }) {
  const [whole, words] = [
    fell.messages.filter(({ hidden }) => hidden === 'all').length,
    fell.messages.filter(({ hidden }) => hidden === 'words').length,
  ];
  const lines = [
    whole > 0 && `${counted(whole, 'message is', 'messages are')} hidden completely`,
    words > 0 && `the words that say it are hidden in ${counted(words, 'message', 'messages')}`,
    fell.summaries > 0 && `${counted(fell.summaries, 'summary is', 'summaries are')} rewritten`,
    ...fell.relations.map(({ text }) => `the relation “${text}” is removed`),
    ...fell.entities.map(({ name }) => `${name} is removed from the graph`),
    ...stays.relations.map(({ text }) => `the relation “${text}” stays, because it was also said elsewhere`),
  ].filter((line) => line !== false);
  const others = [...new Set(stays.messages.flatMap(({ memory_ids: ids }) => ids))];
  return (
    <>
      <p>{lines.length === 0 ? 'Nothing else changes.' : 'What else changes:'}</p>
      <ul>
        {lines.map((line) => (
          <li key={line}>{line}</li>
        ))}
      </ul>
      {others.length > 0 && (
        <p className="quiet">
          The rest of these messages stays because of{' '}
          {others.map((other, i) => (
            <span key={other}>
              {i > 0 && ', '}
              <Link href={`/memories/${other}`}>another memory</Link>
            </span>
          ))}
          .
        </p>
      )}
    </>
  );
}

const TRUST: Readonly<Partial<Record<Memory['trust'], string>>> = {
  imported: 'entered manually',
  agent: 'said by the agent',
  tool: 'from a tool',
  inferred: 'inferred',
  external: 'from external content',
};

/** What is special about a memory; nothing for one that the user simply said. */
export function Marks({ memory }: { readonly memory: Memory }) {
  const {
    trust,
    pinned = false,
    immutable,
    flagged,
    feedback = null,
    confirmations,
    conclusion,
    skill,
    task,
    expires_at: expires,
  } = memory;
  return (
    <>
      {pinned && <span className="tag good">pinned</span>}
      {immutable && <span className="tag">immutable</span>}
      {flagged && <span className="tag bad">from a suspicious message</span>}
      {conclusion !== undefined && <span className="tag wait">conclusion, certainty {conclusion.certainty}</span>}
      {skill !== undefined && (
        <span className="tag good">skill: worked {counted(skill.successes, 'time', 'times')}</span>
      )}
      {task !== undefined && <span className="tag">result of run {task.run_id}</span>}
      {TRUST[trust] !== undefined && <span className="tag">{TRUST[trust]}</span>}
      {feedback !== null && (
        <span className={feedback === 'positive' ? 'tag good' : 'tag bad'}>
          rated {RATINGS[feedback].toLowerCase()}
        </span>
      )}
      {confirmations > 0 && <span className="tag">said {confirmations + 1} times</span>}
      {expires !== null && <span className="tag wait">expires {expires.slice(0, 10)}</span>}
    </>
  );
}

/** So many messages before and after each, once somebody wants to read around it. */
const AROUND = 3;

/** What was said: the messages that a memory came from, with the words it rests on. */
export function Sources({ id }: { readonly id: string }) {
  const [isWide, setWide] = useState(false);
  const reach = isWide ? AROUND : 0;
  const sources = useQuery({
    queryKey: ['memory', id, 'sources', reach],
    queryFn: ({ signal }) => api.memories.sources(id, { before: reach, after: reach }, { signal }),
  });
  return (
    <section aria-label="Sources">
      <Answer of={sources}>
        {({ results }) =>
          results.length === 0 ? (
            <p className="quiet">
              There is no source message: it was entered manually, or its messages are no longer stored.
            </p>
          ) : (
            <>
              <ol className="lines">
                {results.map((source) => (
                  <Said
                    key={source.message_id}
                    source={source}
                    by={source.name ?? source.role}
                    at={<Moment iso={source.said_at} />}
                  />
                ))}
              </ol>
              <button type="button" aria-pressed={isWide} onClick={() => setWide(!isWide)}>
                Show the conversation around it
              </button>
            </>
          )
        }
      </Answer>
    </section>
  );
}
