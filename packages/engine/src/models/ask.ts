import type { EngineDeps } from '../deps.ts';
import { EngineError, type EngineErrorCode, FencedError, wasAsked } from '../errors.ts';
import { maskSecrets } from '../masking/secrets.ts';
import type { PromptUse } from '../plan.ts';
import type { Turn } from '../ports/ledger/lanes.ts';
import type { Account, SummaryCall } from '../ports/ledger/summaries.ts';
import type { Asked, ModelCall, StoredAnswer } from '../ports/ledger/thoughts.ts';
import type { MeasuredCall, TurnIds } from '../ports/meter.ts';
import type { ChatAnswer, ChatCall, TokenUse } from '../ports/models.ts';
import type { Cancellation, Tools } from '../ports/tools.ts';
import type { ModelPrice } from '../settings.ts';
import { cleanText, estimateTokens } from '../text/normalise.ts';
import type { TenantId } from '../words.ts';
import { knownCost } from './limits.ts';
import { type Reading, readAnswer, type Shape } from './parse/answer.ts';
import { type Prompt, type RepairInput, repairOf, userMessage } from './prompts/prompt.ts';

export interface Question<T> {
  /** Names the answer among those of the consolidation. */
  readonly step: string;
  readonly prompt: Prompt;
  readonly ask: string;
  readonly input: object;
  /** Addresses of images that go with the question. */
  readonly images?: readonly string[];
  readonly shape: Shape<T>;
}

/** How much of a broken answer a repair call is shown, in characters. */
const BROKEN_SHOWN = 8_000;

/** An answer broke off, and so did its repair: asked about less at once, the same model may come to an end. */
class BrokenOffError extends EngineError {}

/**
 * The answer to a question, asked at most once: a stored answer is taken as it is, also that of an undone consolidation of
 * the same batches: other prompts, settings, models or memories make another question. An answer that cannot be used, or
 * broke off, is asked for once more with what was wrong; after that the try has failed, to be repeated later. What broke
 * off is never taken for the whole: nobody would know what is missing.
 */
export const ask = async <T>(asking: Asking, question: Question<T>): Promise<T> =>
  (await readingOf(asking, question)).value;

/** The same, with how it was read. */
export async function readingOf<T>(asking: Asking, question: Question<T>): Promise<Reading<T>> {
  const { deps, turn } = asking;
  const inputHash = hashOf(deps, question);
  const stored = await deps.ledger.thoughts.answer(turn.consolidationId, question.step, inputHash);
  const known = stored === null ? null : readAnswer(stored.text, question.shape);
  if (usable(known)) {
    if (stored?.former !== undefined) await keep(asking, stored);
    return known;
  }

  const { shape, step } = question;
  const broken = { step, failedStep: `${step}:unusable:${turn.attempts}`, inputHash };
  const first = await answerTo(asking, {
    ...broken,
    call: { ...callOf(question.prompt, question.ask, question.input), ...imagesOf(question) },
    shape,
  });
  if (usable(first.reading)) return first.reading;
  const unrepaired = { ...broken, failedStep: `${step}:unrepaired:${turn.attempts}` };
  const second = await answerTo(asking, { ...unrepaired, call: repairCall(question, first.answer), shape });
  if (usable(second.reading)) return second.reading;
  throw unusable(question, [first, second]);
}

/** Who asks. */
export interface Asking {
  readonly deps: EngineDeps;
  readonly turn: Turn;
  readonly cancel: Cancellation;
}

interface Attempt<T> {
  readonly call: ChatCall;
  readonly shape: Question<T>['shape'];
  readonly inputHash: string;
  /** Under which name the answer is kept: where it can be used, and where not. */
  readonly step: string;
  readonly failedStep: string;
}

interface Answered<T> {
  readonly answer: Pick<ChatAnswer, 'text' | 'truncated'>;
  readonly reading: Reading<T> | null;
}

/** One call and its answer, kept at once. A try that goes on after a crash does not pay again for what was no use. */
async function answerTo<T>(asking: Asking, { call, shape, inputHash, ...names }: Attempt<T>): Promise<Answered<T>> {
  const { deps, turn } = asking;
  const before = await deps.ledger.thoughts.answer(turn.consolidationId, names.failedStep, inputHash);
  if (before !== null) return { answer: before, reading: readAnswer(before.text, shape) };
  const { answer, isStored } = await ring(asking, call, { inputHash, steps: [names.step, names.failedStep] });
  await deps.tools.breathe();
  const reading = readAnswer(answer.text, shape);
  if (!isStored) await store(asking, { step: usable(reading) ? names.step : names.failedStep, inputHash, answer });
  return { answer, reading };
}

