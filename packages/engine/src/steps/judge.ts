import type { EngineDeps } from '../deps.ts';
import type { Fact, Remark } from '../plan.ts';
import { guard } from '../rules/guard/guard.ts';
import { spokenOf } from '../rules/messages.ts';
import { isOwnWish } from '../rules/own-wish.ts';
import { clockText, isFromTheFuture } from '../rules/said-when.ts';
import { isoOf } from '../text/iso.ts';
import type { JsonObject } from '../words.ts';
import type { Decided, Guarded } from './values.ts';

/** Holds the wishes of the model against the rules: what comes out may be applied. */
export function judge({ tools, settings }: EngineDeps, decided: Decided): Guarded {
  const { turn, facts, candidates, memories } = decided;
  const { tenant, lane, owner, scope } = turn;
  const heard = decided.messages.filter(({ resent }) => !resent).map((message) => spokenOf(message));
  const verdicts = guard(
    {
      home: { tenant, lane, owner, scope },
      consolidationId: turn.consolidationId,
      facts,
      candidates,
      memories,
      metadataOf: (fact) => metadataOf(decided, fact),
      isOwnWish: (fact) => isOwnWish(fact, heard),
      expiresAt: turn.settings.expiresAt,
      deletesMax: settings.deletesPerConsolidation,
      review: decided.rules.review,
      tools,
    },
    { ...decided, addOnly: !turn.settings.infer || turn.settings.mode === 'add_only' },
  );
  return { ...decided, ...verdicts, remarks: [...verdicts.remarks, ...remarksOnTime(decided)] };
}

/** Local time that is sent as UTC is common: who reads the plan sees it. */
const remarksOnTime = ({ messages }: Decided): readonly Remark[] =>
  messages.filter(isFromTheFuture).map((message) => ({
    asked: `a message said at ${clockText(message)}, later than it was accepted`,
    did: `counted as said at ${isoOf(message.saidAt.at)}, when it was accepted; send timestamps with the speaker's offset`,
  }));

/** What the callers attached to the batches a fact came from; the later batch wins. */
function metadataOf({ messages, metadata }: Decided, fact: Fact): JsonObject {
  const sources = messages.filter((message) => fact.sourceIds.includes(message.id));
  // Not by assignment: a key may be called __proto__.
  return Object.fromEntries(sources.flatMap((message) => Object.entries(metadata.get(message.batchId) ?? {})));
}
