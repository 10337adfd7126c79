import type { EngineDeps } from '../deps.ts';
import { type Comparison, compare, type OwnerFigures, verdictOf } from '../figures/compare.ts';
import { addFigures, FIGURE_NAMES, type FigureName, type Figures, kindOf, type Margin } from '../figures/figures.ts';
import { figuresOf, measuredIn } from '../figures/measure.ts';
import {
  addSpent,
  type Canary,
  type CanaryLane,
  type CanaryMove,
  type CanaryNews,
  NOTHING_SPENT,
  type Spent,
  type WatchedConsolidation,
} from '../ports/ledger/canaries.ts';
import { slicesOf } from '../ports/ledger/ledger.ts';
import type { Nudge } from '../ports/schedule.ts';
import type { Cancellation } from '../ports/tools.ts';
import type { UndoDeps } from '../undo/undo.ts';
import type { Failure, JsonObject, LaneId } from '../words.ts';
import { isSettable, promote, whyNotPromoted } from './start.ts';
import { estimateLane, spentOn, takeBackLane } from './take-back.ts';

export interface CanaryDeps extends UndoDeps {
  /** Schedules turns of lanes; a sweep finds what was not scheduled. */
  nudge(nudges: readonly Nudge[]): Promise<void>;
}

/** Longer than a canary is silent while it is worked on; a worker that dies keeps others away so long. */
const LEASE_MS = 30_000;
/** How often a canary's figures are looked at, and how far its undo is. */
const LOOK_AGAIN_MS = 5_000;
const UNDO_AGAIN_MS = 1_000;
/** Whoever claims a turn when a canary is stopped has done so after this. */
const CLAIMED_MS = 60_000;
/** Lanes that are held in one transaction. */
const LANES = 50;
/** Lanes of an undo whose batches wait again at a time: what they use counts for its budget before it is known. */
const OPEN_LANES = 20;

/**
 * Goes on with every canary that is due, one after the other; each belongs to one worker at a time. All of this can be done
 * again: what a worker that died has left half done, the next one ends. Answers with how many there were.
 */
export function canarySweep(deps: CanaryDeps): (cancel: Cancellation) => Promise<number> {
  const watch = canaryWatch(deps);
  return async (cancel) => {
    const { ledger, tools, log } = deps;
    for (let count = 0; ; count += 1) {
      const now = tools.now();
      const canary: Canary | null = cancel.aborted ? null : await ledger.canaries.take(now, now + LEASE_MS);
      if (canary === null) return count;
      await work(deps, { canary, watch, cancel }).catch((error: unknown) => {
        if (!cancel.aborted)
          log.warn({ canary: canary.id, error: String(error) }, 'a canary cannot continue; it will be retried');
      });
    }
  };
}

interface Working {
  readonly canary: Canary;
  readonly watch: (canary: Canary) => Promise<Watched>;
  readonly cancel: Cancellation;
}

async function work(deps: CanaryDeps, working: Working): Promise<void> {
  const { canary, watch } = working;
  switch (canary.state) {
    case 'running':
    case 'done':
      return look(deps, canary, await watch(canary));
    case 'halted':
      return settle(deps, working);
    case 'undoing':
      return undo(deps, working);
    case 'stopped':
      return release(deps, working);
    case 'undone':
    case 'promoted':
      return;
  }
}

interface Move extends Omit<CanaryMove, 'from'> {
  readonly news?: CanaryNews;
}

const move = ({ ledger }: CanaryDeps, { id, state }: Canary, { news, ...how }: Move): Promise<boolean> =>
  ledger.canaries.move(id, { from: state, ...how }, news);

