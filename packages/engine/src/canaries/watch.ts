import type { EngineDeps } from '../deps.ts';
import { type Comparison, compare, type OwnerFigures, verdictOf } from '../figures/compare.ts';
import { addFigures, FIGURE_NAMES, type FigureName, type Figures, kindOf, type Margin } from '../figures/figures.ts';
import { figuresOf, measuredIn } from '../figures/measure.ts';
import type { Canary, WatchedConsolidation } from '../ports/ledger/canaries.ts';
import type { JsonObject } from '../words.ts';

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
export function canaryWatch({
  ledger,
  tools,
}: Pick<EngineDeps, 'ledger' | 'tools'>): (canary: Canary) => Promise<Watched> {
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
export const pastBounds = ({ beside, consolidations: { canary, rest }, figures }: Watched): readonly WatchedFigure[] =>
  Math.min(canary, rest) < CONSOLIDATIONS_MIN
    ? []
    : figures.filter(
        ({ figure, verdict }) => verdict === 'worse' && (beside === 'others' || kindOf(figure).worse !== 'either'),
      );

export const storedWatched = (watched: Watched): JsonObject => JSON.parse(JSON.stringify(watched));
export const watchedFrom = (stored: JsonObject | null): Watched | null => stored as Watched | null;
