import { randomUUID } from 'node:crypto';
import {
  abandonMove,
  confirmMove,
  currentMove,
  type Embedder,
  estimateMove,
  type IndexMove,
  type IndexMoves,
  type Ledger,
  type Limiter,
  type Log,
  MoveRefusedError,
  markerOf,
  moveBack,
  type SearchedSpace,
  type SearchIndex,
  type Side,
  sameMarker,
  startMove,
  switchMove,
  workOnMove,
} from '@slowwave/engine';
import type { Config } from '../config/index.ts';
import { limitedEmbedder, memoryLimiter } from '../limits/index.ts';
import { systemTools } from '../system/index.ts';
import { o200kTokenizer } from '../tokens.ts';
import type { OpenCalibrations } from './calibration.ts';
import type { OpenSpace } from './space.ts';
import { keepPlace, movedIndex, otherPlace, placeBy } from './stores.ts';

interface Parts {
  readonly space: Pick<OpenSpace, 'sides'>;
  readonly ledger: Ledger;
  readonly log: Log;
  readonly calibration: Pick<OpenCalibrations, 'of'>;
}

export function openMoves(config: Config, { space: { sides }, ledger, log, calibration }: Parts): IndexMoves {
  const deps = { ledger, tools: systemTools, settings: config, log };
  const worker = randomUUID();
  const paced = pacing(log);
  const searched = (side: Side): SearchedSpace => {
    if (sides === null) throw new MoveRefusedError(NO_NEXT);
    const { index, embedder } = sides[side];
    return { index, embedder: embedder.documents, queries: embedder.queries, vectors: calibration.of(side).vectors };
  };
  const estimate = (index: SearchIndex) => estimateMove({ ...deps, index, tokenizer: o200kTokenizer });
  /** All of this process that follows sees it. */
  const seen = async (change: () => Promise<IndexMove>): Promise<IndexMove> => {
    searched('to');
    const move = await change();
    await sides?.look();
    return move;
  };
  return {
    current: () => currentMove(deps),
    estimate: () => estimate(searched('from').index),
    start: (wanted) =>
      seen(async () => {
        const [from, to] = [searched('from'), searched('to')];
        await requireBelieved({ ledger, settings: config }, from);
        const named = { from: from.embedder.fingerprint, to: to.embedder.fingerprint };
        return startMove({ ...deps, to }, { ...wanted, ...named, estimate: await estimate(from.index) });
      }),
    switch: (how) => seen(() => switchMove(deps, how)),
    back: () =>
      seen(async () => {
        await requireBelieved({ ledger, settings: config }, searched('from'));
        return moveBack(deps);
      }),
    confirm: () => seen(() => confirmMove({ ...deps, keepPlace: noted(ledger) })),
    abandon: () => seen(() => abandonMove(deps)),
    work: async (cancel) => {
      if (sides === null) return false;
      const spaces = { from: searched('from'), to: searched('to') };
      return workOnMove({ ...deps, spaces, paced, worker }, cancel);
    },
  };
}

const NO_NEXT = 'no next embedding model is configured; set SLOWWAVE_NEXT_EMBEDDING_MODEL and restart all processes';

async function requireBelieved(
  maker: { readonly ledger: Ledger; readonly settings: Pick<Config, 'messagesInIndex'> },
  { index, embedder }: SearchedSpace,
): Promise<void> {
  if (sameMarker(await index.marker(), markerOf({ ...maker, embedder }))) return;
  throw new MoveRefusedError('the current index is not complete; wait until it is rebuilt');
}

/** Where the index of the confirmed move is found from now on. */
const noted =
  ({ models }: Pick<Ledger, 'models'>) =>
  async ({ from, to }: IndexMove): Promise<void> => {
    const moved = await movedIndex(models);
    // Confirmed once more, it is noted already.
    if (moved?.fingerprint === to) return;
    await keepPlace(models, to, otherPlace(placeBy(moved)(from)));
  };

/** A budget is one for this process, which works alone on a move, however often it takes it up. */
function pacing(log: Log) {
  const limiters = new Map<number, Limiter>();
  return (embedder: Embedder, tokensPerMinute: number | null): Embedder => {
    if (tokensPerMinute === null) return embedder;
    const limiter = limiters.get(tokensPerMinute) ?? memoryLimiter({ requestsPerMinute: null, tokensPerMinute });
    limiters.set(tokensPerMinute, limiter);
    return limitedEmbedder(embedder, { limiter, log });
  };
}
