import { AsyncLocalStorage } from 'node:async_hooks';
import {
  asEngineError,
  type IndexHit,
  type IndexPoint,
  type IndexQuery,
  type LaneId,
  type Ledger,
  type Owner,
  ownerOf,
  type SearchIndex,
  type Segment,
  type SegmentContent,
  type StoredLedger,
  scanner,
  type TenantId,
  type Tools,
} from '@slowwave/engine';
import { openLedgerInMemory } from '../sqlite/ledger/open.ts';

/** A segment that is read in place. */
export interface OpenSegment {
  readonly segment: Segment;
  /** In whose index its points would be found. */
  readonly space: SegmentContent['space'];
  /** As an index answers; queries of its lane alone. */
  search(query: IndexQuery): IndexHit[];
  vectorOf(point: Pick<IndexPoint, 'shelf' | 'memoryId' | 'version'>): Float32Array | null;
  /** Whether something of the owner has this id. */
  has(id: string): boolean;
  /** All of it as a ledger, made when it is asked for the first time. */
  ledger(): Promise<Ledger>;
  bytes(): number;
}

/** Lines that are taken at a time: others who share the thread go on in between. */
const LINES = 500;
/** What a point takes in memory beside its texts and its vector, about. */
const POINT_BYTES = 1_000;

export function openSegment(segment: Segment, { lines, points, space }: SegmentContent, tools: Tools): OpenSegment {
  const byShelf = Map.groupBy(points, ({ shelf }) => shelf);
  const scanners = new Map([...byShelf].map(([shelf, of]) => [shelf, scanner(of)]));
  const size =
    lines.reduce((sum, line) => sum + line.length, 0) * 2 +
    points.reduce((sum, { vector, text }) => sum + vector.length * 4 + text.length * 4 + POINT_BYTES, 0);
  let ledgerBytes = 0;
  let making: Promise<Ledger> | null = null;
  const make = async (): Promise<Ledger> => {
    const ledger = await ledgerOf(segment, lines, tools);
    ledgerBytes = ledger.bytes();
    return ledger;
  };
  return {
    ...{ segment, space },
    search: (query) => scanners.get(query.shelf)?.(query) ?? [],
    vectorOf: ({ shelf, memoryId, version }) =>
      byShelf.get(shelf)?.find((point) => point.memoryId === memoryId && point.version === version)?.vector ?? null,
    has: (id) => lines.some((line) => line.includes(`"${id}"`)),
    ledger: () => {
      making ??= make();
      return making;
    },
    bytes: () => size + ledgerBytes,
  };
}

/** The lane has the id that it has in the ledger where it sleeps. */
async function ledgerOf({ tenant, owner, lane, lastSum }: Segment, lines: readonly string[], tools: Tools) {
  const ledger = openLedgerInMemory(tools);
  const now = tools.now();
  const id = tools.id('imp');
  const arriving = { tenant, owner, id, lane: lane as LaneId, ownerHashes: [], readAt: now, sum: lastSum };
  await ledger.bundles.begin({ ...arriving, lines: lines.length, attempt: 0, now });
  for (let taken = 0; taken < lines.length; taken += LINES) {
    await ledger.bundles.take(id, taken, lines.slice(taken, taken + LINES));
    await tools.breathe();
  }
  const { kind } = await ledger.bundles.finish(id, now);
  if (kind !== 'finished') throw new Error(`the segment of ${lane} cannot be searched: ${kind}`);
  return ledger;
}

/** Nobody reads it: what an erasure removes elsewhere is not kept here for long. */
const IDLE_MS = 10 * 60_000;
const LOOK_MS = 60_000;

export interface OpenSegments {
  /** One that is open, or opened now. */
  get(name: string, open: () => Promise<OpenSegment>): Promise<OpenSegment>;
  drop(name: string): void;
  bytes(): number;
  close(): void;
}

