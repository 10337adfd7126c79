import type { EngineDeps } from '../deps.ts';
import { ask, inHalves, isLastOfTurn, promptUse } from '../models/ask.ts';
import { operationsIn, type RawOperation } from '../models/parse/listed.ts';
import { DECIDE, type DecideInput } from '../models/prompts/consolidation.ts';
import { customPrompt, type Prompt } from '../models/prompts/prompt.ts';
import { forStep } from '../models/steps.ts';
import type { Candidate, Fact } from '../plan.ts';
import { type Cancellation, inSlices, type Sliced } from '../ports/tools.ts';
import type { TenantSettings } from '../settings.ts';
import { factTerms } from '../text/claims.ts';
import { localIsoOf } from '../text/dates.ts';
import { cleanText, surelyFits } from '../text/normalise.ts';
import { overlap } from '../text/terms.ts';
import type { BatchSettings } from '../words.ts';
import type { Decided, Recalled } from './consolidate.ts';
import { candidatesByFact } from './recall.ts';

/**
 * Asks what the facts do to their neighbours; not at all where nothing is near, or all is a repeat. One call, unless
 * there is more to decide than one call can take.
 */
export async function decide(given: EngineDeps, recalled: Recalled, cancel: Cancellation): Promise<Decided> {
  const { turn, repeats, undecided, rules } = recalled;
  const deps = forStep(given, 'decide', rules);
  const open = recalled.facts.filter((fact) => !repeats.has(fact.id));
  if (open.length === 0 || !undecided || isByRule(turn.settings)) return { ...recalled, asked: null };
  const prompt = promptOf(rules);
  const limits = {
    tokens: deps.settings.decideTokens,
    count: deps.tokenizer.count,
    overlap: deps.settings.near.overlap,
  };
  const asked: RawOperation[] = [];
  const discards = [...recalled.discards];
  const groups = await inSlices(deps.tools, decideGroups(open, recalled.candidates, limits));
  const halving = {
    ask: (group: DecideGroup, step: string) =>
      ask(
        { deps, turn, cancel },
        {
          ...{ step, prompt, shape: operationsIn },
          ask: 'Decide what each fact does to the memories.',
          input: inputOf(recalled, group),
        },
      ),
    halve: (group: DecideGroup) => inSlices(deps.tools, halvesOf(group, limits)),
    isLast: () => isLastOfTurn(deps, turn),
  };
  for (const [i, group] of groups.entries()) {
    for (const { items, unread } of await inHalves(halving, group, i === 0 ? 'decide' : `decide:${i + 1}`)) {
      asked.push(...items);
      discards.push(...unread);
    }
  }
  return { ...recalled, asked, discards, prompts: [...recalled.prompts, promptUse(deps, prompt)] };
}

/** What is stored as it is, and procedures, only ever join what is there; so do all facts where a batch says so. */
const isByRule = ({ mode }: BatchSettings): boolean => mode !== 'decide';

const promptOf = ({ prompts }: TenantSettings): Prompt =>
  prompts.decide === null ? DECIDE : customPrompt(DECIDE, prompts.decide);

/** Facts of earlier calls are shown as memories, under their own ids: a later fact may take their place. */
function inputOf({ turn, rules }: Recalled, { facts, candidates, earlier }: DecideGroup): DecideInput {
  const instructions = [rules.decideInstructions, turn.settings.instructions].filter((text) => text !== null);
  const memories = candidates.map(({ shortId, ...candidate }) => ({ ...candidate, id: shortId }));
  return {
    facts: facts.map(shown),
    memories: [...memories, ...earlier].map(shown),
    ...(instructions.length === 0 ? {} : { instructions: cleanText(instructions.join('\n')) }),
  };
}

const shown = ({
  id,
  text,
  saidAt,
  utcOffset,
}: Pick<Fact, 'id' | 'text' | 'saidAt' | 'utcOffset'>): DecideInput['facts'][number] => ({
  id,
  // What was written explicitly was never read: what nobody sees in it is not shown to models either.
  text: cleanText(text),
  said_at: localIsoOf(saidAt.at, utcOffset),
});

/** What one decide call is asked: some facts, the memories near them, and facts decided on before that may be meant. */
interface DecideGroup {
  readonly facts: readonly Fact[];
  readonly candidates: readonly Candidate[];
  readonly earlier: readonly Fact[];
}

interface GroupLimits {
  /** Of one call's facts and memories together. */
  readonly tokens: number;
  readonly count: (text: string) => number;
  /** From which share of common words on an earlier fact may be about the same thing. */
  readonly overlap: number;
}

