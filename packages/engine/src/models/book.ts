import { spaceIn } from '../ids.ts';
import type { Turn } from '../ports/ledger/lanes.ts';
import type { UsageStep } from '../ports/ledger/overview.ts';
import type { CallFor, Cause, SentCall, UsageStore } from '../ports/ledger/usage.ts';
import type { ChatCall, TokenUse } from '../ports/models.ts';
import { estimateTokens } from '../text/normalise.ts';
import type { TenantId } from '../words.ts';

/** Where a call is counted: before it is sent, and when it has ended. */
export interface Book {
  readonly of: CallFor;
  readonly usage: Pick<UsageStore, 'note' | 'settle'>;
  /** Right before it is sent; where it throws nobody is asked. */
  note(call: SentCall): Promise<unknown>;
}

/** What asks a model beside the turns of consolidations. */
export type Purpose = Extract<Cause, 'summary' | 'graph' | 'sleep' | 'recall' | 'preview'>;

interface Causing {
  readonly tenant: TenantId;
  /** Missing: a consolidation. */
  readonly purpose?: Purpose | undefined;
  /** Failed tries before this one. */
  readonly attempts?: number;
  /** As of a `ChatCall`: every second time a broken answer is repaired. */
  readonly again?: number | undefined;
  readonly forSuite?: true | undefined;
}

/** Why a call is made. */
export function causeOf({ tenant, purpose, attempts = 0, again = 0, forSuite }: Causing): Cause {
  if (spaceIn(tenant) !== null) return forSuite ? 'suite' : 'what-if';
  if (purpose !== undefined) return purpose;
  if (again % 2 === 1) return 'repair';
  return attempts + again > 0 ? 'retry' : 'live';
}

/** A call of a turn. One of a preview belongs to no consolidation, and its owner may have no lane. */
export const callOfTurn = (turn: Turn, step: UsageStep, how: Pick<Causing, 'again' | 'forSuite'> = {}): CallFor => ({
  tenant: turn.tenant,
  lane: turn.lane === '' ? null : turn.lane,
  consolidationId: turn.purpose === 'preview' ? null : turn.consolidationId,
  appId: turn.scope.appId,
  keyId: turn.keyId ?? null,
  step,
  cause: causeOf({ ...turn, again: how.again, forSuite: how.forSuite }),
});

/** Tokens an answer may well take, where nothing is known of it. */
const ANSWER_TOKENS = 1_000;
/** What an image may well take: providers count from a hundred to two thousand tokens. */
const IMAGE_TOKENS = 2_000;
/** Tokenizers differ by about as much from an estimate. */
const TO_BE_SAFE = 1.2;

/** What a call may have used that is never answered: rather more than less, so that the bill is not above it. */
export function mayUse({ system, user, schema, images = [] }: ChatCall): TokenUse {
  const texts = [system, user, JSON.stringify(schema)].reduce((sum, text) => sum + estimateTokens(text), 0);
  const promptTokens = Math.ceil(texts * TO_BE_SAFE) + images.length * IMAGE_TOKENS;
  return { promptTokens, completionTokens: Math.max(ANSWER_TOKENS, Math.ceil(estimateTokens(user) * TO_BE_SAFE)) };
}
