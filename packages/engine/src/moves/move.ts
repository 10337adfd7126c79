import type { EngineDeps, MessagesInIndex } from '../deps.ts';
import type { Ledger } from '../ports/ledger/ledger.ts';
import type { BuildNote, IndexMarker } from '../ports/search-index.ts';
import type { Cancellation } from '../ports/tools.ts';
import { markerOf } from '../projection/marker.ts';
import type { JsonObject, LaneId, Millis } from '../words.ts';
import type { SpaceComparison } from './compare.ts';
import type { MoveEstimate } from './estimate.ts';
import type { Space } from './write-in.ts';

/**
 * The index goes over to another embedder, its new index beside the old one:
 *
 *   filling     everybody writes to both; a worker writes to the new one what was there before. Searches use the old one
 *   ready       the new one has everything, and was compared with the old one. Below the bound it stays at this
 *   switched    searches use the new one; both are written to, so that a way back costs nothing
 *   confirmed   the old one is emptied; processes are restarted with the new embedder alone, at leisure
 *   abandoned   the new one is emptied; then there is no move
 *
 * ready → switched → ready by `switch` and `back`, confirmed from switched, abandoned from filling and ready.
 */
export type MoveState = 'filling' | 'ready' | 'switched' | 'confirmed' | 'abandoned';

export interface IndexMove {
  readonly state: MoveState;
  /** Fingerprints of the two embedders. */
  readonly from: string;
  readonly to: string;
  readonly startedAt: Millis;
  /** When it came into its state. */
  readonly since: Millis;
  /** What filling may use of the new embedder; null: as much as it answers. */
  readonly tokensPerMinute: number | null;
  /** So much less of what is expected the new one may find, as a share, to be switched to without a person. */
  readonly margin: number;
  /** Whether it switches by itself once it is ready. */
  readonly auto: boolean;
  /** What filling takes, as it was estimated when it began. */
  readonly estimate: MoveEstimate;
  readonly note: BuildNote;
  /** Lanes in which either index may lack vectors, since its embedder did not answer when the other one was written to. */
  readonly behind: Behind;
  /** Who works on it, and until when nobody else does. */
  readonly worker: { readonly id: string; readonly until: Millis } | null;
  readonly comparison: SpaceComparison | null;
  /** Why the work on it stopped last; null: it did not. */
  readonly problem: string | null;
  /** Confirmed or abandoned: what it left behind is gone. */
  readonly cleaned: boolean;
}

export type Side = 'from' | 'to';
type Behind = Readonly<Record<Side, readonly LaneId[]>>;
const NOT_BEHIND: Behind = { from: [], to: [] };

export interface WantedMove
  extends Pick<IndexMove, 'from' | 'to' | 'tokensPerMinute' | 'margin' | 'auto' | 'estimate'> {}

/** What an operator does about a move of this installation's index, and what a worker does for it. */
export interface IndexMoves {
  current(): Promise<IndexMove | null>;
  /** What filling the new index will take. */
  estimate(): Promise<MoveEstimate>;
  start(wanted: Pick<WantedMove, 'tokensPerMinute' | 'margin' | 'auto'>): Promise<IndexMove>;
  switch(how: { readonly force: boolean }): Promise<IndexMove>;
  back(): Promise<IndexMove>;
  confirm(): Promise<IndexMove>;
  abandon(): Promise<IndexMove>;
  /** Goes on with what is to be done. Answers whether there was anything. */
  work(cancel: Cancellation): Promise<boolean>;
}

type MoveDeps = Pick<EngineDeps, 'ledger' | 'tools'>;

const NAME = 'index move';

/** Whoever knows no more of the ledger than this. */
interface KnowsMoves {
  readonly ledger: Pick<Ledger, 'models'>;
}

export const currentMove = async ({ ledger }: KnowsMoves): Promise<IndexMove | null> =>
  (await ledger.models.get(NAME)) as unknown as IndexMove | null;

/** Several processes change it: whoever was too late looks again. null instead of a change: it stays as it is. */
export async function changeMove(
  { ledger }: KnowsMoves,
  change: (move: IndexMove | null) => IndexMove | null | 'gone',
): Promise<IndexMove | null> {
  for (;;) {
    const before = await currentMove({ ledger });
    const after = change(before);
    if (after === null) return before;
    const known = after === 'gone' ? null : after;
    if (await ledger.models.swap(NAME, jsonOf(before), jsonOf(known))) return known;
  }
}

const jsonOf = (move: IndexMove | null): JsonObject | null => move as unknown as JsonObject | null;

type StartDeps = MoveDeps & {
  readonly to: Space;
  readonly settings: { readonly messagesInIndex: MessagesInIndex };
};

/** Empties the new index, before anybody writes to it. */
export async function startMove(deps: StartDeps, wanted: WantedMove): Promise<IndexMove> {
  const { ledger, tools } = deps;
  if (wanted.from === wanted.to)
    throw refused('the next embedding model is already in use; set SLOWWAVE_NEXT_EMBEDDING_MODEL to another one');
  requireNoMove(await currentMove(deps), wanted);
  const now = tools.now();
  const move: IndexMove = {
    ...wanted,
    ...{ state: 'filling', startedAt: now, since: now },
    note: { ledgerId: ledger.id, startedAt: now, after: null, afterBatch: null, memories: 0, points: 0 },
    ...{ behind: NOT_BEHIND, worker: null, comparison: null, problem: null, cleaned: false },
  };
  await deps.to.index.clear();
  await deps.to.index.stamp(fillingMarker(deps, move));
  const begun = await changeMove(deps, (before) => {
    requireNoMove(before, wanted);
    return move;
  });
  return begun ?? move;
}

