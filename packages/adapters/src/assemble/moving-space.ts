import { AsyncLocalStorage } from 'node:async_hooks';
import { randomUUID } from 'node:crypto';
import {
  abandonMove,
  confirmMove,
  currentMove,
  type Embedder,
  EngineError,
  estimateMove,
  type IndexMove,
  type IndexMoves,
  type IndexPoint,
  isSwitched,
  type Ledger,
  type Limiter,
  type Log,
  MoveRefusedError,
  markerOf,
  moveBack,
  NEVER,
  noteBehind,
  type SearchedSpace,
  type SearchIndex,
  type Side,
  sameMarker,
  startMove,
  switchMove,
  workOnMove,
  writeBeside,
  writeIn,
  writesBoth,
} from '@slowwave/engine';
import type { Config } from '../config/index.ts';
import { hurriedEmbedder, limitedEmbedder, memoryLimiter } from '../limits/index.ts';
import { systemTools } from '../system/system.ts';
import { o200kTokenizer } from '../tokens.ts';
import type { OpenEmbedder } from './models.ts';
import type { OpenCalibrations } from './settings.ts';
import type { OpenSpace, Space } from './space.ts';
import { keepPlace, movedIndex, otherPlace, placeBy } from './stores.ts';

/** The index and the one that it may be moved to. */
export interface Sides extends Readonly<Record<Side, Space>> {
  /** Which of them this piece of work uses. */
  side(): Side;
  /** Looks at the move again, before anybody would do so. */
  look(): Promise<IndexMove | null>;
}

interface Given {
  readonly ledger: Promise<Ledger>;
  readonly log: Log;
}

/** So often each process looks where a move stands; who works on one waits three times as long for all to have seen it. */
const LOOKED_MS = 1_000;
/** A process that was held up for longer than this looks again before it writes. */
const STALE_MS = 2_000;

/**
 * Two spaces as one. Outside of a move it is the first. During a move everything is written to both, each with vectors of its own
 * embedder, and all processes change over as soon as they see that it is switched: whichever they use has everything.
 */
export async function movingSpace(
  { messagesInIndex }: Pick<Config, 'messagesInIndex'>,
  spaces: Spaces,
  { ledger, log }: Given,
): Promise<OpenSpace> {
  const view = await viewOf(spaces, { ledger, log });
  const side = (): Side => chosen(view, () => (isSwitched(view.move()) ? 'to' : 'from'));
  const moving = { spaces, view, side, ledger, settings: { messagesInIndex } };
  return {
    embedder: movingEmbedder(moving),
    index: movingIndex(moving),
    sides: { from: spaces.from, to: spaces.to, side, look: view.look },
    adopt: async (run) => {
      const own = isSwitched(await view.look()) ? 'to' : 'from';
      await spaces[own].adopt(run);
      // The other one is made by the move alone; where its server is away, it is asked when that is back.
      await spaces[otherThan(own)].adopt(async () => {});
    },
    close: async () => {
      view.close();
      await Promise.all([spaces.from.close(), spaces.to.close()]);
    },
  };
}

type Spaces = Readonly<Record<Side, OpenSpace>>;

interface Moving {
  readonly spaces: Spaces;
  readonly view: Awaited<ReturnType<typeof viewOf>>;
  /** The one that this piece of work uses. */
  readonly side: () => Side;
  readonly ledger: Given['ledger'];
  readonly settings: Pick<Config, 'messagesInIndex'>;
}

function movingEmbedder({ spaces, side }: Moving): OpenEmbedder {
  const mine = (): OpenEmbedder => spaces[side()].embedder;
  const embedder = (of: 'documents' | 'queries'): Embedder => ({
    get fingerprint() {
      return mine()[of].fingerprint;
    },
    get dimensions() {
      return mine()[of].dimensions;
    },
    embed: (texts, cancel) => mine()[of].embed(texts, cancel),
  });
  return {
    documents: embedder('documents'),
    queries: embedder('queries'),
    breaker: () => mine().breaker?.() ?? 'closed',
    ready: async (onProgress) => {
      await Promise.all([spaces.from.embedder.ready(onProgress), spaces.to.embedder.ready(() => {})]);
    },
    close: async () => {},
  };
}

function movingIndex(moving: Moving): SearchIndex {
  const { spaces, view, side } = moving;
  const mine = (): SearchIndex => spaces[side()].index;
  return {
    ...indexBy(mine),
    upsert: async (points) => {
      const own = side();
      const move = await view.fresh();
      // Not only to its own: work that began before a switch may end after it was confirmed.
      const isWritten = (one: Side): boolean => writesBoth(move) || isSwitched(move) === (one === 'to');
      await Promise.all([
        isWritten(own) && spaces[own].index.upsert(points),
        isWritten(otherThan(own)) && writeTo(otherThan(own), points, moving),
      ]);
    },
    withdraw: async (withdrawals) => {
      const own = side();
      await spaces[own].index.withdraw(withdrawals);
      if ((await view.fresh()) !== null) await spaces[otherThan(own)].index.withdraw(withdrawals);
    },
    forget: async (of) => {
      const own = side();
      // Always from both: nothing erased is left in what a move has left behind.
      const [gone] = await Promise.all([spaces[own].index.forget(of), spaces[otherThan(own)].index.forget(of)]);
      return gone;
    },
    compact: async () => {
      const [one, other] = [await spaces.from.index.compact(), await spaces.to.index.compact()];
      return { done: one.done && other.done, remains: [...new Set([...one.remains, ...other.remains])] };
    },
    close: async () => {},
  };
}