/** Past a bound it halts; within all of them it goes on to its next step once that is due. */
async function look(deps: CanaryDeps, canary: Canary, seen: Watched): Promise<void> {
  const { tools, log } = deps;
  const now = tools.now();
  const watched = storedWatched(seen);
  const halt = await reasonToHalt(deps, canary, seen);
  if (halt !== null) {
    log.warn({ canary: canary.id, why: halt.message }, 'a canary has halted');
    const data = { canary_id: canary.id, ...shareOf(canary), figures: pastBounds(seen).map(({ figure }) => figure) };
    const news = { type: 'canary.halted', at: now, data } as const;
    await move(deps, canary, { to: 'halted', dueAt: now, watched, halt, news });
    return;
  }
  if (canary.state === 'done' || !(await isStepOver(deps, canary))) {
    await move(deps, canary, { to: canary.state, dueAt: now + LOOK_AGAIN_MS, watched });
    return;
  }
  const next = canary.steps[canary.step + 1];
  if (next === undefined) return end(deps, canary, watched);
  const step = { number: canary.step + 1, at: now };
  log.info({ canary: canary.id, share: next.share }, 'a canary has reached its next step');
  const news = { type: 'canary.step', at: now, data: { canary_id: canary.id, share: next.share } } as const;
  await move(deps, canary, { to: 'running', dueAt: now + LOOK_AGAIN_MS, watched, step, news });
}

/** A window that takes longer is stuck: no model takes so long, but one that is not there. */
const STUCK_MS = 15 * 60_000;
const STUCK_MIN = 5;

async function reasonToHalt(
  { ledger, tools }: CanaryDeps,
  { id, tenant }: Canary,
  seen: Watched,
): Promise<Failure | null> {
  const now = tools.now();
  const [worst] = pastBounds(seen);
  if (worst !== undefined) return { code: worst.figure, message: explain(seen), at: now };
  const stuck = await ledger.canaries.stuck(tenant, id, now - STUCK_MS);
  // Where the others wait as well, it is for something else.
  if (stuck.canary < STUCK_MIN || stuck.rest > 0) return null;
  const message = `${stuck.canary} consolidations with its changes have been waiting for more than 15 minutes, unlike the others`;
  return { code: 'stuck', message, at: now };
}

const shareOf = ({ steps, step }: Canary) => ({ share: steps[step]?.share ?? 0 });

const explain = (seen: Watched): string =>
  pastBounds(seen)
    .map(({ figure, baseline, variant }) => `${figure} is ${rounded(variant)}, for the rest ${rounded(baseline)}`)
    .join('; ');

const rounded = (value: number | null): string => (value === null ? 'unknown' : String(Number(value.toPrecision(3))));

async function isStepOver({ ledger, tools }: CanaryDeps, { id, steps, step, stepAt }: Canary): Promise<boolean> {
  const now = steps[step];
  if (now === undefined) return false;
  if (tools.now() < stepAt + now.minMs) return false;
  return (await ledger.canaries.appliedSince(id, stepAt)) >= now.minConsolidations;
}

/** Everybody has had the changes for long enough: they become the tenant's settings, or wait for who can set them, or for the gate. */
async function end(deps: CanaryDeps, canary: Canary, watched: ReturnType<typeof storedWatched>): Promise<void> {
  const { tools, log } = deps;
  if (isSettable(canary.changes) && (await whyNotPromoted(deps, canary, null)) === null) {
    await promote(deps, canary);
    log.info({ canary: canary.id }, 'the changes of a canary are now the settings of its tenant');
    return;
  }
  log.info({ canary: canary.id }, 'a canary has passed its last step and waits to be promoted');
  await move(deps, canary, { to: 'done', dueAt: tools.now() + LOOK_AGAIN_MS, watched });
}

/** Its lanes are held, and then undone if nobody wanted to be asked. */
async function settle(deps: CanaryDeps, { canary, cancel }: Working): Promise<void> {
  await holdAll(deps, canary, cancel);
  const now = deps.tools.now();
  if (canary.undo === 'automatic') await move(deps, canary, { to: 'undoing', dueAt: now });
  // Whoever was claiming a turn when it halted may have done so a moment later.
  else await move(deps, canary, { to: 'halted', dueAt: now + LOOK_AGAIN_MS });
}

async function holdAll({ ledger, tools }: CanaryDeps, { id }: Canary, cancel: Cancellation): Promise<void> {
  const how = { pinned: false, limit: LANES };
  while (!cancel.aborted && (await ledger.canaries.hold(id, { ...how, now: tools.now() })).length === LANES);
}

