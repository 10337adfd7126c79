import type { SearchHit, SearchResult } from '@slowwave/sdk';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { api } from '../../api.ts';
import { type Owner, useIds } from '../../owner.ts';
import { useLooking } from '../../session.ts';
import { Answer, Empty } from '../../ui/states.tsx';
import { Row } from './row.tsx';

interface Asked {
  readonly owner: Owner;
  readonly asOf: string | null;
  readonly query: string;
  readonly isFormer: boolean;
}

/** What a search finds, in its order, with the reasons. */
export function Found({ owner, asOf, query, isFormer }: Asked) {
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
            {results.length === 0 ? 'No memories' : `${results.length} ${results.length === 1 ? 'memory' : 'memories'}`}{' '}
            in {took.toFixed(0)} ms. {explanation !== undefined && whyCut(explanation)}
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

const percent = (share: number): string => `${Math.round(share * 100)}%`;

/** Where the results end, and why there. */
function whyCut({ cut, answered, answered_least: least, chance_least: each, found, threshold }: Explanation): string {
  const ranked = `${found.toLocaleString('en')} ranked`;
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