const usable = <T>(reading: Reading<T> | null): reading is Reading<T> => reading?.complete === true;

const hashOf = ({ tools, chat }: EngineDeps, { prompt, input, images = [] }: Question<unknown>): string =>
  tools.hash(JSON.stringify([prompt.name, prompt.version, prompt.system, chat.name, input, ...images]));

const imagesOf = ({ images }: Question<unknown>): Pick<ChatCall, 'images'> => (images === undefined ? {} : { images });

const callOf = (prompt: Prompt, text: string, input: object): ChatCall => ({
  name: prompt.name,
  system: prompt.system,
  user: userMessage(text, input),
  schema: prompt.schema,
});

/** The same question with what was wrong with its first answer. */
function repairCall(question: Question<unknown>, first: Answered<unknown>['answer']): ChatCall {
  const problem = first.truncated ? 'the answer broke off before its end' : 'the answer was not the JSON asked for';
  const input: RepairInput = {
    call: question.prompt.name,
    problem,
    broken: cleanText(first.text.slice(0, BROKEN_SHOWN)),
    input: question.input,
  };
  return { ...callOf(repairOf(question.prompt), question.ask, input), ...imagesOf(question) };
}

interface Rung {
  readonly answer: ChatAnswer;
  /** It came meanwhile, to a worker that had the turn before: nobody was asked. */
  readonly isStored: boolean;
}

async function ring({ deps, turn, cancel }: Asking, question: ChatCall, asked: Asked): Promise<Rung> {
  const { prices } = await deps.ledger.settings.get(turn.tenant);
  const late: StoredAnswer[] = [];
  // It may wait long for its place, by the limits or for a queue server that is silent: whoever has the turn by then asks.
  const lastLook = async (): Promise<void> => {
    const { holds, answer } = await deps.ledger.thoughts.lastLook(turn, asked);
    if (holds && answer !== null) late.push(answer);
    if (!holds || answer !== null) throw new FencedError(turn.consolidationId);
  };
  const chatCall: ChatCall = { ...question, lastLook };
  try {
    const answer = await callModel({ deps, turn, prices, cancel }, chatCall);
    // What is kept of an answer, and of what follows from it, gives no secret away.
    return { answer: { ...answer, text: maskSecrets(answer.text).text }, isStored: false };
  } catch (error) {
    const [answer] = late;
    if (answer !== undefined) return { answer, isStored: true };
    if (wasAsked(error, cancel)) await deps.ledger.thoughts.countFailedCall(turn, unanswered(deps, chatCall, error));
    throw error;
  }
}

const store = (asking: Asking, { answer, ...names }: { step: string; inputHash: string; answer: ChatAnswer }) =>
  keep(asking, { ...names, ...answer, at: asking.deps.tools.now() });

async function keep({ deps, turn }: Asking, answer: StoredAnswer): Promise<void> {
  const stored = await deps.ledger.thoughts.storeAnswer(turn, answer);
  if (stored.kind === 'fenced') throw new FencedError(turn.consolidationId);
}

function unusable({ prompt }: Question<unknown>, tries: readonly Answered<unknown>[]): EngineError {
  const brokeOff = tries.some(({ answer, reading }) => answer.truncated || reading?.complete === false);
  const got = brokeOff ? 'a truncated answer, twice' : 'something else, twice';
  const message =
    `expected ${prompt.name} to answer with the JSON of its schema, got ${got}; ` +
    'see the raw answers in the consolidation. If this persists, raise the output limit or use another model.';
  const facts = { code: 'model_output_unusable', retryable: true } as const;
  return brokeOff ? new BrokenOffError(message, facts) : new EngineError(message, facts);
}

/** A question about much at once, and how it is asked about less. */
interface Halving<Part, Got> {
  ask(part: Part, step: string): Promise<Got>;
  /** null: it can be no smaller. */
  halve(part: Part): Promise<readonly Part[] | null>;
  /** Whether nothing else is left before what is asked about is parked. */
  isLast(): Promise<boolean>;
}

/**
 * What is answered to a question, or to its halves: where all would be parked because the answer breaks off, it is asked
 * about less at once first, and the answers are shorter.
 */
