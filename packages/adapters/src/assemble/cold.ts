import {
  type ColdDeps,
  coolOwner,
  deleteSegment,
  EngineError,
  type EngineSettings,
  type Embedder,
  type Log,
  type Owner,
  type OwnerBits,
  ownerBitsIn,
  type SearchIndex,
  type Segment,
  type SegmentErasing,
  type SegmentStore,
  type StoredLedger,
  segmentContent,
  sweepCold,
  type TenantId,
  type Tools,
  wakeOwner,
} from '@slowwave/engine';
import { folderObjects } from '../cold/folder.ts';
import { indexInPlace, ledgerInPlace, readingInPlace } from '../cold/in-place.ts';
import { type OpenSegment, openSegment, openSegments } from '../cold/opened.ts';
import { s3Objects } from '../cold/s3.ts';
import { segmentsIn } from '../cold/segments.ts';
import type { Config } from '../config/index.ts';
import { systemTools } from '../system/index.ts';
import type { Observer } from './observer.ts';
import { engineSettings } from './settings.ts';
import { openSpace } from './space.ts';
import { openOn } from './stores.ts';

/** What a request names, for who has to find out whether that sleeps. */
export interface Named {
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
  wakeOwner(tenant: TenantId, owner: Owner): Promise<void>;
  cool(tenant: TenantId, owner: Owner): Promise<'cooled' | 'kept' | 'asleep' | null>;
  list(tenant: TenantId, after: string | null, limit: number): Promise<readonly Segment[]>;
  sweep(cancel: AbortSignal): Promise<void>;
  readonly segments: SegmentStore;
  readonly counts: Readonly<Record<'woken' | 'read' | 'opened', number>>;
  close(): Promise<void>;
}

interface Parts {
  readonly ledger: StoredLedger;
  readonly index: SearchIndex;
  readonly embedder: Embedder;
  readonly tools: Tools;
  readonly log: Log;
  readonly settings: Pick<EngineSettings, 'messagesInIndex'>;
}

export interface WithCold {
  readonly ledger: StoredLedger;
  readonly index: SearchIndex;
  /** null: nobody sleeps. */
  readonly cold: OpenCold | null;
}

/** Ledger and index as they are where nobody sleeps, and else as they answer for who does. */
export async function openCold(config: Config, parts: Parts): Promise<WithCold> {
  const { ledger, index } = parts;
  if (config.cold === null) {
    await refuseSleepers(ledger);
    return { ledger, index, cold: null };
  }
  const cold = coldOf(config.cold, parts);
  for (const remains of await cold.segments.remains().catch((error: unknown) => [String(error)])) {
    parts.log.warn({ remains }, 'erasures do not reach all that is kept of segments');
  }
  const inPlace = ledgerInPlace(ledger, { wake: (tenant, owner) => cold.wakeOwner(tenant, owner) });
  return { ledger: inPlace, index: indexInPlace(index), cold };
}

interface Alone {
  readonly ledger: StoredLedger;
  readonly log: Log;
  readonly observer: Pick<Observer, 'meter'>;
}

/** For a process that has no index of its own: only who sleeps is told to one when it wakes. */
export async function openWaking(config: Config, { ledger, log, observer }: Alone) {
  if (config.cold === null) {
    await refuseSleepers(ledger);
    return { ledger, cold: null, parts: [] };
  }
  const given = { meter: observer.meter, models: ledger.models, ledger: Promise.resolve(ledger) };
  const space = await openSpace(config, log, given);
  const { embedder, index } = space;
  const parts = { ledger, index, embedder: embedder.documents, tools: systemTools, log, settings: engineSettings(config) };
  const opened = await openOn([space], openCold(config, parts));
  return { ledger: opened.ledger, cold: opened.cold, parts: [...nonNull(opened.cold), space] };
}

/** Whoever sleeps would be empty to all who ask, and an erasure would not reach the segment. */
async function refuseSleepers({ cold }: StoredLedger): Promise<void> {
  const [one] = await cold.names(null, 1);
  if (one === undefined) return;
  throw new EngineError(
    'this ledger has owners that sleep, or segments that are not deleted yet: set SLOWWAVE_COLD_DAYS, and SLOWWAVE_COLD_STORE to where ' +
      'the segments are. To be rid of them, set SLOWWAVE_COLD_DAYS=0 and SLOWWAVE_COLD_KEEP_HOURS=0, wake all with "slowwave cold wake --all", and unset it after an hour',
    { code: 'segment_unavailable', retryable: false },
  );
}

