import type { EngineDeps } from '../deps.ts';
import { EngineError, FencedError, wasAsked } from '../errors.ts';
import { maskSecrets } from '../masking/secrets.ts';
import type { Turn } from '../ports/ledger/lanes.ts';
import type { ChatAnswer, ChatCall } from '../ports/models.ts';
import type { Cancellation } from '../ports/tools.ts';
import { cleanText } from '../text/normalise.ts';
import type { JsonObject } from '../words.ts';
import { callModel, unanswered } from './call-model.ts';
import { isLastTry } from './doubt.ts';
import { type Reading, readAnswer, type Shape } from './parse/answer.ts';
import { type Prompt, type RepairInput, repairOf, userMessage } from './prompts/prompt.ts';

/** One question of a consolidation. */
export interface Question<T> {
  /** Names the answer among those of the consolidation. */
  readonly step: string;
  readonly prompt: Prompt;
  readonly ask: string;
  readonly input: JsonObject;
  /** Addresses of images that go with the question. */
  readonly images?: readonly string[];
  readonly shape: Shape<T>;
}

/** How much of a broken answer a repair call is shown, in characters. */
const BROKEN_SHOWN = 8_000;

/** An answer broke off, and so did its repair: asked about less at once, the same model may come to an end. */
class BrokenOffError extends EngineError {}

/**
 * The answer to a question, asked at most once: a stored answer is taken as it is. An answer that cannot be used, or
 * broke off, is asked for once more with what was wrong; after that the try has failed, to be repeated later. What broke
 * off is never taken for the whole: nobody would know what is missing.
 */
export async function ask<T>(asking: Asking, question: Question<T>): Promise<T> {
  const { deps, turn } = asking;
  const inputHash = hashOf(deps, question);
  const stored = await deps.ledger.thoughts.answer(turn.consolidationId, question.step, inputHash);
  const known = stored === null ? null : readAnswer(stored.text, question.shape);
  if (usable(known)) return known.value;

  const { shape, step } = question;
  const broken = { step, failedStep: `${step}:unusable:${turn.attempts}`, inputHash };
  const first = await answerTo(asking, {
    ...broken,
    call: { ...callOf(question.prompt, question.ask, question.input), ...imagesOf(question) },
    shape,
  });
  if (usable(first.reading)) return first.reading.value;
  const unrepaired = { ...broken, failedStep: `${step}:unrepaired:${turn.attempts}` };
  const second = await answerTo(asking, { ...unrepaired, call: repairCall(question, first.answer), shape });
  if (usable(second.reading)) return second.reading.value;
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
  const answer = await ring(asking, call);
  await deps.tools.breathe();
  const reading = readAnswer(answer.text, shape);
  await store(asking, { step: usable(reading) ? names.step : names.failedStep, inputHash, answer });
  return { answer, reading };
}

const usable = <T>(reading: Reading<T> | null): reading is Reading<T> => reading?.complete === true;

const hashOf = ({ tools, chat }: EngineDeps, { prompt, input, images = [] }: Question<unknown>): string =>
  tools.hash(JSON.stringify([prompt.name, prompt.version, prompt.system, chat.name, input, ...images]));

const imagesOf = ({ images }: Question<unknown>): Pick<ChatCall, 'images'> => (images === undefined ? {} : { images });

export const callOf = (prompt: Prompt, text: string, input: JsonObject): ChatCall => ({
  name: prompt.name,
  system: prompt.system,
  user: userMessage(text, input),
  schema: prompt.schema,
});

/** The same question with what was wrong with its first answer. */
export function repairCall(question: Question<unknown>, first: Answered<unknown>['answer']): ChatCall {
  const problem = first.truncated ? 'the answer broke off before its end' : 'the answer was not the JSON asked for';
  const input: RepairInput = {
    call: question.prompt.name,
    problem,
    broken: cleanText(first.text.slice(0, BROKEN_SHOWN)),
    input: question.input,
  };
  return { ...callOf(repairOf(question.prompt), question.ask, input), ...imagesOf(question) };
}

async function ring({ deps, turn, cancel }: Asking, question: ChatCall): Promise<ChatAnswer> {
  const { prices } = await deps.ledger.settings.get(turn.tenant);
  // It may wait long for its place, by the limits or for a queue server that is silent: whoever has the turn by then asks.
  const lastLook = async (): Promise<void> => {
    if (!(await deps.ledger.thoughts.holds(turn))) throw new FencedError(turn.consolidationId);
  };
  const chatCall: ChatCall = { ...question, lastLook };
  try {
    const answer = await callModel({ deps, turn, prices, cancel }, chatCall);
    // What is kept of an answer, and of what follows from it, gives no secret away.
    return { ...answer, text: maskSecrets(answer.text).text };
  } catch (error) {
    if (wasAsked(error, cancel)) await deps.ledger.thoughts.countFailedCall(turn, unanswered(deps, chatCall, error));
    throw error;
  }
}

async function store(
  { deps, turn }: Asking,
  { step, inputHash, answer }: { step: string; inputHash: string; answer: ChatAnswer },
): Promise<void> {
  const stored = await deps.ledger.thoughts.storeAnswer(turn, { step, inputHash, ...answer, at: deps.tools.now() });
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
