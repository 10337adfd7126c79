import type { MeasuredRow, MeasuredStretch, Opinions } from '../ports/ledger/overview.ts';
import { type Comparison, compare, type FigureVerdict, type OwnerFigures, verdictOf } from './compare.ts';
import type { Tally } from './figures.ts';

export interface DriftedFigure extends Comparison {
  readonly verdict: FigureVerdict;
}

/** What changed lately in how consolidations go: a stretch of time against the one before it. */
export interface Drift {
  readonly figures: readonly DriftedFigure[];
  /** What people and outcomes were against. */
  readonly opinions: readonly DriftedOpinion[];
  /** How many consolidations each chat model has made, of those that were read; the most used one first. */
  readonly models: readonly { readonly model: string; readonly before: number; readonly recent: number }[];
}

export interface DriftedOpinion {
  readonly of: keyof Opinions | 'consolidations';
  readonly before: Tally;
  readonly recent: Tally;
}

/** `model`: of that chat model alone; null: of all. */
export function driftOf(before: MeasuredStretch, recent: MeasuredStretch, model: string | null): Drift {
  const asked = ({ consolidations }: MeasuredStretch): readonly MeasuredRow[] =>
    consolidations.filter((row) => model === null || row.model === model);
  const [old, young] = [asked(before), asked(recent)];
  const groupOf = groups();
  const owners = (rows: readonly MeasuredRow[]): readonly OwnerFigures[] =>
    rows.map(({ lane, figures }) => ({ owner: groupOf(lane), figures }));
  const opinion = (of: keyof Opinions): DriftedOpinion => ({
    of,
    before: before.opinions[of],
    recent: recent.opinions[of],
  });
  return {
    figures: compare(owners(old), owners(young)).map((one) => ({ ...one, verdict: verdictOf(one) })),
    opinions: [
      { of: 'consolidations', before: undone(old), recent: undone(young) },
      opinion('reviews'),
      opinion('ratings'),
      opinion('outcomes'),
    ],
    models: modelsOf(before.consolidations, recent.consolidations),
  };
}

/** Intervals are drawn over so many groups of owners at most, so that nobody waits long for them. */
const GROUPS = 100;

function groups(): (lane: string) => string {
  const places = new Map<string, number>();
  return (lane) => {
    const place = places.get(lane) ?? places.size;
    places.set(lane, place);
    return String(place % GROUPS);
  };
}

const undone = (rows: readonly MeasuredRow[]): Tally => ({
  part: rows.filter((row) => row.undone).length,
  of: rows.length,
});

function modelsOf(before: readonly MeasuredRow[], recent: readonly MeasuredRow[]): Drift['models'] {
  const count = (rows: readonly MeasuredRow[], model: string): number =>
    rows.filter((row) => row.model === model).length;
  const names = [...new Set([...recent, ...before].map(({ model }) => model))];
  return names
    .map((model) => ({ model, before: count(before, model), recent: count(recent, model) }))
    .sort((a, b) => b.recent + b.before - a.recent - a.before);
}