/** Somebody has stopped it: what it wrote stays, and what is under way begins anew without its changes. */
async function release(deps: CanaryDeps, { canary, cancel }: Working): Promise<void> {
  const { ledger, tools } = deps;
  const how = { pinned: true, limit: LANES };
  while (!cancel.aborted && (await ledger.canaries.hold(canary.id, { ...how, now: tools.now() })).length > 0);
  for await (const lane of lanesIn(deps, canary, 'held')) await letGo(deps, canary, { lane: lane.lane, state: null });
  const now = tools.now();
  const isOver = now > (canary.finishedAt ?? now) + CLAIMED_MS;
  if (!cancel.aborted) await move(deps, canary, { to: 'stopped', dueAt: isOver ? null : now + LOOK_AGAIN_MS });
}

async function letGo(
  { ledger, tools, nudge, log }: CanaryDeps,
  { id }: Canary,
  { lane, state }: { readonly lane: LaneId; readonly state: CanaryLane['state'] | null },
): Promise<void> {
  const next = await ledger.canaries.letGo(id, lane, { state, now: tools.now() });
  if (next === null) return;
  await nudge([next]).catch((error: unknown) => {
    log.warn({ canary: id, lane, error: String(error) }, 'could not schedule a turn; the sweep will do it');
  });
}

async function* lanesIn(
  { ledger }: CanaryDeps,
  { id }: Canary,
  state?: CanaryLane['state'],
): AsyncGenerator<CanaryLane> {
  const read = (last: CanaryLane | null, limit: number) =>
    ledger.canaries.lanes(id, {
      limit,
      ...(state !== undefined && { state }),
      ...(last !== null && { after: last.lane }),
    });
  for await (const slice of slicesOf(read)) yield* slice;
}

/** One lane after the other: undone, then let go so that its batches are consolidated again. */
async function undo(deps: CanaryDeps, { canary, cancel }: Working): Promise<void> {
  const { ledger, tools, log } = deps;
  await holdAll(deps, canary, cancel);
  let standing = await standingOf(deps, canary);
  let waiting: Failure | null = null;
  while (!cancel.aborted && standing.open < OPEN_LANES) {
    const [next] = await ledger.canaries.lanes(canary.id, { state: 'held', limit: 1 });
    if (next === undefined) break;
    const { expected } = await estimateLane(ledger, canary.id, next.lane);
    // What is undone already is finished, whatever it costs.
    const begun = next.batches > 0;
    waiting = begun ? null : beyond(canary, addSpent(standing.spent, expected), tools.now());
    if (waiting !== null) break;
    await move(deps, canary, { to: 'undoing', dueAt: tools.now() + LEASE_MS });
    await undoLane(deps, canary, next.lane);
    standing = { open: standing.open + 1, spent: addSpent(standing.spent, expected), left: standing.left };
  }
  const isOver = standing.open === 0 && waiting === null && !cancel.aborted;
  if (!isOver) {
    await move(deps, canary, { to: 'undoing', dueAt: tools.now() + UNDO_AGAIN_MS, waiting });
    return;
  }
  const now = tools.now();
  log.info({ canary: canary.id, left: standing.left }, 'a canary is undone');
  const data = { canary_id: canary.id, owners_left: standing.left };
  const news = { type: 'canary.undone', at: now, data } as const;
  await move(deps, canary, { to: 'undone', dueAt: null, waiting: null, finishedAt: now, news });
}

async function undoLane(deps: CanaryDeps, canary: Canary, lane: LaneId): Promise<void> {
  const isUndone = await takeBackLane(deps, canary, lane);
  await letGo(deps, canary, { lane, state: isUndone ? 'replayed' : 'left' });
}

interface Standing {
  /** Lanes whose batches wait again or are worked on. */
  readonly open: number;
  /** By the second consolidation so far; of open lanes what is expected of them, if that is more. */
  readonly spent: Spent;
  /** Lanes that stay as they are. */
  readonly left: number;
}

