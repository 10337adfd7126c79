import { normaliseText } from '../text/normalise.ts';
import { containment, overlap } from '../text/terms.ts';
import type { EventKind } from '../words.ts';
import type { Figures, Tally } from './figures.ts';

/** A fact as it is held against another one. */
export interface GoldFact {
  readonly text: string;
  readonly quote: string | null;
  readonly language: string | null;
  /** The messages it came from, by names that both sides have. */
  readonly sources: readonly string[];
}

/** What became of a memory that was known. */
export interface GoldChange {
  readonly event: Extract<EventKind, 'UPDATE' | 'DELETE'>;
  readonly before: string;
}

/** What consolidations of an owner made, as far as it can be told without ids. */
export interface Outcome {
  readonly facts: readonly GoldFact[];
  readonly changes: readonly GoldChange[];
  /** The texts that hold at the end. */
  readonly live: readonly string[];
}

export interface AgainstGold {
  readonly figures: Figures;
  /** Of each language that facts are in: those kept. */
  readonly keptByLanguage: Readonly<Record<string, Tally>>;
  readonly lost: readonly GoldFact[];
}

/** What was made held against what was stored before. */
export function figuresAgainst(stored: Outcome, made: Outcome): AgainstGold {
  const pairs = pairsOf(stored.facts, made.facts);
  const lost = stored.facts.filter((fact) => !pairs.has(fact));
  const ended = stored.changes.filter(({ before }) => !stored.live.some((text) => isSame(text, before)));
  const deletions = stored.changes.filter(({ event }) => event === 'DELETE');
  const isIn = (changes: readonly GoldChange[], { before }: GoldChange): boolean =>
    changes.some((one) => isAlike(one.before, before));
  const share = <T>(all: readonly T[], counts: (one: T) => boolean): Tally => ({
    part: all.filter(counts).length,
    of: all.length,
  });
  const languages = Map.groupBy(stored.facts, ({ language }) => language ?? 'unknown');
  return {
    figures: {
      facts_kept: share(stored.facts, (fact) => pairs.has(fact)),
      facts_new: { part: made.facts.length - pairs.size, of: made.facts.length },
      targets_hit: share(stored.changes, (change) => isIn(made.changes, change)),
      targets_other: share(made.changes, (change) => !isIn(stored.changes, change)),
      deletes_kept: share(deletions, (change) => !made.live.some((text) => isSame(text, change.before))),
      stale: share(ended, ({ before }) => made.live.some((text) => isSame(text, before))),
    },
    keptByLanguage: Object.fromEntries(
      [...languages].map(([language, facts]) => [language, share(facts, (fact) => pairs.has(fact))]),
    ),
    lost,
  };
}

/** Each stored fact with the one found again, by quote and message, then by words; none is taken twice. */
function pairsOf(stored: readonly GoldFact[], made: readonly GoldFact[]): ReadonlyMap<GoldFact, GoldFact> {
  const pairs = new Map<GoldFact, GoldFact>();
  const left = new Set(made);
  for (const likeness of LIKENESSES) {
    const found = stored
      .filter((fact) => !pairs.has(fact))
      .flatMap((fact) => [...left].map((other) => ({ fact, other, by: likeness(fact, other) })))
      .filter(({ by }) => by > 0)
      .sort((a, b) => b.by - a.by);
    for (const { fact, other } of found) {
      if (pairs.has(fact) || !left.has(other)) continue;
      pairs.set(fact, other);
      left.delete(other);
    }
  }
  return pairs;
}

type Likeness = (a: GoldFact, b: GoldFact) => number;

const sharesSource = (a: GoldFact, b: GoldFact): boolean => a.sources.some((id) => b.sources.includes(id));

/** Above 0: they are the same. One quote may hold two facts: then words tell which is which. */
const LIKENESSES: readonly Likeness[] = [
  (a, b) => (isSame(a.text, b.text) ? 1 : 0),
  (a, b) => {
    if (a.quote === null || b.quote === null || !sharesSource(a, b)) return 0;
    const shared = Math.max(containment(a.quote, b.quote), containment(b.quote, a.quote));
    return shared >= QUOTED ? shared + overlap(a.text, b.text) : 0;
  },
  (a, b) => (sharesSource(a, b) ? Math.max(0, overlap(a.text, b.text) - NEAR) : 0),
  (a, b) => Math.max(0, overlap(a.text, b.text) - ALIKE),
];

const QUOTED = 0.6;
/** Of one message… */
const NEAR = 0.34;
/** …and of any. */
const ALIKE = 0.6;

const isSame = (a: string, b: string): boolean => normaliseText(a) === normaliseText(b);
const isAlike = (a: string, b: string): boolean => isSame(a, b) || overlap(a, b) > ALIKE;
