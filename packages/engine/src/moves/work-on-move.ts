import type { EngineDeps } from '../deps.ts';
import { asEngineError, EngineError } from '../errors.ts';
import { withoutVectors } from '../models/embed.ts';
import type { Embedder } from '../ports/models.ts';
import type { Cancellation } from '../ports/tools.ts';
import { markerOf, sameMarker } from '../projection/project.ts';
import { type Filled, fillIndex } from '../projection/rebuild-index.ts';
import type { LaneId, Millis } from '../words.ts';
import {
  ALL_LANES,
  changeMove,
  compareSpaces,
  currentMove,
  fillingMarker,
  type IndexMove,
  passes,
  type SearchedSpace,
  type Side,
} from './move.ts';
import { type Space, spokenIn, writeIn } from './write-in.ts';

interface MoveSpaces {
  readonly from: SearchedSpace;
  readonly to: SearchedSpace;
}

export interface MoveWorkDeps extends Pick<EngineDeps, 'ledger' | 'tools' | 'log'> {
  readonly settings: Pick<EngineDeps['settings'], 'messagesInIndex'>;
  readonly spaces: MoveSpaces;
  /** Held to a budget of tokens per minute. */
  readonly paced: (embedder: Embedder, tokensPerMinute: number | null) => Embedder;
  /** Whoever works on it; another process has another name. */
  readonly worker: string;
}

/** Until then all processes have seen a change of state, which they look for every second. */
const SEEN_MS = 3_000;
/** Questions that were asked of the old index before that are answered by then. */
const ANSWERED_MS = 15_000;
/** A worker that says nothing for so long is replaced. It says something with each page. */
const LEASE_MS = 60_000;
/** Lanes whose vectors are dropped in one transaction. */
const LANES_PER_DROP = 100;

/** Does what is to be done for a move, until it is done, or fails. Answers whether it did anything. */
export async function workOnMove(deps: MoveWorkDeps, cancel: Cancellation): Promise<boolean> {
  const move = await currentMove(deps);
  if (move === null || !isOf(deps, move)) return false;
  if (isFarAhead(deps, move.since)) {
    await changeMove(deps, (now) => now && { ...now, since: deps.tools.now() });
    return false;
  }
  if (!isDue(deps, move) || !(await lease(deps))) return false;
  try {
    await workOn(deps, move, cancel);
    await changeMove(deps, (now) => now && { ...now, problem: null });
    return true;
  } catch (error) {
    const { code, message } = asEngineError(error);
    // The budget is used up for now: it goes on soon.
    if (code === 'rate_limited' || code === 'cancelled') return false;
    if (!cancel.aborted) await changeMove(deps, (now) => now && { ...now, problem: message });
    throw error;
  } finally {
    await changeMove(deps, (now) => (now?.worker?.id === deps.worker ? { ...now, worker: null } : null)).catch(
      () => {},
    );
  }
}

const isOf = ({ spaces: { from, to } }: MoveWorkDeps, move: IndexMove): boolean =>
  move.from === from.embedder.fingerprint && move.to === to.embedder.fingerprint;

/** No lease lasts so long, and nothing is later than now but by clocks that differ: it was written by a clock that was far ahead. */
const isFarAhead = ({ tools }: MoveWorkDeps, at: Millis): boolean => at > tools.now() + 2 * LEASE_MS;

function isDue({ tools }: MoveWorkDeps, { state, since, behind, cleaned }: IndexMove): boolean {
  const age = tools.now() - since;
  if (state === 'filling') return age >= SEEN_MS;
  if (state === 'confirmed' || state === 'abandoned') return !cleaned && age >= ANSWERED_MS;
  return behind.from.length + behind.to.length > 0;
}

async function lease(deps: MoveWorkDeps): Promise<boolean> {
  const leased = await changeMove(deps, (move) => {
    if (move === null) return null;
    const { worker } = move;
    if (worker === null || worker.id === deps.worker) return held(deps, move);
    return worker.until < deps.tools.now() || isFarAhead(deps, worker.until) ? held(deps, move) : null;
  });
  return leased?.worker?.id === deps.worker;
}

const held = ({ worker: id, tools }: MoveWorkDeps, move: IndexMove): IndexMove => ({
  ...move,
  worker: { id, until: tools.now() + LEASE_MS },
});

async function workOn(deps: MoveWorkDeps, move: IndexMove, cancel: Cancellation): Promise<void> {
  if (move.state === 'confirmed') return clean(deps, move, deps.spaces.from);
  if (move.state === 'abandoned') return clean(deps, move, deps.spaces.to);
  if (move.state === 'filling') return fill(deps, move, cancel);
  for (const side of ['from', 'to'] as const)
    if (move.behind[side].length > 0) await catchUp(deps, { move, side }, cancel);
}

async function fill(deps: MoveWorkDeps, move: IndexMove, cancel: Cancellation): Promise<void> {
  const { to } = deps.spaces;
  const note = (await begunFor(deps, move)) ? move.note : await beginAnew(deps, move);
  const space = { index: to.index, embedder: deps.paced(to.embedder, move.tokensPerMinute) };
  const stopping = stoppedWhen(cancel);
  const noted: Filled['note'] = async (note) => {
    const now = await changeMove(deps, (move) =>
      move?.state === 'filling' && move.worker?.id === deps.worker ? held(deps, { ...move, note }) : null,
    );
    if (now?.state !== 'filling' || now.worker?.id !== deps.worker) stopping.stop();
  };
  const into = writingInto(deps, { space, noted, cancel: stopping });
  await fillIndex(withoutVectors({ ...deps, embedder: to.embedder }), { into, from: note }, { cancel: stopping });
  await finish(deps, cancel);
}

