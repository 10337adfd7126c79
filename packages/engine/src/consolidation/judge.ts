import type { EngineDeps } from '../deps.ts';
import { spokenOf } from '../messages/reading.ts';
import { clockText, isFromTheFuture } from '../messages/said-when.ts';
import type { Fact, Remark } from '../plan.ts';
import { pages } from '../ports/ledger/page.ts';
import { inSlices } from '../slices.ts';
import { isoOf } from '../text/dates.ts';
import { normaliseText } from '../text/normalise.ts';
import type { JsonObject, Message } from '../words.ts';
import { isOwnWish } from './extract/own-wish.ts';
import { guarding } from './guard/guard.ts';
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
