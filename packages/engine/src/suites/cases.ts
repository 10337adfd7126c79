import type { EngineDeps } from '../deps.ts';
import { addFigures, type Figures, type Tally } from '../figures/figures.ts';
import { figuresOf, languageOf, measuredIn } from '../figures/measure.ts';
import { originOf } from '../ids.ts';
import type { Plan } from '../plan.ts';
import type { SuiteCase } from '../ports/ledger/replays.ts';
import type { Consolidation } from '../ports/ledger/thoughts.ts';
import { sameText } from '../text/normalise.ts';
import { containment, overlap } from '../text/terms.ts';
import type {
  BatchSettings,
  Content,
  EventKind,
  JsonObject,
  MarkedTrust,
  Millis,
  Role,
  Scope,
  SpeakersClock,
  VersionDetails,
} from '../words.ts';

/** What a case of a suite holds: all that is needed to consolidate its conversation again, and to judge what comes of it. */
export interface CaseContent {
  /** Of most that was said; null: it is not clear. */
  readonly language: string | null;
  /** What was known before. */
  readonly memories: readonly KnownMemory[];
  readonly batches: readonly CaseBatch[];
  /** What should come of it. null: nobody knows. */
  readonly stored: Outcome | null;
  /** How it went where it was recorded. null: it came from a file without figures. */
  readonly measured: MeasuredCase | null;
  readonly questions: readonly CaseQuestion[];
}

export interface KnownMemory extends Pick<VersionDetails, 'category' | 'language' | 'about'> {
  readonly id: string;
  readonly text: string;
  readonly at: Millis;
  readonly validFrom: Millis;
}

export interface CaseBatch {
  readonly id: string;
  readonly scope: Scope;
  readonly settings: BatchSettings;
  /** What was consolidated together is again: batches of one window have the same number. */
  readonly window: number;
  readonly messages: readonly CaseMessage[];
}

interface CaseMessage {
  readonly id: string;
  readonly clientId: string | null;
  readonly role: Role;
  readonly content: Content;
  readonly name: string | null;
  readonly at: Millis;
  readonly clock?: SpeakersClock;
  readonly trust?: MarkedTrust;
}

interface MeasuredCase {
  readonly figures: Figures;
  readonly calls: number;
  readonly tokens: number;
}

export interface CaseQuestion {
  readonly query: string;
  /** Texts of memories that answer it; none: nothing is known that does. */
  readonly expects: readonly string[];
}

export const contentOf = ({ content }: Pick<SuiteCase, 'content'>): CaseContent => content as unknown as CaseContent;

export const storedContent = (content: CaseContent): JsonObject => JSON.parse(JSON.stringify(content));

/** What consolidations of one owner made, and how they went. */
interface Made extends MeasuredCase {
  readonly outcome: Omit<Outcome, 'live'>;
}

/** Those that are over, in life or in a shadow space; messages are called as in life. */
export async function madeBy(
  deps: Pick<EngineDeps, 'ledger'>,
  consolidations: readonly Pick<Consolidation, 'id' | 'tenant' | 'batchIds'>[],
): Promise<Made> {
  const facts: GoldFact[] = [];
  const changes: GoldChange[] = [];
  const figures: Figures[] = [];
  let [calls, tokens] = [0, 0];
  for (const one of consolidations) {
    const measured = await measuredIn(deps, one);
    figures.push(figuresOf(measured));
    const { plan } = measured;
    if (plan === null) continue;
    facts.push(...factsOf(plan));
    changes.push(...changesOf(plan));
    calls += plan.usage.calls;
    tokens += plan.usage.promptTokens + plan.usage.completionTokens;
  }
  return { outcome: { facts, changes }, figures: addFigures(figures), calls, tokens };
}

/** Facts that were dropped were found as well, but nothing was remembered of them. */
function factsOf({ facts, outcomes }: Plan): readonly GoldFact[] {
  const dropped = new Set(outcomes.flatMap(({ fact, outcome }) => (outcome === 'DROPPED' ? [fact] : [])));
  return facts
    .filter(({ id }) => !dropped.has(id))
    .map(({ text, quote, language, sourceIds }) => ({
      ...{ text, quote, language: languageOf(text) ?? language },
      sources: sourceIds.map(originOf),
    }));
}

const changesOf = ({ operations }: Plan): readonly GoldChange[] =>
  operations.flatMap(({ event, before }) =>
    (event === 'UPDATE' || event === 'DELETE') && before !== null ? [{ event, before }] : [],
  );

/** A fact as it is held against another one. */
interface GoldFact {
  readonly text: string;
  readonly quote: string | null;
  readonly language: string | null;
  /** The messages it came from, by names that both sides have. */
  readonly sources: readonly string[];
}

/** What became of a memory that was known. */
interface GoldChange {
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

interface AgainstGold {
  readonly figures: Figures;
  /** Of each language that facts are in: those kept. */
  readonly keptByLanguage: Readonly<Record<string, Tally>>;
  readonly lost: readonly GoldFact[];
}

/** What was made held against what was stored before. */
export function figuresAgainst(stored: Outcome, made: Outcome): AgainstGold {
  const pairs = pairsOf(stored.facts, made.facts);
  const lost = stored.facts.filter((fact) => !pairs.has(fact));
  const ended = stored.changes.filter(({ before }) => !stored.live.some((text) => sameText(text, before)));
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
      deletes_kept: share(deletions, (change) => !made.live.some((text) => sameText(text, change.before))),
      stale: share(ended, ({ before }) => made.live.some((text) => sameText(text, before))),
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
  (a, b) => (sameText(a.text, b.text) ? 1 : 0),
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

const isAlike = (a: string, b: string): boolean => sameText(a, b) || overlap(a, b) > ALIKE;
