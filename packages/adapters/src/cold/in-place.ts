import { AsyncLocalStorage } from 'node:async_hooks';
import {
  asEngineError,
  type Owner,
  ownerOf,
  type SearchIndex,
  type StoredLedger,
  type TenantId,
} from '@slowwave/engine';
import type { OpenSegment } from './opened.ts';

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
export function indexInPlace(index: SearchIndex): SearchIndex {
  return {
    marker: () => index.marker(),
    stamp: (marker) => index.stamp(marker),
    upsert: (points) => index.upsert(points),
    withdraw: (withdrawals) => index.withdraw(withdrawals),
    search: (queries) => {
      const opened = READING.getStore();
      return opened === undefined
        ? index.search(queries)
        : Promise.resolve(queries.map((query) => opened.search(query)));
    },
    vectors: (points) => {
      const opened = READING.getStore();
      return opened === undefined
        ? index.vectors(points)
        : Promise.resolve(points.map((point) => opened.vectorOf(point)));
    },
    forget: (of) => index.forget(of),
    compact: () => index.compact(),
    clear: () => index.clear(),
    count: (tenant, shelf) => index.count(tenant, shelf),
    page: (after, limit) => index.page(after, limit),
    close: () => index.close(),
  };
}
