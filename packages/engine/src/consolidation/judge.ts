import type { EngineDeps } from '../deps.ts';
import { holdsAt, lastSaidAt } from '../memories/evolve.ts';
import { attacksInLong, clockText, isFromTheFuture, type Spoken, spokenOf } from '../messages/messages.ts';
import type { RawOperation } from '../models/parse/listed.ts';
import type { Candidate, Fact, FactOutcome, HeldOperation, Operation, Remark, SeenAttack } from '../plan.ts';
import type { Review } from '../ports/ledger/feedback.ts';
import { pages } from '../ports/ledger/ledger.ts';
import type { Tombstone } from '../ports/ledger/memories.ts';
import { atOnce, inSlices, type Sliced } from '../ports/tools.ts';
import { isoOf } from '../text/dates.ts';
import { normaliseText } from '../text/normalise.ts';
import { type Comparable, overlap, termSet } from '../text/terms.ts';
import { type JsonObject, type Memory, type MemoryEvent, type Message, saidBefore } from '../words.ts';
import type { Decided, Guarded } from './consolidate.ts';
import { isOwnWish, isWishToForget } from './extract/rules.ts';
import { Bench, type GuardInput } from './guard/changes.ts';
import { add, carryOutAll, describe, forgetAsked, say, type Wording } from './guard/wishes.ts';
import type { Repeat } from './recall.ts';

/** Holds the wishes of the model against the rules: what comes out may be applied. */
export async function judge(deps: EngineDeps, decided: Decided): Promise<Guarded> {
  const { tools, settings } = deps;
  const { turn, facts, candidates, memories, shared } = decided;
  const { tenant, lane, owner, scope } = turn;
  const heard = decided.messages.filter(({ resent }) => !resent).map((message) => spokenOf(message));
  const sourcesOf = sourcesIn(decided);
  const attacks = await attacksAmong(deps, heard);
  const attacking = new Set(attacks.map(({ messageId }) => messageId));
  const work = guarding(
    {
      home: { tenant, lane, owner, scope },
      consolidationId: turn.consolidationId,
      facts,
      candidates,
      memories,
      shared,
      metadataOf: (fact) => metadataOf(decided, sourcesOf(fact)),
      isFlagged: ({ sourceIds }) => sourceIds.some((id) => attacking.has(id)),
      isOwnWish: (fact) => isOwnWish(fact, heard),
      expiresAt: turn.settings.expiresAt,
      deletesMax: settings.deletesPerConsolidation,
      review: decided.rules.review,
      // A record of what an agent did is one of its tools, too.
      externalWaits: decided.rules.externalContent === 'review' && turn.settings.mode !== 'procedural',
      waiting: await additionsWaiting(deps, decided),
      tools,
    },
    { ...decided, addOnly: turn.settings.mode === 'verbatim' || turn.settings.mode === 'add_only' },
  );
  const verdicts = await inSlices(tools, work);
  const remarks = [...decided.remarks, ...verdicts.remarks, ...remarksOnTime(decided), ...attacks.map(remarkOn)];
  return { ...decided, ...verdicts, attacks, remarks };
}

async function attacksAmong({ tools }: EngineDeps, heard: readonly Spoken[]): Promise<readonly SeenAttack[]> {
  const seen: SeenAttack[] = [];
  for (const { message, text } of heard) {
    const kinds = await inSlices(tools, attacksInLong(text));
    if (kinds.length > 0) seen.push({ messageId: message.id, kinds });
  }
  return seen;
}

const remarkOn = ({ messageId, kinds }: SeenAttack): Remark => ({
  asked: `${kinds.join(', ').replaceAll('_', ' ')} in message ${messageId}`,
  did: 'treated as data, like every message; facts from it are flagged',
});

/** The oldest for each text; none whose memory is there by now. */
async function additionsWaiting(
  { ledger }: EngineDeps,
  { turn: { tenant, lane, settings, scope }, rules, facts }: Decided,
): Promise<ReadonlyMap<string, string>> {
  const waiting = new Map<string, string>();
  if (!rules.review.includes('ADD') && !facts.some(({ trust }) => trust === 'external')) return waiting;
  const isKnown = (review: Review): boolean => settings.ownAppOnly !== true || review.scope.appId === scope.appId;
  for await (const review of pages((page) => ledger.reviews.list(tenant, { state: 'pending', lane }, page))) {
    const { operation } = review;
    if (operation.kind === 'ADD' && isKnown(review))
      waiting.set(normaliseText(operation.after ?? ''), operation.memoryId);
  }
  const there = new Set((await ledger.memories.many(tenant, [...waiting.values()])).map(({ id }) => id));
  return new Map([...waiting].filter(([, memoryId]) => !there.has(memoryId)));
}

