import { type HistoryEvent, type Memory, type Relation, SlowwaveError } from '@slowwave/sdk';
import { useQuery } from '@tanstack/react-query';
import { Link, useParams } from 'wouter';
import { api, isOfAllApps, mayCorrect, useWho } from '../api.ts';
import { Decision, ownerOf, pathOf, touchedBy, useIds } from '../owner.tsx';
import { Diff } from '../ui/diff.tsx';
import { Day, Moment } from '../ui/figures.tsx';
import { Action } from '../ui/forms.tsx';
import { Pages, usePages } from '../ui/lists.tsx';
import { Changes, Marks, Sources } from '../ui/memory.tsx';
import { Answer } from '../ui/reading.tsx';

/** One memory: what it says, who said so, how it came to say it, and who was told. */
export function MemoryPage() {
  const { id = '' } = useParams();
  const who = useWho();
  const memory = useQuery({
    queryKey: ['memory', id, 'now'],
    queryFn: ({ signal }) => api.memories.get(id, { signal }),
  });
  const isGone = memory.error instanceof SlowwaveError && memory.error.status === 404;
  const now = isGone ? null : (memory.data ?? null);
  return (
    <>
      <h1>Memory</h1>
      <Answer of={memory}>{(found) => <Now memory={found} />}</Answer>
      <div className="beside">
        <Versions id={id} now={now} />
        <div>
          {now !== null && isOfAllApps(who) && (
            <section className="card">
              <h2>Sources</h2>
              <Sources id={id} />
            </section>
          )}
          <ToldTo id={id} />
          {now !== null && isOfAllApps(who) && <Related memory={now} />}
        </div>
      </div>
    </>
  );
}

function Now({ memory }: { readonly memory: Memory }) {
  const owner = ownerOf(memory);
  const { valid_from: from, invalid_at: until, categories } = memory;
  return (
    <section className="card" aria-label="Current version">
      <p className="text said">{memory.memory}</p>
      <p className="row quiet">
        <Link href={pathOf(owner)}>{owner.id}</Link>
        {categories.map((category) => (
          <span key={category} className="tag">
            {category.replaceAll('_', ' ')}
          </span>
        ))}
        <Marks memory={memory} />
        <span>
          true since <Day iso={from} />
          {until !== null && (
            <>
              {' '}
              until <Day iso={until} />
            </>
          )}
        </span>
      </p>
      <Changes memory={memory} />
    </section>
  );
}

/** The most that one answer holds. */
const PAGE = 200;

interface Of {
  readonly id: string;
  /** What it says now; null: it was deleted or undone. */
  readonly now: Memory | null;
}

/** How it came to say what it says: each change against the one before, by whom, and a way back. */
function Versions({ id, now }: Of) {
  const history = usePages({
    queryKey: ['memory', id, 'history'],
    read: (cursor, signal) =>
      api.send('GET /v1/memories/{id}/history', { params: { id }, query: { limit: PAGE, cursor } }, { signal }),
  });
  return (
    <section className="card" aria-label="History">
      <h2>History</h2>
      <Pages of={history}>
        {(events) => (
          <ol className="plain ruled">
            {events.map((event) => (
              <Happened key={event.id} event={event} now={now} />
            ))}
          </ol>
        )}
      </Pages>
    </section>
  );
}

const NAMES: Readonly<Record<HistoryEvent['event'], readonly [name: string, look: string]>> = {
  ADD: ['Added', 'tag good'],
  UPDATE: ['Updated', 'tag wait'],
  NONE: ['Confirmed', 'tag'],
  DELETE: ['Ended or deleted', 'tag bad'],
  UNDO: ['Undone', 'tag bad'],
  FEEDBACK: ['Rated', 'tag'],
};

function Happened({ event, now }: { readonly event: HistoryEvent; readonly now: Memory | null }) {
  const { event: what, version, previous, memory, reason, created_at: at } = event;
  const [name, look] = NAMES[what];
  const changesText = memory !== previous && what !== 'NONE' && what !== 'FEEDBACK';
  return (
    <li>
      <div className="row">
        <span className={look}>{name}</span>
        <span className="quiet">version {version}</span>
        <Moment iso={at} />
        <By event={event} />
        <Restore event={event} now={now} />
      </div>
      {changesText && <Diff from={previous} to={memory} />}
      {event.rated !== undefined && (
        <p>
          Version {event.rated.version}: {event.rated.rating?.replace('_', ' ') ?? 'rating removed'}
        </p>
      )}
      {reason !== '' && <p className="quiet">{reason}</p>}
    </li>
  );
}