function requireNoMove(before: IndexMove | null, { from }: WantedMove): void {
  if (before === null || (before.state === 'confirmed' && before.cleaned && before.to === from)) return;
  if (before.state === 'confirmed' && before.to !== from) throw refused(RESTART);
  throw refused(`another move is already ${before.state}; see slowwave index status`);
}

const RESTART =
  'the last move is confirmed; first set SLOWWAVE_EMBEDDING_MODEL to its model, remove the SLOWWAVE_NEXT_EMBEDDING_ settings, and restart all processes';

/** Nobody believes an index that has it. */
export function fillingMarker(
  { ledger, to: { embedder }, settings }: Omit<StartDeps, 'tools'>,
  { startedAt }: Pick<IndexMove, 'startedAt'>,
): IndexMarker {
  const { ledgerId, fingerprint } = markerOf({ ledger, embedder, settings });
  return { ledgerId, fingerprint: `${fingerprint}, filled since ${startedAt}` };
}

/** Whoever decides against the comparison, or before there is one, says so by `force`. */
export const switchMove = (deps: MoveDeps, { force }: { readonly force: boolean }): Promise<IndexMove> =>
  step(deps, (move) => {
    requireState(move, ['ready']);
    if (move.behind.to.length > 0) throw refused(BEHIND);
    if (!force && !passes(move)) {
      throw refused('the new index finds less than the margin allows; add force to switch anyway');
    }
    return { ...move, state: 'switched' };
  });

/** The old index was kept up to date: nothing is embedded for it. */
export const moveBack = (deps: MoveDeps): Promise<IndexMove> =>
  step(deps, (move) => {
    requireState(move, ['switched']);
    if (move.behind.from.length > 0) throw refused(BEHIND);
    return { ...move, state: 'ready', auto: false };
  });

/** Who is restarted right after it, with the new embedder alone, finds the index of that. */
export async function confirmMove(
  deps: MoveDeps & { readonly keepPlace: (move: IndexMove) => Promise<void> },
): Promise<IndexMove> {
  const before = await currentMove(deps);
  if (before?.state === 'switched') await deps.keepPlace(before);
  return step(deps, (move) => {
    requireState(move, ['switched']);
    return { ...move, state: 'confirmed', behind: NOT_BEHIND, worker: null };
  });
}

export const abandonMove = (deps: MoveDeps): Promise<IndexMove> =>
  step(deps, (move) => {
    requireState(move, ['filling', 'ready']);
    return { ...move, state: 'abandoned', behind: NOT_BEHIND, worker: null };
  });

const BEHIND =
  'some texts have no vector in that index yet, because its embedding model did not answer; retry when it answers';

async function step(deps: MoveDeps, next: (move: IndexMove) => IndexMove): Promise<IndexMove> {
  const after = await changeMove(deps, (move) => {
    if (move === null) throw refused('there is no move; start one with slowwave index move');
    return { ...next(move), since: deps.tools.now() };
  });
  if (after === null) throw refused('there is no move');
  return after;
}

function requireState({ state }: IndexMove, allowed: readonly MoveState[]): void {
  if (allowed.includes(state)) return;
  throw refused(`expected a move in the state ${allowed.join(' or ')}, got ${state}`);
}

/** Whether the new index finds as much as the old one, but for the margin. */
export const passes = ({ comparison, margin }: Pick<IndexMove, 'comparison' | 'margin'>): boolean =>
  comparison !== null && comparison.to.recall >= comparison.from.recall - margin;

/** Which index searches use. */
export const isSwitched = (move: Pick<IndexMove, 'state'> | null): boolean =>
  move?.state === 'switched' || move?.state === 'confirmed';

/** Whether everybody writes to both indexes. */
export const writesBoth = (move: Pick<IndexMove, 'state'> | null): boolean =>
  move?.state === 'filling' || move?.state === 'ready' || move?.state === 'switched';

/** More than these are as good as all of them. */
const BEHIND_MAX = 1_000;
/** Stands for all lanes. */
export const ALL_LANES = '*' as LaneId;

/** An index lacks vectors in these lanes, until a worker has made up for it. */
export async function noteBehind(deps: KnowsMoves, side: Side, lanes: readonly LaneId[]): Promise<void> {
  if (lanes.length === 0) return;
  await changeMove(deps, (move) => {
    if (move === null || !writesBoth(move) || lanes.every((lane) => move.behind[side].includes(lane))) return null;
    const all = [...new Set([...move.behind[side], ...lanes])];
    return { ...move, behind: { ...move.behind, [side]: all.length > BEHIND_MAX ? [ALL_LANES] : all } };
  });
}

/** Says what is to be done first. */
export class MoveRefusedError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'MoveRefusedError';
  }
}

const refused = (message: string): MoveRefusedError => new MoveRefusedError(message);