/** What JSON puts around a fact or memory: id, time and names of fields, in tokens. */
const AROUND_TEXT = 30;
/** Of earlier facts that one fact is shown. */
const EARLIER_MAX = 3;

/** Consecutive facts in as few groups as fit one call each; nearly always it is one, with everything in it. */
export function* decideGroups(
  facts: readonly Fact[],
  candidates: readonly Candidate[],
  limits: GroupLimits,
): Sliced<readonly DecideGroup[]> {
  const texts = [...facts, ...candidates].map(({ text }) => text);
  if (surelyFits(texts, { ...limits, around: AROUND_TEXT })) return [{ facts, candidates, earlier: [] }];
  const cuts = yield* cutsOf(facts, candidates, limits);
  if (cuts.length === 1) return [{ facts, candidates, earlier: [] }];
  const groups: DecideGroup[] = [];
  for (const [i, from] of cuts.entries()) {
    const group = facts.slice(from, cuts[i + 1]);
    const ids = new Set(group.map(({ id }) => id));
    const near = yield* nearEarlier(group, facts.slice(0, from), limits);
    groups.push({ facts: group, candidates: candidates.filter((one) => recalledFor(one, ids)), earlier: near });
  }
  return groups;
}

/**
 * The same in two calls, each with the memories near its facts; the second is shown what of the first it may mean. null: one
 * fact is decided on as a whole.
 */
export function* halvesOf(
  group: DecideGroup,
  limits: Pick<GroupLimits, 'overlap'>,
): Sliced<readonly DecideGroup[] | null> {
  const { facts, candidates, earlier } = group;
  if (facts.length < 2) return null;
  const middle = Math.ceil(facts.length / 2);
  const halves: DecideGroup[] = [];
  for (const [before, half] of [
    [earlier, facts.slice(0, middle)],
    [[...earlier, ...facts.slice(0, middle)], facts.slice(middle)],
  ] as const) {
    const ids = new Set(half.map(({ id }) => id));
    const near = yield* nearEarlier(half, before, limits);
    halves.push({ facts: half, candidates: candidates.filter((one) => recalledFor(one, ids)), earlier: near });
  }
  return halves;
}

/** Where each group begins. A fact brings the candidates with it that no fact of its group has brought yet. */
function* cutsOf(
  facts: readonly Fact[],
  candidates: readonly Candidate[],
  { tokens, count }: GroupLimits,
): Sliced<number[]> {
  const costOf = (text: string): number => count(text) + AROUND_TEXT;
  const costs = new Map<Candidate, number>();
  for (const candidate of candidates) {
    costs.set(candidate, costOf(candidate.text));
    yield;
  }
  const brought = candidatesByFact(candidates);
  const cuts = [0];
  let shown = new Set<Candidate>();
  let spent = 0;
  for (const [i, fact] of facts.entries()) {
    const mine = brought.get(fact.id) ?? [];
    const added = (known: ReadonlySet<Candidate>): number =>
      mine.reduce(
        (sum, candidate) => sum + (known.has(candidate) ? 0 : (costs.get(candidate) ?? 0)),
        costOf(fact.text),
      );
    if (i > 0 && spent + added(shown) > tokens) {
      cuts.push(i);
      shown = new Set();
      spent = 0;
    }
    spent += added(shown);
    for (const candidate of mine) shown.add(candidate);
    yield;
  }
  return cuts;
}

const recalledFor = ({ recalledBy }: Candidate, facts: ReadonlySet<string>): boolean =>
  recalledBy.some(({ fact }) => facts.has(fact));

/** The earlier facts nearest to those of a group, in the order they were said. */
function* nearEarlier(
  group: readonly Fact[],
  earlier: readonly Fact[],
  limits: Pick<GroupLimits, 'overlap'>,
): Sliced<readonly Fact[]> {
  const words = earlier.map((fact) => ({ fact, terms: factTerms(fact.text) }));
  const near = new Set<Fact>();
  for (const { text } of group) {
    const asked = factTerms(text);
    const nearest = words
      .map(({ fact, terms }) => ({ fact, score: overlap(asked, terms) }))
      .filter(({ score }) => score >= limits.overlap)
      .toSorted((a, b) => b.score - a.score)
      .slice(0, EARLIER_MAX);
    for (const { fact } of nearest) near.add(fact);
    yield;
  }
  return earlier.filter((fact) => near.has(fact));
}
