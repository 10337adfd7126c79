import type { EngineDeps, EngineSettings } from '../deps.ts';
import type { SpokenBatch, ToldBatch } from '../ports/ledger/speech.ts';
import type { IndexPoint, Withdrawal } from '../ports/search-index.ts';
import type { Cancellation } from '../ports/tools.ts';
import { spaceIn } from '../replays/space.ts';
import { type SaidById, saysLess } from '../rules/context.ts';
import { pointsOfBatch, vectorTextsOf, withdrawalsOfBatch } from '../rules/message-points.ts';
import { pointsOf, textsOf, withdrawalsOf } from '../rules/standing.ts';
import type { LaneId, Memory, TenantId } from '../words.ts';
import { embedTexts } from './embed.ts';
import { heard } from './heard.ts';

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
  const spoken = new Map(batches.map((batch) => [batch.id, pointsOfBatch(batch, making)]));
  const said = await heard(deps, lane, memories);
  const remembered = (by: SaidById) => memories.flatMap((memory) => pointsOf(memory, { vectorOf, said: by }));
  return {
    points: [...remembered(said), ...[...spoken.values()].flat()],
    withdrawals: [...memories.flatMap(withdrawalsOf), ...batches.flatMap(withdrawalsOfBatch)],
    told: telling.batches.map(({ id, revision }) => ({ id, revision, points: spoken.get(id)?.length ?? 0 })),
    anew: async () => {
      const now = await heard(deps, lane, memories);
      return saysLess(now, said) ? remembered(now) : null;
    },
  };
}

/** A what-if is asked about its memories alone. */
const shownBatches = ({ settings }: MakingDeps, { tenant, batches }: Telling): readonly SpokenBatch[] =>
  settings.messagesInIndex === 'off' || spaceIn(tenant) !== null ? [] : batches;