async function standingOf(deps: CanaryDeps, canary: Canary): Promise<Standing> {
  const { ledger } = deps;
  let standing: Standing = { open: 0, spent: NOTHING_SPENT, left: 0 };
  for await (const lane of lanesIn(deps, canary)) {
    const { open, spent, left } = standing;
    if (lane.state === 'left') standing = { open, spent, left: left + 1 };
    if (lane.state === 'done') standing = { open, spent: addSpent(spent, lane.used), left };
    if (lane.state !== 'replayed') continue;
    const again = await ledger.canaries.again(canary.id, lane.lane);
    const used = await spentOn(ledger, again.consolidations);
    const isOpen = again.open > 0;
    await ledger.canaries.mark(canary.id, lane.lane, { state: isOpen ? 'replayed' : 'done', used });
    const counted = isOpen && used.tokens < lane.expected.tokens ? lane.expected : used;
    standing = { open: open + (isOpen ? 1 : 0), spent: addSpent(spent, counted), left };
  }
  return standing;
}

/** Why the next lane has to wait for a larger budget; null: it need not. */
function beyond({ budget }: Canary, { calls, tokens, cost }: Spent, now: number): Failure | null {
  const reached =
    (budget.calls !== null && calls > budget.calls && `${budget.calls} calls`) ||
    (budget.tokens !== null && tokens > budget.tokens && `${budget.tokens} tokens`) ||
    (budget.cost !== null && (cost ?? Number.POSITIVE_INFINITY) > budget.cost && `a cost of ${budget.cost}`);
  if (!reached) return null;
  const message = `the next owner would exceed the budget of the undo (${reached}); start the undo again with a larger budget`;
  return { code: 'budget_exhausted', message, at: now };
}

/** A figure of a canary beside that of the rest. */
export interface WatchedFigure extends Comparison {
  /** How much worse the canary may be. */
  readonly margin: Margin;
  readonly verdict: 'fine' | 'worse' | 'unclear';
}

export interface Watched {
  /** The other owners in the same time, for everybody's figures change as they go on; once it has them all, what was before. */
  readonly beside: 'others' | 'before';
  /** Consolidations on each side. */
  readonly consolidations: { readonly canary: number; readonly rest: number };
  readonly figures: readonly WatchedFigure[];
  /** How often something was concluded, this time included. */
  readonly looks: number;
  /** After so many consolidations with the changes it is looked at next. */
  readonly nextAt: number;
}

/** The newest consolidations of each side: what was worse a long time ago counts no more. */
const WATCHED = 400;
/** Of fewer nothing is concluded. */
const CONSOLIDATIONS_MIN = 20;
/**
 * How probable it is at most that a canary halts whose changes change nothing, by all figures and however often it is looked at.
 * Each look has its share of that (`shareOfLook`), and in a look each way in which a figure can be worse.
 */
export const FALSE_ALARM = 0.02;
/** Looks are so much rarer as there are more consolidations: each has to be surer than the one before. */
const MORE = 0.3;
const MORE_MAX = 100;
/** So many looks come until a canary of usual steps is over: they have most of the shares. */
const EARLY_LOOKS = 10;

/** What was measured stays as it is, so that each consolidation is read once by a process. */
type Known = Map<string, Figures>;

/**
 * Sees how a canary does, beside owners that it does not have and what its own were like before. Between two looks nothing is
 * concluded, and what was seen at the last one is answered.
 */
