import type { EngineDeps } from '../deps.ts';
import { EngineError, FencedError, wasAsked } from '../errors.ts';
import { spaceIn } from '../ids.ts';
import { checkHolds } from '../limits/holds.ts';
import type { Turn } from '../ports/ledger/lanes.ts';
import { type UsageStep, usageStepOf } from '../ports/ledger/overview.ts';
import type { CallFor, Cause, SentCall, SettledCall, UsageStore } from '../ports/ledger/usage.ts';
import { type ChatAnswer, type ChatCall, NOTHING_USED, type TokenUse } from '../ports/models.ts';
import type { Cancellation, MeasuredCall, TurnIds } from '../ports/tools.ts';
import type { ModelPrice } from '../settings.ts';
import { estimateTokens } from '../text/normalise.ts';
import { failureOf } from '../views/views.ts';
import type { TenantId } from '../words.ts';
import type { Asking } from './ask.ts';
import { batched, costOfUse } from './limits.ts';

/** Who calls a model. */
export interface Caller {
  readonly deps: Pick<EngineDeps, 'chat' | 'meter' | 'tools'>;
  /** null: outside of a consolidation. */
  readonly turn: TurnIds | null;
  readonly prices: Readonly<Record<string, ModelPrice>>;
  readonly cancel: Cancellation;
  /** null: counted to nobody. */
  readonly book: Book | null;
}

export interface Called {
  readonly answer: ChatAnswer;
  /** To be settled with what the answer is stored with; null: counted to nobody. */
  readonly call: SettledCall | null;
}

/**
 * Characters of one answer: twice what the longest outputs of models come to, 128,000 tokens of English. All of it is read at
 * once, while others who share the process wait.
 */
const ANSWER_CHARS_MAX = 1_000_000;

/**
 * One call of the chat model. It is noted right before it is sent, and the meter learns of every call that was really asked, answered
 * or not. What failed is counted here; an answer is counted by whoever stores it.
 */
export async function callModel(caller: Caller, call: ChatCall): Promise<Called> {
  const { deps, turn, prices, cancel, book } = caller;
  const { chat, meter, tools } = deps;
  const startedAt = tools.now();
  const entry = entryOf(caller, call);
  // As configured: a server may answer under any name.
  const record = (model: string, ended: Pick<MeasuredCall, 'failure' | 'usage' | 'cost'>): void =>
    meter.call(turn, {
      ...ended,
      kind: call.name,
      model,
      cause: book?.of.cause ?? null,
      startedAt,
      endedAt: tools.now(),
    });
  const recordFailed = (error: unknown): void => {
    const model = error instanceof EngineError ? error.model : null;
    record(model ?? chat.name, {
      failure: failureCodeOf(error),
      usage: mayBePaid(error) ? mayUse(call) : NOTHING_USED,
      cost: 0,
    });
  };
  const passedOn = async (error: EngineError): Promise<void> => {
    recordFailed(error);
    await entry.failed(error, true);
    await call.passedOn?.(error);
  };
  try {
    const answer = await chat.ask({ ...call, lastLook: entry.note, passedOn }, cancel);
    if (answer.text.length > ANSWER_CHARS_MAX) throw tooLong(answer, call);
    const spent = withCost(answer.model, answer.usage, prices);
    record(answer.asked ?? chat.name, { failure: null, usage: spent.usage, cost: spent.cost ?? 0 });
    return { answer, call: entry.settled('answered', { model: answer.model, ...spent }) };
  } catch (error) {
    const asked = wasAsked(error, cancel);
    if (asked) recordFailed(error);
    await entry.failed(error, asked);
    throw error;
  }
}

const tooLong = ({ text }: ChatAnswer, { name }: ChatCall): EngineError =>
  new EngineError(
    `expected ${name} to answer with at most ${ANSWER_CHARS_MAX} characters, got ${text.length}; the answer was discarded. ` +
      'If this persists, lower the output limit or use another model.',
    { code: 'model_output_unusable', retryable: true },
  );

/** Where one call stands in its book. */
interface Entry {
  note(): Promise<void>;
  /** null: there is no book. */
  settled(outcome: SettledCall['outcome'], used: Pick<SentCall, 'model' | 'usage' | 'cost'>): SettledCall | null;
  failed(error: unknown, asked: boolean): Promise<void>;
}