/** Local time that is sent as UTC is common: who reads the plan sees it. */
const remarksOnTime = ({ messages }: Decided): readonly Remark[] =>
  messages.filter(isFromTheFuture).map((message) => ({
    asked: `a message with the time ${clockText(message)}, after it was accepted`,
    did: `treated as said at ${isoOf(message.saidAt.at)}, when it was accepted; send timestamps with the speaker's UTC offset`,
  }));

/** The messages a fact came from, in the order in which they were said. */
function sourcesIn({ messages }: Decided): (fact: Fact) => readonly Message[] {
  const places = new Map(messages.map(({ id }, i) => [id, i]));
  return ({ sourceIds }) => {
    const at = [...new Set(sourceIds)].flatMap((id) => places.get(id) ?? []).sort((a, b) => a - b);
    return at.flatMap((place) => messages[place] ?? []);
  };
}

/** What the callers attached to the batches a fact came from; the later batch wins. */
function metadataOf({ metadata }: Decided, sources: readonly Message[]): JsonObject {
  // Not by assignment: a key may be called __proto__.
  return Object.fromEntries(sources.flatMap((message) => Object.entries(metadata.get(message.batchId) ?? {})));
}

export interface Verdicts {
  readonly operations: readonly Operation[];
  readonly held: readonly HeldOperation[];
  readonly outcomes: readonly FactOutcome[];
  readonly remarks: readonly Remark[];
  readonly events: readonly MemoryEvent[];
}

interface Wishes {
  /** null: no model was asked. */
  readonly asked: readonly RawOperation[] | null;
  readonly repeats: ReadonlyMap<string, Repeat>;
  readonly tombstones: ReadonlyMap<string, Tombstone>;
  /** Nothing that is known may be changed: facts are added, or confirm what holds. */
  readonly addOnly?: boolean;
}

/**
 * Turns what a model wishes into what will be done. Nothing the model wrote is trusted: each wish is carried out,
 * repaired or refused, with a reason. Invariants: every fact ends with exactly one outcome; a fact is never lost by a
 * deletion; no memory outside the ones shown is touched; whatever changes, changes by an event.
 */
function* guarding(input: GuardInput, wishes: Wishes): Sliced<Verdicts> {
  const bench = new Bench(ownOnly(input));
  const open = input.facts.filter((fact) => !wishes.repeats.has(fact.id));
  const asked = wishes.asked === null ? null : yield* attribute(wishes.asked, open, bench.input.candidates);
  const byFact = Map.groupBy(asked ?? [], (wish) => wish.fact);
  refuseStrays(bench, asked ?? [], new Set(open.map((fact) => fact.id)));
  for (const fact of input.facts) {
    bench.end(outcomeOf(bench, fact, { ...wishes, asked: asked === null ? null : (byFact.get(fact.id) ?? []) }));
    yield;
  }
  const { operations, held, outcomes, remarks, events } = bench;
  return { operations, held: held.operations, outcomes, remarks, events };
}

/** The same at once. */
export const guard = (input: GuardInput, wishes: Wishes): Verdicts => atOnce(guarding(input, wishes));

/** Memories of other lanes are not there, whatever an index says. */
function ownOnly(input: GuardInput): GuardInput {
  const { tenant, lane } = input.home;
  const memories = new Map(
    [...input.memories].filter(([, memory]) => memory.tenant === tenant && memory.lane === lane),
  );
  return { ...input, memories, candidates: input.candidates.filter(({ memoryId }) => memories.has(memoryId)) };
}

/** Wishes that stand for no fact of this question change nothing. */
function refuseStrays(bench: Bench, raw: readonly RawOperation[], known: ReadonlySet<string>): void {
  for (const wish of raw) {
    if (wish.fact !== null && known.has(wish.fact)) continue;
    if (wish.fact === null && wish.event === 'NONE') continue;
    bench.remarks.push({ asked: describe(wish), did: 'refused: not based on any fact' });
  }
}