function canaryWatch({ ledger, tools }: Pick<EngineDeps, 'ledger' | 'tools'>): (canary: Canary) => Promise<Watched> {
  let known: Known = new Map();
  return async (canary) => {
    const { id, tenant, bounds, createdAt, stepAt } = canary;
    const beside = besideOf(canary);
    const now = tools.now();
    const own = await ledger.canaries.watched(tenant, id, { since: createdAt, until: now, limit: WATCHED });
    const count = own.length < WATCHED ? own.length : await ledger.canaries.appliedSince(id, 0);
    const last = watchedFrom(canary.watched);
    if (last !== null && isStillRight(last, { beside, count })) return last;
    const times = beside === 'others' ? { since: createdAt, until: now } : { since: 0, until: stepAt };
    const others = await ledger.canaries.watched(tenant, null, { ...times, limit: WATCHED });
    const measured: Known = new Map();
    for (const one of [...own, ...others]) {
      measured.set(one.id, known.get(one.id) ?? figuresOf(await measuredIn({ ledger }, { ...one, tenant })));
    }
    known = measured;
    const looks = (last?.looks ?? 0) + 1;
    const [rest, variant] = [byOwner(others, measured), byOwner(own, measured)];
    const comparisons = compare(rest, variant, { level: levelOf(looks, waysIn(rest, variant)) });
    const isEnough = Math.min(own.length, others.length) >= CONSOLIDATIONS_MIN;
    return {
      beside,
      consolidations: { canary: own.length, rest: others.length },
      figures: comparisons.map((comparison) => judged(comparison, bounds)),
      looks: isEnough ? looks : looks - 1,
      nextAt: count + Math.min(Math.ceil(count * MORE), MORE_MAX),
    };
  };
}

const besideOf = ({ steps, step }: Canary): Watched['beside'] =>
  (steps[step]?.share ?? 0) < 100 ? 'others' : 'before';

const isStillRight = (last: Watched, now: { readonly beside: Watched['beside']; readonly count: number }): boolean =>
  last.looks > 0 && last.beside === now.beside && now.count < last.nextAt;

/** Of looks without end these shares are 1 together: c / ((n + c − 1)(n + c)) is the difference of c / (n + c − 1) and c / (n + c). */
const shareOfLook = (look: number): number => EARLY_LOOKS / ((look + EARLY_LOOKS - 1) * (look + EARLY_LOOKS));

/** How sure the intervals of a look have to be, where figures can be worse in so many ways. On either side they are wrong half as often. */
export const levelOf = (look: number, ways: number): number => 1 - (2 * FALSE_ALARM * shareOfLook(look)) / ways;

function waysIn(...sides: readonly (readonly OwnerFigures[])[]): number {
  const isIn = (name: FigureName, side: readonly OwnerFigures[]): boolean =>
    side.some(({ figures }) => (figures[name]?.of ?? 0) > 0);
  return FIGURE_NAMES.filter((name) => sides.every((side) => isIn(name, side))).reduce(
    (sum, name) => sum + (kindOf(name).worse === 'either' ? 2 : 1),
    0,
  );
}

function byOwner(side: readonly WatchedConsolidation[], measured: Known): readonly OwnerFigures[] {
  return [...Map.groupBy(side, ({ lane }) => lane)].map(([owner, some]) => ({
    owner,
    figures: addFigures(some.flatMap(({ id }) => measured.get(id) ?? [])),
  }));
}

function judged(comparison: Comparison, bounds: Canary['bounds']): WatchedFigure {
  const margin = marginOf(comparison.figure, bounds);
  return { ...comparison, margin, verdict: verdictOf(comparison, margin) };
}

/** As the canary says, in the figure's own way; else as it is usual. */
function marginOf(figure: FigureName, bounds: Canary['bounds']): Margin {
  const { margin } = kindOf(figure);
  const own = bounds[figure];
  return own === undefined ? margin : { ...margin, by: own };
}

/** The figures for which a canary is halted. Those that are only other than before are no reason: time alone changes them. */
const pastBounds = ({ beside, consolidations: { canary, rest }, figures }: Watched): readonly WatchedFigure[] =>
  Math.min(canary, rest) < CONSOLIDATIONS_MIN
    ? []
    : figures.filter(
        ({ figure, verdict }) => verdict === 'worse' && (beside === 'others' || kindOf(figure).worse !== 'either'),
      );

const storedWatched = (watched: Watched): JsonObject => JSON.parse(JSON.stringify(watched));
export const watchedFrom = (stored: JsonObject | null): Watched | null => stored as Watched | null;
