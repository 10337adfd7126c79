import type { EngineDeps } from '../deps.ts';
import { holdsAt, lastSaidAt } from '../memories/evolve.ts';
import { clockText, isFromTheFuture, spokenOf } from '../messages/message.ts';
import type { RawOperation } from '../models/parse/listed.ts';
import type { Fact, FactOutcome, HeldOperation, Operation, Remark } from '../plan.ts';
import type { Tombstone } from '../ports/ledger/memories.ts';
import { pages } from '../ports/ledger/page.ts';
import { atOnce, inSlices, type Sliced } from '../slices.ts';
import { isoOf } from '../text/dates.ts';
import { normaliseText } from '../text/normalise.ts';
import { type JsonObject, type Memory, type MemoryEvent, type Message, saidBefore } from '../words.ts';
import { isOwnWish, isWishToForget } from './extract/rules.ts';
import { Bench, type GuardInput } from './guard/bench.ts';
import { attribute } from './guard/mem0-shape.ts';
import { add, carryOutAll, describe, forgetAsked, say, type Wording } from './guard/wishes.ts';
import type { Repeat } from './repeats.ts';
import type { Decided, Guarded } from './values.ts';

/** Holds the wishes of the model against the rules: what comes out may be applied. */
export async function judge(deps: EngineDeps, decided: Decided): Promise<Guarded> {
  const { tools, settings } = deps;
  const { turn, facts, candidates, memories } = decided;
  const { tenant, lane, owner, scope } = turn;
  const heard = decided.messages.filter(({ resent }) => !resent).map((message) => spokenOf(message));
  const sourcesOf = sourcesIn(decided);
  const work = guarding(
    {
      home: { tenant, lane, owner, scope },
      consolidationId: turn.consolidationId,
      facts,
      candidates,
      memories,
      metadataOf: (fact) => metadataOf(decided, sourcesOf(fact)),
      isOwnWish: (fact) => isOwnWish(fact, heard),
      expiresAt: turn.settings.expiresAt,
      deletesMax: settings.deletesPerConsolidation,
      review: decided.rules.review,
      waiting: await additionsWaiting(deps, decided),
      tools,
    },
    { ...decided, addOnly: turn.settings.mode === 'verbatim' || turn.settings.mode === 'add_only' },
  );
  const verdicts = await inSlices(tools, work);
  return { ...decided, ...verdicts, remarks: [...verdicts.remarks, ...remarksOnTime(decided)] };
}

/** The oldest for each text; none whose memory is there by now. */
async function additionsWaiting(
  { ledger }: EngineDeps,
  { turn: { tenant, lane }, rules }: Decided,
): Promise<ReadonlyMap<string, string>> {
  const waiting = new Map<string, string>();
  if (!rules.review.includes('ADD')) return waiting;
  for await (const { operation } of pages((page) => ledger.reviews.list(tenant, { state: 'pending', lane }, page)))
    if (operation.kind === 'ADD') waiting.set(normaliseText(operation.after ?? ''), operation.memoryId);
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

/** The one end of a fact: what rules can tell is told without the model. `asked`: what was wished for it. */
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

/** Told of a memory of which more was said since, it becomes a former version: nothing comes back by it. */
function joinsFormer(bench: Bench, fact: Fact, { event, id }: RawOperation): boolean {
  const memory = event === 'UPDATE' || event === 'NONE' ? bench.resolve(id) : undefined;
  return memory !== undefined && saidBefore(fact.saidAt, lastSaidAt(memory));
}

function buried(bench: Bench, fact: Fact): FactOutcome {
  bench.remarks.push({ asked: `ADD of ${fact.id}`, did: 'dropped: the same memory was deleted after this was said' });
  return { fact: fact.id, outcome: 'DROPPED', reason: 'its memory was deleted after this was said' };
}