/** Whether what the move has filled is still there. */
async function begunFor({ spaces: { to }, ledger, settings }: MoveWorkDeps, move: IndexMove): Promise<boolean> {
  const marker = await to.index.marker();
  const full = markerOf({ ledger, embedder: to.embedder, settings });
  return sameMarker(marker, full) || sameMarker(marker, fillingMarker({ ledger, to, settings }, move));
}

async function beginAnew(deps: MoveWorkDeps, move: IndexMove): Promise<IndexMove['note']> {
  const { ledger, settings, spaces } = deps;
  const note = { ...move.note, after: null, afterBatch: null, memories: 0, points: 0 };
  await spaces.to.index.clear();
  await spaces.to.index.stamp(fillingMarker({ ledger, to: spaces.to, settings }, move));
  // What others have written to it before it was cleared is found again by the second walk.
  await changeMove(deps, (now) => now && { ...now, note });
  return note;
}

interface Writing {
  readonly space: Space;
  readonly noted: Filled['note'];
  readonly cancel: Cancellation;
  /** null: all lanes. */
  readonly lanes?: ReadonlySet<LaneId> | null;
}

const writingInto = (deps: MoveWorkDeps, { space, noted, cancel, lanes = null }: Writing): Filled => ({
  write: (points) => {
    const wanted = lanes === null ? points : points.filter(({ lane }) => lanes.has(lane));
    return writeIn(deps, { space, points: wanted, spoken: 'shared' }, cancel);
  },
  withdraw: (withdrawals) => space.index.withdraw(withdrawals),
  forget: (of) => space.index.forget(of),
  note: noted,
});

/** It has everything: from now on it is believed. Then it is compared, and searched if it finds enough. */
async function finish(deps: MoveWorkDeps, cancel: Cancellation): Promise<void> {
  const { ledger, settings, spaces, tools, log } = deps;
  const before = await currentMove(deps);
  if (before !== null && before.behind.to.length > 0) await catchUp(deps, { move: before, side: 'to' }, cancel);
  await spaces.to.index.stamp(markerOf({ ledger, embedder: spaces.to.embedder, settings }));
  const comparison = await compareSpaces(deps, spaces, cancel);
  const move = await changeMove(deps, (now) => {
    if (now?.state !== 'filling') return null;
    const goes = now.auto && passes({ ...now, comparison }) && now.behind.to.length === 0;
    return { ...now, comparison, state: goes ? 'switched' : 'ready', since: tools.now() };
  });
  await dropVectors(deps, spokenIn(spaces.to.embedder.fingerprint));
  log.info({ state: move?.state, ...comparison }, 'the new index is complete and was compared with the old one');
}

/** Makes the vectors that an embedder was not there for. */
async function catchUp(
  deps: MoveWorkDeps,
  { move, side }: { readonly move: IndexMove; readonly side: Side },
  cancel: Cancellation,
): Promise<void> {
  const lanes = move.behind[side];
  const { index, embedder } = deps.spaces[side];
  const space = { index, embedder: deps.paced(embedder, move.tokensPerMinute) };
  const noted: Filled['note'] = async () => void (await changeMove(deps, (now) => now && held(deps, now)));
  const wanted = lanes.includes(ALL_LANES) ? null : new Set(lanes);
  const into = writingInto(deps, { space, noted, cancel, lanes: wanted });
  const from = { ...move.note, startedAt: deps.tools.now(), after: null, afterBatch: null, memories: 0, points: 0 };
  await fillIndex(withoutVectors({ ...deps, embedder }), { into, from }, { cancel });
  await changeMove(deps, (now) => {
    if (now === null) return null;
    return { ...now, behind: { ...now.behind, [side]: now.behind[side].filter((lane) => !lanes.includes(lane)) } };
  });
}

/** What nobody uses any more leaves the disk: points, and the vectors that the ledger kept for them. */
async function clean(deps: MoveWorkDeps, move: IndexMove, { index, embedder }: Space): Promise<void> {
  await index.clear();
  await index.compact();
  for (const name of [embedder.fingerprint, spokenIn(embedder.fingerprint)]) await dropVectors(deps, name);
  await changeMove(deps, (now) => {
    if (now?.state !== move.state) return null;
    return move.state === 'abandoned' ? 'gone' : { ...now, cleaned: true };
  });
}

async function dropVectors({ ledger }: MoveWorkDeps, fingerprint: string): Promise<void> {
  let after: LaneId | null = null;
  do after = await ledger.thoughts.dropVectors(fingerprint, { after, limit: LANES_PER_DROP });
  while (after !== null);
}

/** Also stopped by whoever has it, where the work was taken over or is not wanted any more. */
function stoppedWhen(cancel: Cancellation): Cancellation & { stop(): void } {
  let stopped = false;
  const reason = new EngineError('the move continues in another process, or was abandoned', {
    code: 'cancelled',
    retryable: true,
  });
  return {
    get aborted() {
      return stopped || cancel.aborted;
    },
    get reason() {
      return stopped ? reason : cancel.reason;
    },
    addEventListener: (...given) => cancel.addEventListener(...given),
    removeEventListener: (...given) => cancel.removeEventListener(...given),
    stop: () => {
      stopped = true;
    },
  };
}