function entryOf({ deps, prices, book }: Caller, call: ChatCall): Entry {
  const { chat, tools } = deps;
  const look = async (): Promise<void> => call.lastLook?.();
  if (book === null) return { note: look, settled: () => null, failed: async () => {} };
  const model = chat.name;
  const estimate = { model, ...withCost(model, mayUse(call), prices) };
  const next = (): SentCall => ({ ...book.of, ...estimate, id: tools.id('cal'), at: tools.now() });
  let sent = next();
  let isNoted = false;
  const settled = (outcome: SettledCall['outcome'], used: Pick<SentCall, 'model' | 'usage' | 'cost'>): SettledCall => {
    const tookMs = Math.max(0, tools.now() - sent.at);
    return { ...sent, ...used, outcome, noted: isNoted ? estimate : null, tookMs };
  };
  return {
    note: async () => {
      await look();
      await book.note(sent);
      isNoted = true;
    },
    settled,
    failed: async (error, asked) => {
      if (!asked && !isNoted) return;
      // What it may have read stays as it was noted: nobody says what it cost.
      if (mayBePaid(error)) {
        if (!isNoted) await book.usage.note(sent);
      } else await book.usage.settle([settled('refused', { model, usage: NOTHING_USED, cost: 0 })]);
      // A model that stands in is asked by a call of its own.
      sent = next();
      isNoted = false;
    },
  };
}

const withCost = (model: string, usage: TokenUse, prices: Caller['prices']) => ({
  usage,
  cost: costOfUse(model, usage, prices),
});

const mayBePaid = (error: unknown): boolean => !(error instanceof EngineError) || error.read;

const failureCodeOf = (error: unknown): MeasuredCall['failure'] =>
  error instanceof EngineError ? error.code : 'unknown';

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
function mayUse(call: ChatCall): TokenUse {
  const promptTokens = Math.ceil(callTokens(call) * TO_BE_SAFE) + (call.images ?? []).length * IMAGE_TOKENS;
  return { promptTokens, completionTokens: Math.max(ANSWER_TOKENS, Math.ceil(estimateTokens(call.user) * TO_BE_SAFE)) };
}

/** How long a call is with its schema, as well as that can be known beforehand. */
export const callTokens = (call: ChatCall): number => promptTokens(call) + lengthsOf(call).schema;

/** The same of its prompt alone. */
export const promptTokens = (call: ChatCall): number => lengthsOf(call).system + estimateTokens(call.user);

interface Lengths {
  readonly system: number;
  readonly schema: number;
}

/** Of the instructions that calls with a schema had last: they are long, and the same in nearly all of them. */
const LENGTHS = new WeakMap<ChatCall['schema'], Lengths & { readonly text: string }>();

function lengthsOf({ system: text, schema }: ChatCall): Lengths {
  const known = LENGTHS.get(schema);
  if (known?.text === text) return known;
  const lengths = { text, system: estimateTokens(text), schema: estimateTokens(JSON.stringify(schema)) };
  LENGTHS.set(schema, lengths);
  return lengths;
}

/** A provider answers a job within a day; an hour more, and the question is asked by itself. */
const UNTIL_MS = 25 * 3_600_000;

interface Waiting {
  readonly step: string;
  readonly inputHash: string;
  readonly call: ChatCall;
}

/**
 * Throws where a question of backfill waits for a job of the provider, which the batches then say, or for who is held. It returns where
 * the question is to be asked now.
 */
export async function waitForBulk(
  { deps, turn }: Pick<Asking, 'deps' | 'turn'>,
  { step, inputHash, call }: Waiting,
): Promise<void> {
  const { bulk, chat, ledger, tools } = deps;
  // A preview is of no batch.
  if (bulk === null || bulk.model !== chat.name || turn.batchIds.length === 0) return;
  const now = tools.now();
  const waits = new EngineError(
    'this backfill waits for a batch job at the model provider, which finishes within a day at a lower price; a live message takes it out of the job',
    { code: 'waits_for_batch', retryable: true, retryAfterMs: UNTIL_MS, countsAsTry: false },
  );
  const { name, system, user, schema } = call;
  const model = batched(bulk.model);
  const usage = mayUse(call);
  const rules = await ledger.settings.get(turn.tenant);
  const of = callOfTurn(turn, usageStepOf(step));
  await checkHolds(deps, { of, rules });
  const counted = { ...of, model, usage, cost: costOfUse(model, usage, rules.prices) };
  const { kind } = await ledger.bulk.ask(turn, {
    ...{
      id: tools.id('ask'),
      step,
      inputHash,
      call: { name, system, user, schema },
      counted,
      now,
      until: now + UNTIL_MS,
    },
    why: failureOf(waits, now),
  });
  if (kind === 'fenced') throw new FencedError(turn.consolidationId);
  if (kind === 'waits') throw waits;
}
