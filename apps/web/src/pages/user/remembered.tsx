import type { Memory } from '@slowwave/sdk';
import { useId, useMemo, useState } from 'react';
import type { Owner } from '../../owner.ts';
import { useLater } from '../../ui/reading.ts';
import { Empty, Loading, Problem } from '../../ui/states.tsx';
import { Found } from './found.tsx';
import { useMemories } from './memories.ts';
import { Row } from './row.tsx';

interface Shown {
  readonly owner: Owner;
  readonly asOf: string | null;
}

/** What is remembered, by category; or, while somebody searches, what that finds and why. */
export function Remembered({ owner, asOf }: Shown) {
  const [typed, setTyped] = useState('');
  const [isFormer, setFormer] = useState(false);
  const query = useLater(typed.trim());
  const field = useId();
  return (
    <>
      <search className="card fields">
        <label htmlFor={field}>Search memories</label>
        <input
          id={field}
          type="search"
          value={typed}
          placeholder="Where does she live?"
          autoComplete="off"
          onChange={({ target }) => setTyped(target.value)}
        />
        <label className="row plainly">
          <input type="checkbox" checked={isFormer} onChange={({ target }) => setFormer(target.checked)} />
          Include previous versions
        </label>
      </search>
      {query === '' ? (
        <ByCategory owner={owner} asOf={asOf} />
      ) : (
        <Found owner={owner} asOf={asOf} query={query} isFormer={isFormer} />
      )}
    </>
  );
}

function ByCategory({ owner, asOf }: Shown) {
  const { memories, error, retry, isComing, readOn } = useMemories(owner, asOf);
  const groups = useMemo(() => groupsOf(memories ?? []), [memories]);
  if (memories === null) return error === null ? <Loading /> : <Problem error={error} retry={retry} />;
  return (
    <>
      {error !== null && <Problem error={error} retry={retry} />}
      <p className="quiet" role="status">
        {memories.length.toLocaleString('en')} {memories.length === 1 ? 'memory' : 'memories'}
        {isComing && ', loading more …'}
      </p>
      {memories.length === 0 && !isComing && (
        <Empty>
          {asOf === null
            ? 'Nothing is remembered yet. Post a conversation, or add a memory.'
            : 'There are no memories for that time.'}
        </Empty>
      )}
      {groups.map(([category, members]) => (
        <Group key={category} name={category} members={members} asOf={asOf} />
      ))}
      {readOn !== null && (
        <button type="button" onClick={() => void readOn()}>
          Load more
        </button>
      )}
    </>
  );
}

/** The largest first. */
const groupsOf = (memories: readonly Memory[]): readonly (readonly [string, readonly Memory[]])[] =>
  [...Map.groupBy(memories, ({ categories: [category = 'no category'] }) => category)].sort(
    ([, a], [, b]) => b.length - a.length,
  );

/** Rows of a category that are there at first, and how many more come each time: a page of thousands would be slow. */
const ROWS = 25;

interface OfCategory {
  readonly name: string;
  readonly members: readonly Memory[];
  readonly asOf: string | null;
}

function Group({ name, members, asOf }: OfCategory) {
  const [rows, setRows] = useState(ROWS);
  return (
    <details className="card" open>
      <summary>
        <h2>{name.replaceAll('_', ' ')}</h2> <span className="tag">{members.length.toLocaleString('en')}</span>
      </summary>
      <ul className="plain ruled">
        {members.slice(0, rows).map((memory) => (
          <Row key={memory.id} memory={memory} isPast={asOf !== null} />
        ))}
      </ul>
      {members.length > rows && (
        <button type="button" onClick={() => setRows(rows + ROWS * 4)}>
          Show more of {name.replaceAll('_', ' ')}
        </button>
      )}
    </details>
  );
}
