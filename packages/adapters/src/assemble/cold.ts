import {
  type ColdDeps,
  type ColdStore,
  coolOwner,
  deleteSegment,
  EngineError,
  type Log,
  type Owner,
  ownerBitsIn,
  type SearchIndex,
  type Segment,
  type SegmentErasing,
  type SegmentStore,
  type StoredLedger,
  segmentContent,
  sweepCold,
  type TenantId,
  unknownSegments,
  wakeOwner,
} from '@slowwave/engine';
import { folderObjects, s3Objects } from '../cold/objects.ts';
import {
  indexInPlace,
  ledgerInPlace,
  type OpenSegment,
  type OpenSegments,
  openSegment,
  openSegments,
  readingInPlace,
} from '../cold/opened.ts';
import { segmentsIn } from '../cold/segments.ts';
import type { Config } from '../config/index.ts';
import { coldMetrics } from '../metrics.ts';
import { systemTools } from '../system/system.ts';
import type { Observer } from './observer.ts';
import { engineSettings } from './settings.ts';
import { openSpace, type Space } from './space.ts';
import { openOn } from './stores.ts';

/** What a request names, for who has to find out whether that sleeps. */
interface Named {
  readonly tenant: string;
  readonly owners: readonly Owner[];
  /** Looked at where no owner is named. */
  readonly ids: readonly string[];
  /** It only reads, and may be answered from a segment. */
  readonly reads: boolean;
}

/** Owners that sleep, for a process that answers requests. */
export interface OpenCold extends SegmentErasing {
  /** Wakes whom a request names, or has it read the segment; resolves with what carries out the rest of it. */
  admit(named: Named): Promise<(work: () => void) => void>;
  wake(name: string): Promise<boolean>;
  /** false: it was awake. */
  wakeOwner(tenant: TenantId, owner: Owner): Promise<boolean>;
  cool(tenant: TenantId, owner: Owner): Promise<'cooled' | 'kept' | 'asleep' | null>;
  list(tenant: TenantId, after: string | null, limit: number): Promise<readonly Segment[]>;
  sweep(cancel: AbortSignal): Promise<void>;
  /** Deletes objects that the ledger does not know, and names them. */
  deleteUnknown(): Promise<readonly string[]>;
  readonly cold: ColdStore;
  readonly segments: SegmentStore;
  readonly counts: Readonly<Record<'woken' | 'read' | 'opened', number>>;
  close(): Promise<void>;
}

interface Given {
  readonly observer: Pick<Observer, 'registry' | 'meter'>;
  readonly ledger: StoredLedger;
  readonly space: Space;
  readonly log: Log;
}

interface WithCold {
  readonly ledger: StoredLedger;
  readonly index: SearchIndex;
  /** null: nobody sleeps. */
  readonly cold: OpenCold | null;
  /** What is closed before ledger and space. */
  readonly coldParts: readonly { close(): Promise<void> }[];
}

/** Ledger and index as they are where nobody sleeps, and else as they answer for who does. */
export async function openCold(config: Config, { ledger, space, log, observer }: Given): Promise<WithCold> {
  const { index, embedder } = space;
  if (config.cold === null) {
    await refuseSleepers(ledger);
    return { ledger, index, cold: null, coldParts: [] };
  }
  const segments = segmentStoreOf(config.cold);
  const stores = { ledger, cold: ledger.cold, bundles: ledger.bundles, segments, index };
  const deps: ColdDeps = {
    ...stores,
    embedder: embedder.documents,
    tools: systemTools,
    log,
    settings: engineSettings(config),
  };
  const cold = coldOf(config.cold, deps);
  coldMetrics(observer.registry, { counts: cold.counts, sleeping: () => ledger.cold.count() });
  for (const remains of await segments.remains().catch((error: unknown) => [String(error)])) {
    log.warn({ remains }, 'erasures cannot delete all copies of segments');
  }
  const inPlace = ledgerInPlace(ledger, { wake: (tenant, owner) => cold.wakeOwner(tenant, owner) });
  return { ledger: inPlace, index: indexInPlace(index), cold, coldParts: [cold] };
}

/** For a process that has no index of its own: only whoever wakes is told to one. */
export async function openWaking(
  config: Config,
  { ledger, log, observer }: Omit<Given, 'space'>,
): Promise<Omit<WithCold, 'index'>> {
  if (config.cold === null) {
    await refuseSleepers(ledger);
    return { ledger, cold: null, coldParts: [] };
  }
  const space = await openSpace(config, log, {
    ...{ meter: observer.meter, models: ledger.models, ledger: Promise.resolve(ledger) },
  });
  const opened = await openOn([space], openCold(config, { ledger, space, log, observer }));
  return { ...opened, coldParts: [...opened.coldParts, space] };
}

/** Whoever sleeps would be empty to all who ask, and an erasure would not reach the segment. */
async function refuseSleepers({ cold }: StoredLedger): Promise<void> {
  const [one] = await cold.names(null, 1);
  if (one === undefined) return;
  throw new EngineError(
    'this ledger has owners that sleep, or segments that are not deleted yet: set SLOWWAVE_COLD_DAYS, and SLOWWAVE_COLD_STORE to ' +
      'where the segments are. To stop using segments, set SLOWWAVE_COLD_DAYS=0 and SLOWWAVE_COLD_KEEP_HOURS=0, wake all with ' +
      '"slowwave cold wake --all", and unset them an hour later',
    { code: 'segment_unavailable', retryable: false },
  );
}

