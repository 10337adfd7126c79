import type { EngineDeps } from '../deps.ts';
import { EngineError, wasAsked } from '../errors.ts';
import { callOf, type Question, repairCall } from '../models/ask.ts';
import { accountOf, afford, type Purse } from '../models/budget.ts';
import { callModel, unanswered } from '../models/call-model.ts';
import { type Reading, readAnswer } from '../models/parse/answer.ts';
import type { Account } from '../ports/ledger/summaries.ts';
import type { ChatAnswer, ChatCall, ChatModel, TokenUse } from '../ports/models.ts';
import type { Cancellation } from '../ports/tools.ts';
import type { TenantSettings } from '../settings.ts';
import type { Owner, TenantId } from '../words.ts';

/** Who asks a model while memories are read, outside of any consolidation. */
export interface Reader {
  readonly deps: Purse & Pick<EngineDeps, 'meter'> & { readonly chat: ChatModel };
  /** Whose day it is counted to, and whose budget it has to fit. */
  readonly tenant: TenantId;
  readonly owner: Owner;
  readonly cancel: Cancellation;
}

export interface Told<T> {
  readonly value: T;
  readonly usage: TokenUse;
}

/** Asks within the budgets, and once more for an answer that cannot be used. Every call is counted. */
export async function askReading<T>(reader: Reader, question: Omit<Question<T>, 'step'>): Promise<Told<T>> {
  const payer = await payerOf(reader);
  const asked = { ...question, step: question.prompt.name };
  const first = await call(payer, callOf(question.prompt, question.ask, question.input));
  const reading = usable(first, question.shape);
  if (reading !== null) return { value: reading.value, usage: first.usage };
  const second = await call(payer, repairCall(asked, first));
  const repaired = usable(second, question.shape);
  if (repaired !== null) return { value: repaired.value, usage: sum(first.usage, second.usage) };
  throw new EngineError(
    `expected ${question.prompt.name} to answer with the JSON of its schema, got no such JSON, twice; another model helps if this stays`,
    { code: 'model_output_unusable', retryable: true },
  );
}

interface Payer extends Reader {
  readonly account: Account;
  readonly prices: TenantSettings['prices'];
}

async function payerOf(reader: Reader): Promise<Payer> {
  const { deps, tenant, owner } = reader;
  const [account, rules] = await Promise.all([accountOf(deps, tenant, owner), deps.ledger.settings.get(tenant)]);
  await afford(deps, { tenant, account, rules });
  return { ...reader, account, prices: rules.prices };
}

function usable<T>({ text }: ChatAnswer, shape: Question<T>['shape']): Reading<T> | null {
  const reading = readAnswer(text, shape);
  return reading?.complete === true ? reading : null;
}

async function call({ deps, account, prices, cancel }: Payer, chatCall: ChatCall): Promise<ChatAnswer> {
  const count = deps.ledger.summaries.countCall;
  try {
    const answer = await callModel({ deps, turn: null, prices, cancel }, chatCall);
    const { model, usage } = answer;
    await count(account, { step: chatCall.name, model, failed: false, usage, at: deps.tools.now() });
    return answer;
  } catch (error) {
    if (wasAsked(error, cancel)) await count(account, { ...unanswered(deps, chatCall, error), failed: true });
    throw error;
  }
}

const sum = (a: TokenUse, b: TokenUse): TokenUse => ({
  promptTokens: a.promptTokens + b.promptTokens,
  completionTokens: a.completionTokens + b.completionTokens,
});