export async function inHalves<Part, Got>(
  halving: Halving<Part, Got>,
  part: Part,
  step: string,
): Promise<readonly Got[]> {
  try {
    return [await halving.ask(part, step)];
  } catch (error) {
    if (!(error instanceof BrokenOffError) || !(await halving.isLast())) throw error;
    const halves = await halving.halve(part);
    if (halves === null) throw error;
    const got: Got[] = [];
    for (const [i, half] of halves.entries()) got.push(...(await inHalves(halving, half, `${step}/${i + 1}`)));
    return got;
  }
}

/** Of a consolidation: before that its window is halved until a batch is alone. */
export const isLastOfTurn = async (deps: EngineDeps, turn: Turn): Promise<boolean> =>
  turn.batchIds.length === 1 && (await isLastTry(deps, turn));

/** Who calls a model. */
interface Caller {
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
  const record = (model: string, ended: Pick<MeasuredCall, 'failure' | 'usage'>): void =>
    meter.call(turn, {
      ...ended,
      kind: call.name,
      model: chat.name, // as configured: a server may answer under any name
      cost: knownCost([{ model, ...ended.usage }], prices),
      startedAt,
      endedAt: tools.now(),
    });
  try {
    const answer = await chat.ask(call, cancel);
    if (answer.text.length > ANSWER_CHARS_MAX) throw tooLong(answer, call);
    record(answer.model, { failure: null, usage: answer.usage });
    return answer;
  } catch (error) {
    const { usage } = unanswered(deps, call, error);
    if (wasAsked(error, cancel)) record(chat.name, { failure: failureOf(error), usage });
    throw error;
  }
}

const failureOf = (error: unknown): MeasuredCall['failure'] => (error instanceof EngineError ? error.code : 'unknown');

/** A call without an answer, as it is counted. A model that was too slow has read its prompt, and is paid for that. */
function unanswered(
  { chat, tools }: Pick<EngineDeps, 'chat' | 'tools'>,
  { name, system, user }: ChatCall,
  error: unknown,
): ModelCall {
  const wasRead = error instanceof EngineError && ['model_timeout', 'cancelled'].includes(error.code);
  const promptTokens = wasRead ? estimateTokens(system) + estimateTokens(user) : 0;
  return { step: name, model: chat.name, usage: { promptTokens, completionTokens: 0 }, at: tools.now() };
}

/** Who asks outside of a consolidation, and to whom that is counted. */
export interface Apart extends Omit<Caller, 'turn'> {
  readonly deps: Caller['deps'] & Pick<EngineDeps, 'ledger'>;
  readonly tenant: TenantId;
  readonly account: Account;
}

type QuestionApart<T> = Omit<Question<T>, 'step' | 'images'>;

interface AnsweredApart<T> {
  readonly value: T;
  readonly usage: TokenUse;
  readonly call: SummaryCall;
}

/** Asks outside of a consolidation, and once more for an answer that cannot be used. Every call is counted; nothing is kept. */
export async function askApart<T>(apart: Apart, question: QuestionApart<T>): Promise<AnsweredApart<T>> {
  const answered = await askUncounted(apart, question);
  await count(apart, answered.call);
  return answered;
}

/** The same, but for the call that brought the value: whoever stores that counts the call with it. */
export async function askUncounted<T>(apart: Apart, question: QuestionApart<T>): Promise<AnsweredApart<T>> {
  const usage = { promptTokens: 0, completionTokens: 0 };
  let asking = callOf(question.prompt, question.ask, question.input);
  for (let tries = 0; tries < 2; tries += 1) {
    const { answer, call } = await callApart(apart, asking);
    usage.promptTokens += call.usage.promptTokens;
    usage.completionTokens += call.usage.completionTokens;
    const reading = readAnswer(answer.text, question.shape);
    if (usable(reading)) return { value: reading.value, usage, call };
    await count(apart, call);
    asking = repairCall({ ...question, step: question.prompt.name }, answer);
  }
  throw new EngineError(
    `expected ${question.prompt.name} to answer with the JSON of its schema, got something else, twice; if this persists, use another model`,
    { code: 'model_output_unusable', retryable: true },
  );
}

/** An answer with its call, which is not counted yet. A call without an answer is counted here. */
async function callApart(apart: Apart, chatCall: ChatCall) {
  const { deps } = apart;
  try {
    const answer = await callModel({ ...apart, turn: null }, chatCall);
    const { model, usage } = answer;
    return { answer, call: { step: chatCall.name, model, failed: false, usage, at: deps.tools.now() } };
  } catch (error) {
    if (wasAsked(error, apart.cancel)) await count(apart, { ...unanswered(deps, chatCall, error), failed: true });
    throw error;
  }
}

