import type { EngineDeps } from '../deps.ts';
import { EngineError, wasAsked } from '../errors.ts';
import type { ModelCall } from '../ports/ledger/thoughts.ts';
import type { MeasuredCall, TurnIds } from '../ports/meter.ts';
import type { ChatAnswer, ChatCall } from '../ports/models.ts';
import type { Cancellation } from '../ports/tools.ts';
import type { ModelPrice } from '../settings.ts';
import { estimateTokens } from '../text/normalise.ts';
import { knownCost } from './limits.ts';

/** Who calls a model. */
export interface Caller {
  readonly deps: Pick<EngineDeps, 'chat' | 'meter' | 'tools'>;
  /** null: outside of a consolidation. */
  readonly turn: TurnIds | null;
  readonly prices: Readonly<Record<string, ModelPrice>>;
  readonly cancel: Cancellation;
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

/** One call of the chat model. The meter learns of every call that was really asked, answered or not. */
export async function callModel({ deps, turn, prices, cancel }: Caller, call: ChatCall): Promise<ChatAnswer> {
  const { chat, meter, tools } = deps;
  const startedAt = tools.now();
  // As configured: a server may answer under any name.
  const record = (asked: string, model: string, ended: Pick<MeasuredCall, 'failure' | 'usage'>): void =>
    meter.call(turn, {
      ...ended,
      kind: call.name,
      model: asked,
      cost: knownCost([{ model, ...ended.usage }], prices),
      startedAt,
      endedAt: tools.now(),
    });
  const recordFailed = (error: unknown): void => {
    const { model, usage } = unanswered(deps, call, error);
    record(model, model, { failure: failureOf(error), usage });
  };
  const passedOn = async (error: EngineError): Promise<void> => {
    recordFailed(error);
    await call.passedOn?.(error);
  };
  try {
    const answer = await chat.ask({ ...call, passedOn }, cancel);
    if (answer.text.length > ANSWER_CHARS_MAX) throw tooLong(answer, call);
    record(answer.asked ?? chat.name, answer.model, { failure: null, usage: answer.usage });
    return answer;
  } catch (error) {
    if (wasAsked(error, cancel)) recordFailed(error);
    throw error;
  }
}

const failureOf = (error: unknown): MeasuredCall['failure'] => (error instanceof EngineError ? error.code : 'unknown');

/** A call without an answer, as it is counted. A model that was too slow has read its prompt, and is paid for that and for what it wrote. */
export function unanswered(
  { chat, tools }: Pick<EngineDeps, 'chat' | 'tools'>,
  { name, system, user }: ChatCall,
  error: unknown,
): ModelCall {
  const wasRead = error instanceof EngineError && ['model_timeout', 'cancelled'].includes(error.code);
  const promptTokens = wasRead ? estimateTokens(system) + estimateTokens(user) : 0;
  const { written = 0, model } = error instanceof EngineError ? error : {};
  const usage = { promptTokens, completionTokens: written };
  return { step: name, model: model ?? chat.name, usage, at: tools.now() };
}