/** The one end of a fact: what rules can decide is decided without the model. `asked`: what was wished for it. */
function outcomeOf(bench: Bench, fact: Fact, { asked, repeats, tombstones, addOnly = false }: Wishes): FactOutcome {
  const wishes = asked ?? [];
  if (isWishToForget(fact)) return forgetAsked(bench, fact, wishes);
  const repeat = repeats.get(fact.id);
  const known = repeat === undefined ? undefined : repeated(bench, repeat);
  const mayConfirm = known !== undefined && (!addOnly || holdsAt(known, fact.saidAt, fact.text));
  const how: Wording = { text: fact.text, reason: 'said before in the same words', decidedBy: 'rule' };
  if (known !== undefined && mayConfirm) return say(bench, fact, { ...how, memory: known });
  if (tombstones.has(fact.id)) {
    const joining = wishes.filter((wish) => joinsFormer(bench, fact, wish));
    return joining.length > 0 ? carryOutAll(bench, fact, joining) : buried(bench, fact);
  }
  if (asked === null || repeat !== undefined) {
    return add(bench, fact, { ...how, reason: addOnly ? 'added without a decision' : 'no similar memory' });
  }
  return carryOutAll(bench, fact, wishes);
}

/** Not there where the fact it repeats was dropped: it is then a fact of its own. */
const repeated = (bench: Bench, repeat: Repeat): Memory | undefined =>
  bench.memory(repeat.kind === 'memory' ? repeat.memoryId : (bench.memoryOfFact.get(repeat.fact) ?? ''));

/** Where more was said of its memory since, it becomes a former version: nothing comes back by it. */
function joinsFormer(bench: Bench, fact: Fact, { event, id }: RawOperation): boolean {
  const memory = event === 'UPDATE' || event === 'NONE' ? bench.resolve(id) : undefined;
  return memory !== undefined && saidBefore(fact.saidAt, lastSaidAt(memory));
}

function buried(bench: Bench, fact: Fact): FactOutcome {
  bench.remarks.push({ asked: `ADD of ${fact.id}`, did: 'dropped: the same memory was deleted after this was said' });
  return { fact: fact.id, outcome: 'DROPPED', reason: 'its memory was deleted after this was said' };
}

/**
 * mem0's older answers do not say which fact an entry stands for. Each entry takes the fact not yet taken whose words
 * are nearest to its own, among those whose recall showed the memory it names. An entry that only repeats a memory
 * takes none. Entries that find no fact stay without; facts that no entry takes are left over.
 */
export function* attribute(
  raw: readonly RawOperation[],
  facts: readonly Fact[],
  candidates: readonly Candidate[],
): Sliced<readonly RawOperation[]> {
  const nameOf = factNames(facts);
  const named = raw.map((operation) => ({ ...operation, fact: nameOf(operation) }));
  if (named.every((operation) => operation.fact !== null)) return named;
  const open = new Map(facts.map((fact) => [fact.id, fact]));
  for (const { fact } of named) if (fact !== null) open.delete(fact);
  const shown = new Map(candidates.map((candidate) => [candidate.shortId, candidate]));
  const known = new Set(candidates.map(({ text }) => normaliseText(text)));
  const found = new Map<RawOperation, string>();
  const taken = new Set<Candidate | undefined>();
  const entries = named
    .filter((operation) => operation.fact === null)
    .map((operation) => ({ operation, memory: memoryNamed(operation, shown) }))
    .filter((entry) => !isEcho(entry, known));
  // Sure matches first, so that an entry further up the list cannot take another's fact.
  for (const pass of PASSES) {
    for (const entry of entries.filter(({ operation }) => !found.has(operation))) {
      yield;
      if (open.size === 0) break;
      const isSecond = taken.has(entry.memory);
      const fact = pass({ ...entry, isSecond }, factsShown(entry, [...open.values()]));
      if (fact === undefined) continue;
      found.set(entry.operation, fact.id);
      taken.add(entry.memory);
      open.delete(fact.id);
    }
  }
  return named.map((operation) => ({ ...operation, fact: operation.fact ?? found.get(operation) ?? null }));
}