export const segmentStoreOf = ({ bucket, folder }: NonNullable<Config['cold']>): SegmentStore =>
  segmentsIn(bucket === null ? folderObjects(folder) : s3Objects(bucket));

const NEVER = new AbortController().signal;

function coldOf(config: NonNullable<Config['cold']>, parts: Parts): OpenCold {
  const { ledger, index, tools } = parts;
  const segments = segmentStoreOf(config);
  const deps: ColdDeps = { ...parts, cold: ledger.cold, bundles: ledger.bundles, segments };
  const kept = openSegments(config.cacheBytes);
  const counts = { woken: 0, read: 0, opened: 0 };
  const waking = new Map<string, Promise<boolean>>();

  const wake = (name: string): Promise<boolean> => {
    const known = waking.get(name);
    if (known !== undefined) return known;
    const begun = wakeOwner(deps, name, NEVER).finally(() => {
      waking.delete(name);
      kept.drop(name);
    });
    waking.set(name, begun);
    return begun.then((woke) => {
      if (woke) counts.woken += 1;
      return woke;
    });
  };
  const open = (segment: Segment): Promise<OpenSegment> =>
    kept.get(segment.name, async () => {
      const opened = openSegment(segment, await segmentContent(deps, segment), tools);
      counts.opened += 1;
      return opened;
    });
  const sleeperOf = async (tenant: TenantId, owner: Owner): Promise<Segment | null> => {
    const lane = await ledger.lanes.find(tenant, owner);
    return lane?.cold == null ? null : ledger.cold.get(lane.cold);
  };
  /** 16 bits of a hash are those of several owners: only one of them has the id. */
  const sleepersOfId = async (tenant: TenantId, id: string): Promise<readonly Segment[]> => {
    const bits = ownerBitsIn(id);
    const likely = bits === null ? [] : await ledger.cold.ofBits(tenant, bits as OwnerBits);
    if (id.startsWith(RECEIPT)) return likely;
    const found: Segment[] = [];
    for (const segment of likely) if ((await open(segment)).has(id)) found.push(segment);
    return found;
  };
  /** Its points have to be those that the present embedder finds. */
  const mayBeRead = async ({ space }: OpenSegment): Promise<boolean> => (await index.marker())?.fingerprint === space;

  return {
    segments,
    counts,
    wake,
    wakeOwner: async (tenant, owner) => {
      const segment = await sleeperOf(tenant, owner);
      if (segment !== null) await wake(segment.name);
    },
    admit: async ({ tenant: named, owners, ids, reads }) => {
      const tenant = named as TenantId;
      const asleep: Segment[] = [];
      for (const owner of owners) asleep.push(...nonNull(await sleeperOf(tenant, owner)));
      if (owners.length === 0) for (const id of ids) asleep.push(...(await sleepersOfId(tenant, id)));
      const [only] = asleep;
      if (only === undefined) return AWAKE;
      if (reads && asleep.length === 1 && only.state !== 'waking') {
        const opened = await open(only);
        // Whoever woke meanwhile has more to tell than the segment.
        if ((await mayBeRead(opened)) && (await sleeperOf(tenant, only.owner))?.name === only.name) {
          counts.read += 1;
          return (work) => readingInPlace(opened, work);
        }
      }
      for (const { name } of asleep) await wake(name);
      return AWAKE;
    },
    cool: async (tenant, owner) => {
      const lane = await ledger.lanes.find(tenant, owner);
      if (lane === null) return null;
      return lane.cold === null ? (await coolOwner(deps, { tenant, owner, lane: lane.id }, NEVER)).kind : 'asleep';
    },
    list: (tenant, after, limit) => ledger.cold.list(tenant, after, limit),
    sweep: (cancel) => sweepCold(deps, config, cancel),
    erase: async (lane, erasure) => {
      for (const name of await ledger.cold.ofLane(lane)) {
        kept.drop(name);
        await deleteSegment({ cold: ledger.cold, segments }, name, erasure);
      }
    },
    remains: () => segments.remains(),
    close: async () => {
      await Promise.allSettled(waking.values());
      kept.close();
    },
  };
}

const RECEIPT = 'rcp_';
const AWAKE = (work: () => void): void => work();
const nonNull = <T>(value: T | null): T[] => (value === null ? [] : [value]);