export const segmentStoreOf = ({ bucket, folder }: NonNullable<Config['cold']>): SegmentStore =>
  segmentsIn(bucket === null ? folderObjects(folder) : s3Objects(bucket));

const NEVER = new AbortController().signal;

function coldOf(config: NonNullable<Config['cold']>, deps: ColdDeps): OpenCold {
  const { ledger, cold, segments } = deps;
  const counts = { woken: 0, read: 0, opened: 0 };
  const kept = openSegments(config.cacheBytes);
  const sleepers = sleepersIn(deps, { kept, counts });
  const { waking, wake } = wakingOnce(deps, { kept, counts });
  const admit = async ({ tenant: named, owners, ids, reads }: Named): Promise<CarryOut> => {
    const tenant = named as TenantId;
    const asleep = owners.length > 0 ? await sleepers.of(tenant, owners) : await sleepers.with(tenant, ids);
    const [only] = asleep;
    if (reads && only !== undefined && asleep.length === 1) {
      const opened = await sleepers.readable(only);
      if (opened !== null) return (work) => readingInPlace(opened, work);
    }
    for (const { name } of asleep) await wake(name);
    return AWAKE;
  };
  return {
    ...{ segments, counts, wake, admit, cold },
    wakeOwner: async (tenant, owner) => {
      const [segment] = await sleepers.of(tenant, [owner]);
      return segment !== undefined && wake(segment.name);
    },
    cool: async (tenant, owner) => {
      const lane = await ledger.lanes.find(tenant, owner);
      if (lane === null) return null;
      return lane.cold === null ? (await coolOwner(deps, { tenant, owner, lane: lane.id }, NEVER)).kind : 'asleep';
    },
    list: (tenant, after, limit) => cold.list(tenant, after, limit),
    sweep: (cancel) => sweepCold(deps, config, cancel),
    deleteUnknown: async () => {
      const names = await unknownSegments(deps, NEVER);
      for (const name of names) await segments.delete(name);
      return names;
    },
    erase: async (lane, erasure) => {
      for (const name of await cold.ofLane(lane)) {
        kept.drop(name);
        await deleteSegment(deps, name, erasure);
      }
    },
    remains: () => segments.remains(),
    close: async () => {
      await Promise.allSettled(waking.values());
      kept.close();
    },
  };
}

type CarryOut = (work: () => void) => void;
const AWAKE: CarryOut = (work) => work();

interface Place {
  readonly kept: OpenSegments;
  readonly counts: { woken: number; read: number; opened: number };
}

/** Each owner is woken once, however many ask for it at a time. */
function wakingOnce(deps: ColdDeps, { kept, counts }: Place) {
  const waking = new Map<string, Promise<boolean>>();
  const begin = async (name: string): Promise<boolean> => {
    try {
      const woke = await wakeOwner(deps, name, NEVER);
      counts.woken += Number(woke);
      return woke;
    } finally {
      waking.delete(name);
      kept.drop(name);
    }
  };
  const wake = (name: string): Promise<boolean> => {
    const begun = waking.get(name) ?? begin(name);
    waking.set(name, begun);
    return begun;
  };
  return { waking, wake };
}

const RECEIPT = 'rcp_';

/** Finds owners that sleep, and their segments. */
function sleepersIn(deps: ColdDeps, { kept, counts }: Place) {
  const { ledger, cold, index, tools } = deps;
  const open = (segment: Segment): Promise<OpenSegment> =>
    kept.get(segment.name, async () => {
      counts.opened += 1;
      return openSegment(segment, await segmentContent(deps, segment), tools);
    });
  const find = async (tenant: TenantId, owner: Owner): Promise<Segment | null> => {
    const lane = await ledger.lanes.find(tenant, owner);
    return lane?.cold == null ? null : cold.get(lane.cold);
  };
  return {
    of: async (tenant: TenantId, owners: readonly Owner[]): Promise<readonly Segment[]> => {
      const found = await Promise.all(owners.map((owner) => find(tenant, owner)));
      return found.filter((one) => one !== null);
    },
    /** 16 bits of a hash are those of several owners: only one of them has the id. Receipts are in no segment. */
    with: async (tenant: TenantId, ids: readonly string[]): Promise<readonly Segment[]> => {
      const found = new Map<string, Segment>();
      for (const id of ids) {
        const bits = ownerBitsIn(id);
        for (const segment of bits === null ? [] : await cold.ofBits(tenant, bits)) {
          if (id.startsWith(RECEIPT) || (await open(segment)).has(id)) found.set(segment.name, segment);
        }
      }
      return [...found.values()];
    },
    /** null: somebody wakes it, or its points are those of another embedder, which nothing is found with. */
    readable: async (segment: Segment): Promise<OpenSegment | null> => {
      if (segment.state === 'waking') return null;
      const opened = await open(segment);
      if ((await index.marker())?.fingerprint !== opened.space) return null;
      // Whoever woke meanwhile has more to tell than the segment.
      if ((await find(segment.tenant, segment.owner))?.name !== segment.name) return null;
      counts.read += 1;
      return opened;
    },
  };
}