const count = (by: Apart, call: SummaryCall) => by.deps.ledger.summaries.countCall(by.tenant, by.account, call);

/** Which prompt was used, as a plan records it. */
export const promptUse = ({ tools }: { readonly tools: Pick<Tools, 'hash'> }, prompt: Prompt): PromptUse => ({
  name: prompt.name,
  version: prompt.version,
  hash: tools.hash(prompt.system),
});

/** As well the fault of a provider that is down as of an input that it cannot bear. */
const DOUBTFUL: readonly EngineErrorCode[] = ['model_unreachable', 'model_timeout', 'model_server_error'];

/** As small as a question can be: any model that is there answers it. */
export const ARE_YOU_THERE: ChatCall = {
  name: 'are_you_there',
  system: 'are_you_there\nAnswer with the JSON object {"there": true} and nothing else.',
  user: 'Are you there?\n{}',
  schema: {
    type: 'object',
    properties: { there: { type: 'boolean' } },
    required: ['there'],
    additionalProperties: false,
  },
};

/**
 * Whether a failure may say nothing of the batches, because the models are away. Asked only where the failure would
 * cost batches their last try: then a question that anything can answer distinguishes a provider that is down from an input it
 * cannot bear. `there`: now it answers; whether it did before is not known.
 */
export async function doubt(
  deps: EngineDeps,
  { turn, failure }: { turn: Turn; failure: EngineError },
  cancel: Cancellation,
): Promise<'none' | 'there' | 'away'> {
  if (!isDoubtful(failure) || !(await isLastTry(deps, turn))) return 'none';
  return (await modelsAway(deps, turn, cancel)) ? 'away' : 'there';
}

export const isDoubtful = ({ code }: EngineError): boolean => DOUBTFUL.includes(code);

/** Whether one of the models does not even answer what anything can. */
export async function modelsAway(deps: EngineDeps, turn: Turn, cancel: Cancellation): Promise<boolean> {
  const chats = deps.imageModel === null ? [deps.chat] : [deps.chat, deps.imageModel];
  for (const chat of chats) if (await isAway(() => probe({ ...deps, chat }, turn, cancel))) return true;
  return embedderIsAway(deps, cancel);
}

/** Whether it does not even answer what any embedder can. */
export const embedderIsAway = ({ embedder }: Pick<EngineDeps, 'embedder'>, cancel: Cancellation): Promise<boolean> =>
  isAway(() => embedder.embed([ARE_YOU_THERE.user], cancel));

/** Whether it embeds what any embedder can: then what it fails on is the fault of the texts. */
export async function embedderAnswers(
  { embedder }: Pick<EngineDeps, 'embedder'>,
  cancel: Cancellation,
): Promise<boolean> {
  try {
    const { vectors } = await embedder.embed([ARE_YOU_THERE.user], cancel);
    return (vectors[0] ?? null) !== null;
  } catch {
    return false;
  }
}

/** As the ledger decides: a window has as many tries left as its least tried batch. */
export async function isLastTry({ ledger, settings }: EngineDeps, turn: Turn): Promise<boolean> {
  const batches = await Promise.all(turn.batchIds.map((id) => ledger.batches.get(turn.tenant, id)));
  return Math.min(...batches.map((batch) => batch?.attempts ?? 0)) + 1 >= settings.maxAttempts;
}

/** A model that refuses, or answers anything, is there; one that may not be asked just now may be away as well. */
async function isAway(ask: () => Promise<unknown>): Promise<boolean> {
  try {
    await ask();
    return false;
  } catch (error) {
    return error instanceof EngineError && (DOUBTFUL.includes(error.code) || !error.countsAsTry);
  }
}

/** The question counts as any other: it is paid for. */
async function probe(deps: EngineDeps, turn: Turn, cancel: Cancellation): Promise<void> {
  const { thoughts, settings } = deps.ledger;
  const { prices } = await settings.get(turn.tenant);
  try {
    const answer = await callModel({ deps, turn, prices, cancel }, ARE_YOU_THERE);
    const kept = { step: `probe:${turn.epoch}`, inputHash: ARE_YOU_THERE.name, ...answer, at: deps.tools.now() };
    await thoughts.storeAnswer(turn, kept);
  } catch (error) {
    if (wasAsked(error, cancel)) await thoughts.countFailedCall(turn, unanswered(deps, ARE_YOU_THERE, error));
    throw error;
  }
}
