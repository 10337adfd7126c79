import type { EngineDeps } from '../deps.ts';
import { type Comparison, compare, type OwnerFigures, verdictOf } from '../figures/compare.ts';
import { addFigures, type FigureName, type Figures, kindOf, type Margin } from '../figures/figures.ts';
import { figuresOf } from '../figures/measure.ts';
import { measuredIn } from '../figures/measured.ts';
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
}

/** The newest consolidations of each side: what was worse a long time ago counts no more. */
const WATCHED = 400;
/** Of fewer nothing is concluded. */
const CONSOLIDATIONS_MIN = 20;
/** Figures are looked at again and again: they have to be surer than those that are looked at once. */
const LEVEL = 0.999;

/** What was measured stays as it is, so that each consolidation is read once by a process. */
type Known = Map<string, Figures>;

/** Sees how a canary does, beside owners that it does not have and what its own were like before. */
export function canaryWatch({
  ledger,
  tools,
}: Pick<EngineDeps, 'ledger' | 'tools'>): (canary: Canary) => Promise<Watched> {
  let known: Known = new Map();
  return async (canary) => {
    const { id, tenant, bounds, createdAt, stepAt } = canary;
    const beside = (canary.steps[canary.step]?.share ?? 0) < 100 ? 'others' : 'before';
    const now = tools.now();
    const times = beside === 'others' ? { since: createdAt, until: now } : { since: 0, until: stepAt };
    const sides = {
      canary: await ledger.canaries.watched(tenant, id, { since: createdAt, until: now, limit: WATCHED }),
      rest: await ledger.canaries.watched(tenant, null, { ...times, limit: WATCHED }),
    };
    const measured: Known = new Map();
    for (const one of [...sides.canary, ...sides.rest]) {
      measured.set(one.id, known.get(one.id) ?? figuresOf(await measuredIn({ ledger }, { ...one, tenant })));
    }
    known = measured;
    const comparisons = compare(byOwner(sides.rest, measured), byOwner(sides.canary, measured), { level: LEVEL });
    return {
      beside,
      consolidations: { canary: sides.canary.length, rest: sides.rest.length },
      figures: comparisons.map((comparison) => judged(comparison, bounds)),
    };
  };
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