/** The index that a piece of work has by then. */
export const indexBy = (index: () => SearchIndex): SearchIndex => ({
  marker: () => index().marker(),
  stamp: (marker) => index().stamp(marker),
  upsert: (points) => index().upsert(points),
  withdraw: (withdrawals) => index().withdraw(withdrawals),
  search: (queries) => index().search(queries),
  vectors: (points) => index().vectors(points),
  forget: (of) => index().forget(of),
  compact: () => index().compact(),
  clear: () => index().clear(),
  count: (tenant, shelf) => index().count(tenant, shelf),
  page: (after, limit) => index().page(after, limit),
  close: () => index().close(),
});

/** To the one that this piece of work does not search. */
async function writeTo(
  other: Side,
  points: readonly IndexPoint[],
  { spaces, view, ledger, settings }: Moving,
): Promise<void> {
  const { index, embedder } = spaces[other];
  const documents = isAwaited() ? hurriedEmbedder(embedder.documents) : embedder.documents;
  const deps = { ledger: await ledger, tools: systemTools, settings };
  const spoken = view.move()?.state === 'filling' ? ('kept' as const) : ('unknown' as const);
  const of = { space: { index, embedder: documents }, points, spoken };
  if (!writesBoth(view.move())) return writeIn(deps, of, NEVER);
  await noteBehind(deps, other, await writeBeside(deps, of, NEVER));
}

const otherThan = (side: Side): Side => (side === 'from' ? 'to' : 'from');

/** Where the move of these two spaces stands, as this process knows it. */
async function viewOf(spaces: Spaces, { ledger, log }: Given) {
  let move: IndexMove | null = null;
  let at = 0;
  const isOfThese = (one: IndexMove): boolean =>
    one.from === spaces.from.embedder.documents.fingerprint && one.to === spaces.to.embedder.documents.fingerprint;
  const look = async (): Promise<IndexMove | null> => {
    const asked = performance.now();
    const found = await currentMove({ ledger: await ledger });
    const next = found !== null && isOfThese(found) ? found : null;
    if (next?.state !== move?.state) log.info({ state: next?.state ?? 'none' }, 'the move of the index');
    [move, at] = [next, asked];
    return move;
  };
  // A ledger that does not answer is noticed by whoever writes.
  const timer = setInterval(() => void look().catch(() => {}), LOOKED_MS).unref();
  await look().catch((error: unknown) => {
    clearInterval(timer);
    throw error;
  });
  return {
    move: () => move,
    look,
    fresh: async () => (performance.now() - at > STALE_MS ? look() : move),
    close: () => clearInterval(timer),
  };
}

/** A process that does not know both embedders would leave one index behind: it is told what to set instead. */
export function refuseOther(move: IndexMove | null, own: string, hasNext: boolean): void {
  if (move === null || isUnknown(own)) return;
  if (move.state === 'confirmed' ? own === move.to || (own === move.from && hasNext) : own === move.from && hasNext)
    return;
  throw new EngineError(move.state === 'confirmed' ? afterMove(move) : duringMove(move), {
    code: 'model_misconfigured',
    retryable: false,
  });
}

/** While its server is away nobody knows how long its vectors are. */
const isUnknown = (fingerprint: string): boolean => fingerprint.endsWith(':unknown');

const afterMove = ({ to }: IndexMove): string =>
  `the index was moved to the embedding model ${to}; set SLOWWAVE_EMBEDDING_MODEL to it, or start another move from there`;

const duringMove = ({ from, to }: IndexMove): string =>
  `the index is being moved from ${from} to ${to}; set both, in SLOWWAVE_EMBEDDING_MODEL and ` +
  'SLOWWAVE_NEXT_EMBEDDING_MODEL, until the move is confirmed or abandoned';

/** What a piece of work has chosen, each by what it chose from. */
interface Choices {
  readonly made: Map<object, unknown>;
  /** Somebody waits for it. */
  readonly isAwaited: boolean;
}

const CHOICES = new AsyncLocalStorage<Choices>();

/**
 * Carries out a request or a turn. While an index moves, it asks one embedder and searches the index of that one from its
 * beginning to its end, whatever is switched meanwhile: vectors of two embedders never meet.
 */
export const inOneSpace = <T>(work: () => T, { isAwaited = false } = {}): T =>
  CHOICES.run({ made: new Map(), isAwaited }, work);

/** A request, whose caller waits. */
export const inOneSpaceForCaller = (work: () => void): void => inOneSpace(work, { isAwaited: true });

/** The handler of a job, so that each job is carried out in one space. */
export const eachInOneSpace =
  <Args extends unknown[], T>(handler: (...args: Args) => T): ((...args: Args) => T) =>
  (...args) =>
    inOneSpace(() => handler(...args));

/** What this piece of work chose first, and chooses now if it has not. */
function chosen<T>(from: object, choose: () => T): T {
  const choices = CHOICES.getStore();
  if (choices === undefined) return choose();
  if (!choices.made.has(from)) choices.made.set(from, choose());
  return choices.made.get(from) as T;
}

const isAwaited = (): boolean => CHOICES.getStore()?.isAwaited ?? false;

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