const ACTORS: Readonly<Record<string, string>> = {
  api: 'by an explicit write',
  consolidation: 'by a consolidation',
  review: 'by an approved review',
  undo: 'by an undo',
  rollback: 'by a rollback',
  policy: 'by a forgetting policy',
};

/** Who brought it about, and who had said it. */
function By({ event: { actor, consolidation_id: consolidation, sources } }: { readonly event: HistoryEvent }) {
  const speakers = [...new Set(sources.map(({ name, role }) => name ?? role))];
  const how = ACTORS[actor] ?? actor;
  return (
    <span className="quiet">
      {consolidation === null ? (
        how
      ) : (
        <Decision id={consolidation} otherwise={how}>
          {how}
        </Decision>
      )}
      {speakers.length > 0 && <>, from messages of {speakers.join(' and ')}</>}
    </span>
  );
}

/** Makes what it said then current again. */
function Restore({ event, now }: { readonly event: HistoryEvent; readonly now: Memory | null }) {
  const who = useWho();
  const { memory_id: id, memory: text, version, event: what } = event;
  const said = what === 'ADD' || what === 'UPDATE';
  if (!mayCorrect(who) || !said || text === null || text === now?.memory) return null;
  return (
    <span className="push">
      <Action run={() => api.memories.restore(id, version)} touches={touchedBy(id)}>
        Restore
      </Action>
    </span>
  );
}

const RECEIPTS = 20;

/** Which answers told it, the newest first, and what they led to. */
function ToldTo({ id }: { readonly id: string }) {
  const receipts = usePages({
    queryKey: ['memory', id, 'receipts'],
    read: (cursor, signal) => api.receipts.ofMemory(id, { limit: RECEIPTS, cursor }, { signal }),
  });
  const credit = receipts.first?.credit ?? 0;
  return (
    <section className="card" aria-label="Used in answers">
      <h2>Used in answers</h2>
      {credit !== 0 && <p>The outcomes of these answers were {credit > 0 ? 'mostly good' : 'mostly bad'}.</p>}
      <Pages of={receipts}>
        {(told) =>
          told.length === 0 ? (
            <p className="quiet">No stored answer contains it.</p>
          ) : (
            <ul className="plain ruled">
              {told.map(({ id: receipt, route, question, created_at: at, outcome, versions }) => (
                <li key={receipt}>
                  <div className="row quiet">
                    <Moment iso={at} /> {route}, version {versions.join(', ')}
                    {outcome !== null && <span className={`tag ${outcome}`}>{outcome}</span>}
                  </div>
                  {question === null ? <em className="quiet">No question, or it is not stored</em> : question}
                </li>
              ))}
            </ul>
          )
        }
      </Pages>
    </section>
  );
}

/** Relations of an owner that are looked through: more than anybody's graph can show at once. */
const LOOKED_THROUGH = 2_000;

/** What of the graph rests on a memory. */
function Related({ memory }: { readonly memory: Memory }) {
  const owner = ownerOf(memory);
  const { app_id: _, ...ids } = useIds(owner);
  const related = useQuery({
    queryKey: ['memory', memory.id, 'relations'],
    queryFn: async ({ signal }) => {
      const found: Relation[] = [];
      let looked = 0;
      for await (const relation of api.graph.eachRelation({ ...ids, limit: 200 }, { signal })) {
        if (relation.memory_ids.includes(memory.id)) found.push(relation);
        looked += 1;
        if (looked >= LOOKED_THROUGH) break;
      }
      return found;
    },
  });
  return (
    <section className="card" aria-label="Relations">
      <h2>Relations</h2>
      <Answer of={related}>
        {(relations) =>
          relations.length === 0 ? (
            <p className="quiet">No relations are based on it.</p>
          ) : (
            <ul className="plain">
              {relations.map(({ id, text }) => (
                <li key={id}>{text}</li>
              ))}
            </ul>
          )
        }
      </Answer>
      {owner.kind === 'user' && <Link href={`/graph?${new URLSearchParams({ user: owner.id })}`}>Whole graph</Link>}
    </section>
  );
}
