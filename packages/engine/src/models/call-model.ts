import type { EngineDeps } from '../deps.ts';
import { EngineError, wasAsked } from '../errors.ts';
import type { SentCall, SettledCall } from '../ports/ledger/usage.ts';
import type { MeasuredCall, TurnIds } from '../ports/meter.ts';
import type { ChatAnswer, ChatCall, TokenUse } from '../ports/models.ts';
import type { Cancellation } from '../ports/tools.ts';
import type { ModelPrice } from '../settings.ts';
import { type Book, mayUse } from './book.ts';
import { costOfUse } from './prices.ts';

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

const tooLong = ({ text }: ChatAnswer, { name }: ChatCall): EngineError =>
  new EngineError(
    `expected ${name} to answer with at most ${ANSWER_CHARS_MAX} characters, got ${text.length}; the answer was discarded. ` +
      'If this persists, lower the output limit or use another model.',
    { code: 'model_output_unusable', retryable: true },
  );

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
      failure: failureOf(error),
      usage: mayBePaid(error) ? mayUse(call) : NOTHING,
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
      } else await book.usage.settle([settled('refused', { model, usage: NOTHING, cost: 0 })]);
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

const NOTHING: TokenUse = { promptTokens: 0, completionTokens: 0 };

const mayBePaid = (error: unknown): boolean => !(error instanceof EngineError) || error.read;

const failureOf = (error: unknown): MeasuredCall['failure'] => (error instanceof EngineError ? error.code : 'unknown');
