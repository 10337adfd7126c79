import type { EngineDeps, EngineSettings } from '../deps.ts';
import { pointsOf, textsOf, withdrawalsOf } from '../memories/standing.ts';
import { embedTexts } from '../models/embed.ts';
import type { SpokenBatch, ToldBatch } from '../ports/ledger/speech.ts';
import type { IndexPoint, Withdrawal } from '../ports/search-index.ts';
import type { Cancellation } from '../ports/tools.ts';
import { spaceIn } from '../replays/space.ts';
import type { LaneId, Memory, TenantId } from '../words.ts';
import { type SaidById, saysLess } from './found-by.ts';
import { heard } from './heard.ts';
import { pointsOfBatch, vectorTextsOf, withdrawalsOfBatch } from './message-points.ts';

export type MakingDeps = Pick<EngineDeps, 'ledger' | 'embedder' | 'tools'> & {
  readonly settings: Pick<EngineSettings, 'messagesInIndex'>;
};

/** What the index is told of in one lane. */
export interface Telling {
  readonly tenant: TenantId;
  readonly lane: LaneId;
  readonly memories: readonly Memory[];
  readonly batches: readonly SpokenBatch[];
  /** Vectors of messages that were made before. */
  readonly made?: ReadonlyMap<string, Float32Array> | undefined;
}

export interface Made {
  readonly points: readonly IndexPoint[];
  readonly withdrawals: readonly Withdrawal[];
  readonly told: readonly ToldBatch[];
  /** The points as they have to be by now, where retention has removed meanwhile what they were made of; null: as they are. */
  anew(): Promise<readonly IndexPoint[] | null>;
}

/** The one way in which points of the index are made from what the ledger holds: all vectors in one call. */
export async function makePoints(deps: MakingDeps, telling: Telling, cancel: Cancellation): Promise<Made> {
  const { lane, memories, made } = telling;
  const batches = shownBatches(deps, telling);
  const isEmbedded = deps.settings.messagesInIndex === 'hybrid';
  const passing = isEmbedded ? batches.flatMap(vectorTextsOf) : [];
  const vectorOf = await embedTexts(deps, { lane, texts: memories.flatMap(textsOf), passing, made }, cancel);
  const none = new Float32Array(deps.embedder.dimensions);
  const making = { vectorOf: isEmbedded ? vectorOf : () => none };
  const spoken = new Map<string, readonly IndexPoint[]>();
  for (const batch of batches) spoken.set(batch.id, await eachOf(deps, batch, (part) => pointsOfBatch(part, making)));
  const said = await heard(deps, lane, memories);
  const remembered = async (by: SaidById) => {
    const points: IndexPoint[] = [];
    for (const memory of memories) {
      points.push(...pointsOf(memory, { vectorOf, said: by }));
      await deps.tools.breathe();
    }
    return points;
  };
  return {
    points: [...(await remembered(said)), ...[...spoken.values()].flat()],
    withdrawals: [...memories.flatMap(withdrawalsOf), ...batches.flatMap(withdrawalsOfBatch)],
    told: telling.batches.map(({ id, revision }) => ({ id, revision, points: spoken.get(id)?.length ?? 0 })),
    anew: async () => {
      const now = await heard(deps, lane, memories);
      return saysLess(now, said) ? remembered(now) : null;
    },
  };
}

/** One message at a time: a batch may have hundreds. */
async function eachOf<T>(
  { tools }: MakingDeps,
  batch: SpokenBatch,
  make: (part: SpokenBatch) => readonly T[],
): Promise<readonly T[]> {
  const made: T[] = [];
  for (const message of batch.messages) {
    made.push(...make({ ...batch, messages: [message] }));
    await tools.breathe();
  }
  return made;
}

/** A what-if is asked about its memories alone. */
const shownBatches = ({ settings }: MakingDeps, { tenant, batches }: Telling): readonly SpokenBatch[] =>
  settings.messagesInIndex === 'off' || spaceIn(tenant) !== null ? [] : batches;
