import type { HistoryEvent, Memory } from '@slowwave/sdk';
import { useInfiniteQuery } from '@tanstack/react-query';
import { api, mayCorrect } from '../../api.ts';
import { touchedBy } from '../../owner.ts';
import { useWho } from '../../session.ts';
import { Action } from '../../ui/action.tsx';
import { Diff } from '../../ui/diff.tsx';
import { Decision } from '../../ui/links.tsx';
import { Loading, Problem } from '../../ui/states.tsx';
import { Moment } from '../../ui/time.tsx';

/** The most that one answer holds. */
const PAGE = 200;

interface Of {
  readonly id: string;
  /** What it says now; null: it was deleted or undone. */
  readonly now: Memory | null;
}

/** How it came to say what it says: each change against the one before, by whom, and a way back. */
export function Versions({ id, now }: Of) {
  const history = useInfiniteQuery({
    queryKey: ['memory', id, 'history'],
    initialPageParam: undefined as string | undefined,
    queryFn: ({ signal, pageParam: cursor }) =>
      api.send('GET /v1/memories/{id}/history', { params: { id }, query: { limit: PAGE, cursor } }, { signal }),
    getNextPageParam: ({ next_cursor: next }) => next ?? undefined,
  });
  const events = history.data?.pages.flatMap(({ results }) => results);
  return (
    <section className="card" aria-label="History">
      <h2>History</h2>
      {history.error !== null && <Problem error={history.error} retry={history.refetch} />}
      {events === undefined && history.error === null && <Loading />}
      <ol className="plain ruled">
        {events?.map((event) => (
          <Happened key={event.id} event={event} now={now} />
        ))}
      </ol>
      {history.hasNextPage && (
        <button type="button" disabled={history.isFetchingNextPage} onClick={() => void history.fetchNextPage()}>
          Show more
        </button>
      )}
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