/** The fact's id as it was given, or as models bend it: a bare number, a capital, the fact's own words. */
function factNames(facts: readonly Fact[]): (operation: RawOperation) => string | null {
  const ids = new Set(facts.map(({ id }) => id));
  const byText = new Map(facts.toReversed().map(({ id, text }) => [text, id]));
  return ({ fact }) => {
    if (fact === null || ids.has(fact)) return fact;
    const bent = fact.toLowerCase();
    return [bent, `f${bent}`].find((id) => ids.has(id)) ?? byText.get(fact) ?? fact;
  };
}

interface Entry {
  readonly operation: RawOperation;
  readonly memory: Candidate | undefined;
}

const memoryNamed = ({ id }: RawOperation, shown: ReadonlyMap<string, Candidate>): Candidate | undefined =>
  id === null ? undefined : shown.get(id);

/** A memory written down again, to say that it stays as it is. */
function isEcho({ operation: { event, text } }: Entry, known: ReadonlySet<string>): boolean {
  if (event !== 'NONE' && event !== null) return false;
  return text === null || known.has(normaliseText(text));
}

/** Facts whose recall showed the memory an entry names; all of them where it names none that was shown. */
function factsShown({ operation, memory }: Entry, facts: readonly Fact[]): readonly Fact[] {
  if (memory === undefined || operation.event === 'ADD') return facts;
  const by = new Set(memory.recalledBy.map(({ fact }) => fact));
  return facts.filter(({ id }) => by.has(id));
}

/** `isSecond`: another entry that names the same memory has its fact already. */
type Pass = (entry: Entry & { readonly isSecond: boolean }, facts: readonly Fact[]) => Fact | undefined;

const sameWords: Pass = ({ operation: { text } }, facts) => {
  const words = text === null ? null : normaliseText(text);
  return words === null ? undefined : facts.find((fact) => wordsOf(fact) === words);
};

/** Every fact is held against every entry. */
const words = new WeakMap<Fact, { readonly text: string; readonly terms: ReadonlySet<string> }>();

function comparable(fact: Fact): { readonly text: string; readonly terms: ReadonlySet<string> } {
  const known = words.get(fact) ?? { text: normaliseText(fact.text), terms: termSet(fact.text) };
  words.set(fact, known);
  return known;
}

const wordsOf = (fact: Fact): string => comparable(fact).text;
/** A text without any term is alike only to what is spelt the same. */
const termsOf = (fact: Fact): Comparable => (comparable(fact).terms.size === 0 ? fact.text : comparable(fact).terms);
const termsIn = (text: string): Comparable => {
  const terms = termSet(text);
  return terms.size === 0 ? text : terms;
};

/** Less in common than this may be by accident. */
const LEAST_OVERLAP = 0.34;

const likeWords: Pass = ({ operation: { event, text } }, facts) =>
  text === null || !isNews(event) ? undefined : nearest(facts, overlapWith(termsIn(text)), LEAST_OVERLAP);

/** The memory reworked: what is new in it comes from some fact. */
const newWords: Pass = ({ operation: { event, text }, memory }, facts) => {
  if (text === null || !isNews(event) || memory === undefined) return undefined;
  const known = termSet(memory.text);
  const added = new Set([...termSet(text)].filter((term) => !known.has(term)));
  return nearest(facts, overlapWith(added), Number.MIN_VALUE);
};

/** Without words of its own, or with the memory's in a DELETE, any fact the memory was shown for may be meant. */
const anyShown: Pass = ({ operation: { event, text }, memory, isSecond }, facts) => {
  if (event === 'NONE' || isSecond || (event !== 'DELETE' && text !== null)) return undefined;
  if (memory === undefined && event !== 'ADD') return undefined;
  return nearest(facts, overlapWith(termsIn(memory?.text ?? '')), 0);
};

const overlapWith =
  (asked: Comparable) =>
  (fact: Fact): number =>
    overlap(asked, termsOf(fact));

/** The text of a DELETE or NONE is the memory's, not a fact's. */
const isNews = (event: RawOperation['event']): boolean => event !== 'DELETE' && event !== 'NONE';

const PASSES: readonly Pass[] = [sameWords, likeWords, newWords, anyShown];

/** The first of the best that reach the least. */
function nearest(facts: readonly Fact[], scoreOf: (fact: Fact) => number, least: number): Fact | undefined {
  let best: { fact: Fact; score: number } | undefined;
  for (const fact of facts) {
    const score = scoreOf(fact);
    if (score >= least && (best === undefined || score > best.score)) best = { fact, score };
  }
  return best?.fact;
}
