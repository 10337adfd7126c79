import type { Memory, MemoryList, SearchHit, SearchResult } from '@slowwave/sdk';
import { keepPreviousData, useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { memo, type ReactNode, useEffect, useId, useMemo, useState } from 'react';
import { Link } from 'wouter';
import { api, isOfAllApps, useLooking, useWho } from '../../api.ts';
import { type Owner, useIds } from '../../owner.tsx';
import { counted, Moment, percent, whole } from '../../ui/figures.tsx';
import { Changes, Marks, Sources } from '../../ui/memory.tsx';
import { Answer, Empty, Loading, Problem, useLater } from '../../ui/reading.tsx';

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
        {counted(memories.length, 'memory', 'memories')}
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
        <h2>{name.replaceAll('_', ' ')}</h2> <span className="tag">{whole(members.length)}</span>
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

/** The most that one answer holds: shown as soon as it is there. */
const FIRST = 200;
/** So many more are read by themselves and shown together: to draw the page for each answer would take longer than to read them. */
const AT_ONCE = 5_000;

interface Memories {
  /** Those that have arrived, newest first; null: none has yet. */
  readonly memories: readonly Memory[] | null;
  readonly error: Error | null;
  readonly retry: () => unknown;
  /** Whether more of them are on their way. */
  readonly isComing: boolean;
  /** Reads on, where that needs somebody; null: all are here or come by themselves. */
  readonly readOn: (() => unknown) | null;
}

/** What is remembered of an owner at a moment; null: now. */
export function useMemories(owner: Owner, asOf: string | null): Memories {
  const ids = useIds(owner);
  const pages = useInfiniteQuery({
    queryKey: ['owner', owner.kind, owner.id, 'memories', asOf],
    initialPageParam: undefined as string | undefined,
    queryFn: ({ signal, pageParam: cursor }) =>
      upTo(cursor === undefined ? FIRST : AT_ONCE, cursor, (from) =>
        api.memories.list({ ...ids, as_of: asOf ?? undefined, limit: FIRST, cursor: from }, { signal }),
      ),
    getNextPageParam: ({ next_cursor: next }) => next ?? undefined,
    placeholderData: keepPreviousData,
    // Many pages: read again after a change, not whenever somebody looks.
    staleTime: Number.POSITIVE_INFINITY,
    // Thousands are not compared with those of before: it would take longer than to show them.
    structuralSharing: false,
  });
  const memories = useMemo(() => pages.data?.pages.flatMap(({ results }) => results) ?? null, [pages.data]);
  const isMore = pages.hasNextPage && !pages.isPlaceholderData && pages.error === null;
  const byItself = isMore && pages.data?.pages.length === 1;
  const { fetchNextPage, isFetching } = pages;
  useEffect(() => {
    // Several parts of the page ask for them: the first is enough.
    if (byItself && !isFetching) void fetchNextPage({ cancelRefetch: false });
  }, [byItself, isFetching, fetchNextPage]);
  return {
    memories,
    error: pages.error,
    retry: pages.refetch,
    isComing: byItself || isFetching,
    readOn: isMore && !byItself && !isFetching ? fetchNextPage : null,
  };
}

/** Answers one after the other, as one. */
async function upTo(
  most: number,
  from: string | undefined,
  read: (cursor: string | undefined) => Promise<MemoryList>,
): Promise<MemoryList> {
  const results: Memory[] = [];
  for (let cursor = from; ; ) {
    const page = await read(cursor);
    results.push(...page.results);
    cursor = page.next_cursor ?? undefined;
    if (cursor === undefined || results.length >= most) return { results, next_cursor: page.next_cursor };
  }
}

interface Asked {
  readonly owner: Owner;
  readonly asOf: string | null;
  readonly query: string;
  readonly isFormer: boolean;
}

/** What a search finds, in its order, with the reasons. */
function Found({ owner, asOf, query, isFormer }: Asked) {
  const ids = useIds(owner);
  const looking = useLooking();
  const found = useQuery({
    queryKey: ['owner', owner.kind, owner.id, 'search', query, asOf, isFormer],
    queryFn: ({ signal }) =>
      api.memories.search(
        {
          ...ids,
          ...looking,
          query,
          explain: true,
          as_of: asOf ?? undefined,
          latest_only: isFormer ? false : undefined,
        },
        { signal },
      ),
    placeholderData: keepPreviousData,
  });
  return (
    <Answer of={found}>
      {({ results, explanation, took_ms: took, degraded = [] }) => (
        <section className="card" aria-label="Search results">
          <p role="status">
            {results.length === 0 ? 'No memories' : counted(results.length, 'memory', 'memories')} in {took.toFixed(0)}{' '}
            ms. {explanation !== undefined && whyCut(explanation)}
          </p>
          {degraded.map((note) => (
            <p key={note} className="tag wait">
              {note}
            </p>
          ))}
          {results.length === 0 && <Empty>No memories match this query.</Empty>}
          <ol className="plain ruled">
            {results.map((hit) => (
              <Row key={`${hit.id} ${hit.version}`} memory={hit} isPast={asOf !== null || hit.latest === false}>
                <Why hit={hit} />
              </Row>
            ))}
          </ol>
          {explanation?.below != null && <Below below={explanation.below} />}
        </section>
      )}
    </Answer>
  );
}

type Explanation = NonNullable<SearchResult['explanation']>;
type Standing = Pick<NonNullable<SearchHit['explanation']>, 'keyword' | 'vector' | 'fused' | 'boosts' | 'chance'>;

/** Where the results end, and why there. */
function whyCut({ cut, answered, answered_least: least, chance_least: each, found, threshold }: Explanation): string {
  const ranked = `${whole(found)} ranked`;
  const surely = answered === null ? '' : ` Probability that anything answers it: ${percent(answered)}`;
  const needed = least === null || answered === null ? '' : ` (required: ${percent(least)})`;
  switch (cut) {
    case 'likelihood':
      return `${ranked}. These answer the query${each === null ? '' : `, each with a probability of ${percent(each)} or more`}.${surely}${needed}${surely && '.'}`;
    case 'few_known':
      return `${ranked}. None clearly answers the query, but few memories are known, and these contain most of its words.`;
    case 'everything':
      return `${ranked}. The query asks for everything.`;
    case 'nothing':
      return `${ranked}. None answers the query.${surely}${needed}${surely && '.'}`;
    case 'off':
      return `${ranked}. ${threshold === null ? 'Only the number of results is limited.' : `Memories with a score below ${threshold} are left out.`}`;
  }
}

function Why({ hit: { score, latest, explanation } }: { readonly hit: SearchHit }) {
  return (
    <details>
      <summary>
        Score {score.toFixed(2)}
        {explanation?.chance != null && <>, probability {percent(explanation.chance)}</>}
        {latest === false && <span className="tag wait">previous version</span>}
      </summary>
      {explanation !== undefined && <Legs standing={explanation} />}
      {explanation !== undefined && explanation.passed_over.length > 0 && (
        <>
          <p className="quiet">Its other versions were not true at that time:</p>
          <ul>
            {explanation.passed_over.map(({ version, memory }) => (
              <li key={version}>{memory}</li>
            ))}
          </ul>
        </>
      )}
    </details>
  );
}

/** The factors of a ranking, in words. */
const FACTORS: Readonly<Record<string, string>> = {
  speaker: 'said by the person asked about',
  subject: 'begins with the person asked about',
  topics: 'same topic',
  asking: 'is a question itself',
  time: 'mentions a time, as asked',
  shared: 'words shared by the best results',
  sitting: 'said close to a good result',
  freshness: 'recent or often repeated',
  feedback: 'ratings and outcomes',
  relations: 'relations in the graph',
};

const signed = (value: number): string => `${value < 0 ? '−' : '+'}${Math.abs(value).toFixed(2)}`;

function Legs({ standing: { keyword, vector, fused, boosts } }: { readonly standing: Standing }) {
  const moved = Object.entries(boosts).filter(([, value]) => value !== 0);
  return (
    <dl className="facts">
      <dt>Keyword search</dt>
      <dd>{legOf(keyword)}</dd>
      <dt>Vector search</dt>
      <dd>{legOf(vector)}</dd>
      <dt>Combined score</dt>
      <dd>{fused.toFixed(2)}</dd>
      {moved.map(([factor, value]) => (
        <div key={factor} className="contents">
          <dt>{FACTORS[factor] ?? factor}</dt>
          <dd>{signed(value)}</dd>
        </div>
      ))}
    </dl>
  );
}

const legOf = (leg: Standing['keyword']): string =>
  leg === null ? 'not found' : `rank ${leg.rank}, score ${leg.score.toFixed(2)}`;

/** The first one that is not a result: how near the line was. */
const Below = ({ below }: { readonly below: NonNullable<Explanation['below']> }) => (
  <details>
    <summary className="quiet">The first memory that was left out</summary>
    <p className="text">{below.memory}</p>
    <p className="quiet">
      Score {below.score.toFixed(2)}
      {below.chance !== null && <>, probability {percent(below.chance)}</>}
    </p>
    <Legs standing={below} />
  </details>
);

interface OneRow {
  readonly memory: Memory;
  /** What it said at another time: nothing of that is changed. */
  readonly isPast: boolean;
  readonly children?: ReactNode;
}

/** A memory in one line, which opens to what it came from and what can be done with it. */
const Row = memo(function Row({ memory, isPast, children }: OneRow) {
  const [isOpen, setOpen] = useState(false);
  return (
    <li>
      <div className="row">
        <button type="button" className="line text" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
          {memory.memory}
        </button>
        <Marks memory={memory} />
        <span className="quiet">
          <Moment iso={memory.valid_from} />
        </span>
        <Link href={`/memories/${memory.id}`} aria-label={`History of: ${memory.memory}`}>
          History
        </Link>
      </div>
      {children}
      {isOpen && <Opened memory={memory} isPast={isPast} />}
    </li>
  );
});

function Opened({ memory, isPast }: OneRow) {
  const who = useWho();
  return (
    <div className="behind beside">
      {isPast ? (
        <p className="quiet">This is an earlier state. Go back to now to change the memory.</p>
      ) : (
        <div>
          <Changes memory={memory} />
        </div>
      )}
      {isOfAllApps(who) && <Sources id={memory.id} />}
    </div>
  );
}
