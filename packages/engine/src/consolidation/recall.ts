import type { EngineDeps } from '../deps.ts';
import { EngineError } from '../errors.ts';
import { askedBy } from '../models/embed.ts';
import type { Fact } from '../plan.ts';
import type { Cancellation } from '../ports/tools.ts';
import { vectorTextsOfMessages } from '../projection/make-points.ts';
import { markerOf, sameMarker } from '../projection/own-index.ts';
import { spaceIn } from '../replays/space.ts';
import { inSlices } from '../slices.ts';
import { isWishToForget } from './extract/own-wish.ts';
import { candidatesOf, memoriesOf, tombstonesOf } from './recall/candidates.ts';
import { neighboursOf, vectorsFor } from './recall/neighbours.ts';
import { type Ground, isNear, nearEachOther, pairNear, repeatsOf, undisputed } from './recall/repeats.ts';
import type { Extracted, Recalled } from './values.ts';

/** Finds for each fact the owner's nearest memories, those the index does not have yet included. */
export async function recall(deps: EngineDeps, extracted: Extracted, cancel: Cancellation): Promise<Recalled> {
  const { facts, turn } = extracted;
  if (facts.length === 0) return { ...extracted, ...NOTHING };
  await believeIndex(deps);
  const passing = messageTexts(deps, extracted);
  const texts = facts.map((fact) => fact.text);
  const vectorOf = await vectorsFor(deps, { turn, texts, passing }, cancel);
  const neighbours = await neighboursOf(deps, { extracted, vectorOf, cancel });
  const memories = await memoriesOf(deps, turn, neighbours);
  const candidates = candidatesOf(facts, neighbours, memories);
  const ground = { candidates, memories, near: pairNear(vectorOf, deps.settings.near) };
  return {
    ...extracted,
    // What has none so far is asked for again where it is projected.
    vectors: new Map(
      [...texts, ...passing].map((text) => [text, vectorOf(text)] as const).filter(([, vector]) => askedBy(vector)),
    ),
    candidates,
    memories,
    repeats: await repeatsAmong(deps, facts, ground),
    tombstones: await tombstonesOf(deps, extracted),
    undecided: await isUndecided(deps, facts, ground),
  };
}

const NOTHING = {
  candidates: [],
  memories: new Map(),
  repeats: new Map(),
  tombstones: new Map(),
  undecided: false,
};

/** An index that lost its data would make known things look new. */
async function believeIndex(deps: EngineDeps): Promise<void> {
  const marker = await deps.index.marker();
  const mine = markerOf(deps);
  if (sameMarker(marker, mine)) return;
  const got = marker === null ? 'an empty one' : `one of ledger ${marker.ledgerId} for ${marker.fingerprint}`;
  throw new EngineError(
    `expected the index of ledger ${mine.ledgerId} for ${mine.fingerprint}, got ${got}; it is rebuilt at the next start`,
    { code: 'index_unavailable', retryable: true },
  );
}

/** Embedded with the facts, in one call: nobody waits for another one when the messages are projected. */
const messageTexts = ({ settings }: EngineDeps, { turn, messages }: Extracted): readonly string[] =>
  settings.messagesInIndex === 'hybrid' && spaceIn(turn.tenant) === null
    ? vectorTextsOfMessages(messages.filter(({ batchId }) => turn.batchIds.includes(batchId)))
    : [];

/** Facts that a rule may decide: nothing but repeats of what is there. */
async function repeatsAmong(
  { tools }: EngineDeps,
  facts: readonly Fact[],
  ground: Ground,
): Promise<Recalled['repeats']> {
  const remembered = facts.filter((fact) => !isWishToForget(fact));
  const repeats = await inSlices(tools, repeatsOf(remembered, ground.candidates, ground.memories));
  return inSlices(tools, undisputed(facts, repeats, ground));
}

/** Whether there is anything for a model to decide. */
async function isUndecided({ tools, settings }: EngineDeps, facts: readonly Fact[], ground: Ground): Promise<boolean> {
  const { candidates, near } = ground;
  // What somebody wants forgotten need not share a word with the wish: whatever was recalled is looked at.
  if (candidates.length > 0 && facts.some(isWishToForget)) return true;
  if (candidates.some(({ recalledBy }) => recalledBy.some((scores) => isNear(scores, settings.near)))) return true;
  return inSlices(tools, nearEachOther(facts, near));
}