/** Those that were read last, within so many bytes. The one that was read just now stays in any case. */
export function openSegments(maxBytes: number): OpenSegments {
  const kept = new Map<
    string,
    { readonly opening: Promise<OpenSegment>; opened: OpenSegment | null; usedAt: number }
  >();
  const bytes = (): number => [...kept.values()].reduce((sum, { opened }) => sum + (opened?.bytes() ?? 0), 0);
  const shrink = (): void => {
    for (const name of kept.keys()) {
      if (kept.size <= 1 || bytes() <= maxBytes) return;
      kept.delete(name);
    }
  };
  const looking = setInterval(() => {
    const idleSince = performance.now() - IDLE_MS;
    for (const [name, { usedAt }] of kept) if (usedAt < idleSince) kept.delete(name);
  }, LOOK_MS).unref();
  return {
    get: async (name, open) => {
      const known = kept.get(name) ?? { opening: open(), opened: null, usedAt: 0 };
      kept.delete(name);
      kept.set(name, known);
      known.usedAt = performance.now();
      try {
        known.opened = await known.opening;
      } catch (error) {
        kept.delete(name);
        throw error;
      }
      shrink();
      return known.opened;
    },
    drop: (name) => void kept.delete(name),
    bytes,
    close: () => clearInterval(looking),
  };
}

/** The segment that a request reads instead of ledger and index; none: its owner is awake. */
const READING = new AsyncLocalStorage<OpenSegment>();

export const readingInPlace = <T>(opened: OpenSegment, work: () => T): T => READING.run(opened, work);

/** Stores that have what is in a segment. What is tenant-wide, and the lane itself, stay in the ledger. */
const IN_SEGMENTS = [
  'batches',
  'contents',
  'filtered',
  'graph',
  'lookups',
  'memories',
  'nights',
  'present',
  'reviews',
  'saidIds',
  'speech',
  'summaries',
  'taskStates',
  'thoughts',
  'undos',
] as const;

interface Waking {
  /** Wakes an owner, if it sleeps. */
  wake(tenant: TenantId, owner: Owner): Promise<unknown>;
}

/** Between the look at an owner and a write it may have been laid to sleep, which happens once in days. */
const APPENDS_MAX = 3;

/** A ledger that is read in place where a request does, and wakes whoever a batch is posted for. */
export function ledgerInPlace<L extends StoredLedger>(ledger: L, { wake }: Waking): L {
  const stores = IN_SEGMENTS.map((name) => [name, redirected(ledger, name)] as const);
  const append: typeof ledger.batches.append = async (batch, policy) => {
    for (let tried = 1; ; tried += 1) {
      try {
        return await ledger.batches.append(batch, policy);
      } catch (error) {
        if (asEngineError(error).code !== 'owner_asleep' || tried === APPENDS_MAX) throw error;
        await wake(batch.tenant, ownerOf(batch.scope));
      }
    }
  };
  const inPlace = Object.fromEntries(stores) as unknown as Pick<L, (typeof IN_SEGMENTS)[number]>;
  return { ...ledger, ...inPlace, batches: { ...inPlace.batches, append } };
}

type Store = Readonly<Record<string, (...given: unknown[]) => Promise<unknown>>>;

function redirected(ledger: StoredLedger, name: (typeof IN_SEGMENTS)[number]): Store {
  const usual = ledger[name] as unknown as Store;
  return Object.fromEntries(
    Object.entries(usual).map(([method, call]) => [
      method,
      (...given: unknown[]) => {
        const opened = READING.getStore();
        if (opened === undefined) return call(...given);
        return opened.ledger().then((read) => (read[name] as unknown as Store)[method]?.(...given));
      },
    ]),
  );
}

/** An index that is asked in place where a request does. */
export const indexInPlace = (index: SearchIndex): SearchIndex => ({
  ...index,
  search: async (queries) => {
    const opened = READING.getStore();
    return opened === undefined ? index.search(queries) : queries.map((query) => opened.search(query));
  },
  vectors: async (points) => {
    const opened = READING.getStore();
    return opened === undefined ? index.vectors(points) : points.map((point) => opened.vectorOf(point));
  },
});
