import type { IndexLane, IndexQuery } from '@slowwave/engine';
import { SHELVES } from '@slowwave/engine/storing';
import { keptOwners, withChanges } from '../../sqlite/search-index/kept-owners.ts';
import { type Segment, segmentOf } from '../../sqlite/search-index/stored-point.ts';
import type { Answer, Ask } from '../ledger/asking.ts';
import { askOf } from '../ledger/sql.ts';
import { type IndexSpace, OWNER_NAMED, ownerKey, requireSpace, WITHDRAWN } from './schema.ts';

/** All points of one owner in memory, as they were after a count of changes. */
export interface OwnerTable {
  readonly number: number;
  readonly changes: number;
  readonly segments: readonly Segment[];
}

type Owned = Pick<IndexQuery, 'tenant' | 'owner' | 'lane' | 'shelf'>;

/** A look at an owner: what to ask the server, and what to make of its answer. */
interface Look {
  readonly ask: Ask;
  /** null: there is no such owner. */
  tableOf(answer: Answer): OwnerTable | null;
}

interface OwnerCache {
  look(of: Owned): Look;
  drop(of: IndexLane): void;
}

/**
 * Keeps owners that were asked about last, up to so many bytes. Each look at one that is kept asks for what changed since it
 * was read, so that the writes of all processes are seen; most often that is nothing.
 */
export function ownerCache({ bytes, space }: { readonly bytes: number; readonly space: IndexSpace }): OwnerCache {
  const kept = keptOwners<OwnerTable>({ bytes });
  return {
    drop: (of) => {
      for (const shelf of SHELVES) kept.forget(nameOf({ ...of, shelf }));
    },
    look: (of) => {
      const name = nameOf(of);
      const known = kept.get(name);
      const since = { known: known?.number ?? 0, since: known?.changes ?? 0 };
      return {
        ask: askOf(LOOK, { ...ownerKey(of), ...since }),
        tableOf: ({ rows }) => {
          const table = tableFrom(rows as readonly LookRow[], { known, space });
          // A look that was answered later may have begun earlier.
          if (table === null) kept.forget(name);
          else if ((kept.get(name)?.changes ?? 0) <= table.changes || table.number !== kept.get(name)?.number)
            kept.keep(name, table);
          return table;
        },
      };
    },
  };
}

const nameOf = (of: Owned): string => JSON.stringify(ownerKey(of));

interface LookRow {
  readonly space: string;
  readonly number: number | null;
  readonly changes: number;
  /** null: no point has changed. */
  readonly slot: number | null;
  readonly live: number;
  readonly record: Buffer;
}

const LOOK = `
SELECT s.space, o.number, o.changes, p.slot, p.live, p.record
FROM state s
LEFT JOIN owners o ON ${OWNER_NAMED}
LEFT JOIN points p ON p.owner = o.number AND p.change > CASE WHEN o.number = @known THEN @since::bigint ELSE 0 END`;

interface Before {
  readonly known: OwnerTable | null;
  readonly space: IndexSpace;
}

function tableFrom(rows: readonly LookRow[], { known, space }: Before): OwnerTable | null {
  const [first] = rows;
  if (first === undefined) throw new Error('the index in PostgreSQL has lost its state');
  requireSpace(first, space);
  const { number, changes } = first;
  if (number === null) return null;
  const before = known?.number === number ? known : null;
  if (before?.changes === changes) return before;
  const changed = rows.flatMap(({ slot, live, record }) =>
    slot === null ? [] : [{ slot, record: live === WITHDRAWN ? null : record }],
  );
  return { number, changes, segments: inFew(withChanges(before?.segments ?? [], changed)) };
}

/** Segments at which they are made one: each is looked at by itself, and holds what was left out of it. */
const SEGMENTS_MAX = 64;

function inFew(segments: readonly Segment[]): readonly Segment[] {
  if (segments.length < SEGMENTS_MAX) return segments;
  return [segmentOf(Buffer.concat(segments.flatMap(({ points }) => points.map(({ record }) => record))))];
}
