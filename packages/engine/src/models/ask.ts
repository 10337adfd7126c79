import type { EngineDeps } from '../deps.ts';
import { EngineError, FencedError } from '../errors.ts';
import { payerOf } from '../ids.ts';
import { noteUnlessHeld } from '../limits/holds.ts';
import { maskSecrets } from '../masking/secrets.ts';
import type { PromptUse } from '../plan.ts';
import type { Turn } from '../ports/ledger/lanes.ts';
import { usageStepOf } from '../ports/ledger/overview.ts';
import type { Account } from '../ports/ledger/summaries.ts';
import type { Asked, StoredAnswer } from '../ports/ledger/thoughts.ts';
import type { Asker, CallFor, SentCall, SettledCall } from '../ports/ledger/usage.ts';
import type { ChatAnswer, ChatCall, TokenUse } from '../ports/models.ts';
import type { Cancellation, Tools } from '../ports/tools.ts';
import type { TenantSettings } from '../settings.ts';
import { hasPassed } from '../suites/gate.ts';
import { repeatedAtEnd } from '../text/loops.ts';
import { cleanText } from '../text/normalise.ts';
import type { TenantId } from '../words.ts';
import { isLastTry } from './away.ts';
import {
  type Book,
  type Called,
  type Caller,
  callModel,
  callOfTurn,
  causeOf,
  type Purpose,
  waitForBulk,
} from './call-model.ts';
import { textHash } from './embed.ts';
import { type Reading, readAnswer, type Shape } from './parse/answer.ts';
import { type Prompt, type RepairInput, repairOf, userMessage } from './prompts/prompt.ts';

export interface Question<T> {
  /** Names the answer among those of the consolidation. */
  readonly step: string;
  readonly prompt: Prompt;
  readonly ask: string;
  readonly input: object;
  /** Where it is backfill it may wait for a job of the provider. */
  readonly isBulk?: boolean;
  /** Addresses of images that go with the question. */
  readonly images?: readonly string[];
  readonly shape: Shape<T>;
}

/** How much of a broken answer a repair call is shown, in characters. A model in a loop is not shown all of its loop. */
const BROKEN_SHOWN = 1_000;
/** How often a question and its repair are both answered in a way that is of no use: then the batch waits for a person. */
const TRIES_MAX = 2;

/**
 * The answer to a question, asked at most once: a stored answer is taken as it is, also that of an undone consolidation of
 * the same batches: other prompts, settings, models or memories make another question. An answer that cannot be used, or
 * broke off, is asked for once more with what was wrong; after that the try has failed, to be repeated once later, in another way. What broke
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
  const { answers: before, tries } = await failedBefore(asking, question, inputHash);
  if (tries >= TRIES_MAX) throw unusable(question, { answers: before, isFinal: true });
  const isFinal = tries + 1 >= TRIES_MAX;
  const broken = { step, failedStep: failedStep(step, turn.attempts), inputHash };
  const again = 2 * before.length;
  const call = { ...callOf(question.prompt, askedAgain(question.ask, again), question.input), ...imagesOf(question) };
  if (question.isBulk === true && before.length === 0) await waitForBulk(asking, { step, inputHash, call });
  const first = await answerTo(asking, { ...broken, call: { ...call, again }, shape });
  if (usable(first.reading)) return first.reading;
  const unrepaired = { ...broken, failedStep: unrepairedStep(step, turn.attempts) };
  const repair = { ...repairCall(question, first.answer, again), again: again + 1 };
  const second = await answerTo(asking, { ...unrepaired, call: repair, shape }).catch(async (error: unknown) => {
    // The question itself had room: what is too much is its broken answer.
    if (!(error instanceof EngineError) || error.code !== 'context_too_long') throw error;
    const nothing = { ...saidNothing(deps), step: unrepaired.failedStep, inputHash, at: deps.tools.now() };
    await keep(asking, nothing);
    return null;
  });
  if (second !== null && usable(second.reading)) return second.reading;
  throw unusable(question, { answers: second === null ? [first] : [first, second], isFinal });
}

/** Under which an answer is kept that is of no use. */
export const failedStep = (step: string, attempt: number): string => `${step}:unusable:${attempt}`;

/** Under which its repair is kept if that is no use either. */
const unrepairedStep = (step: string, attempt: number): string => `${step}:unrepaired:${attempt}`;

interface Before<T> {
  /** What the question was answered, and was no use. */
  readonly answers: readonly Answered<T>[];
  /** How often its repair was no use either. One that was lost to an outage says nothing of the question: the batch's attempts end that. */
  readonly tries: number;
}

/** What came of the question in earlier attempts of its batch. */
async function failedBefore<T>(
  { deps, turn }: Asking,
  { step, shape }: Question<T>,
  inputHash: string,
): Promise<Before<T>> {
  const kept = (name: string) => deps.ledger.thoughts.answer(turn.consolidationId, name, inputHash);
  const answers: Answered<T>[] = [];
  let tries = 0;
  for (let attempt = 0; attempt < turn.attempts; attempt += 1) {
    const answer = await kept(failedStep(step, attempt));
    if (answer === null) continue;
    answers.push({ answer, reading: readAnswer(answer.text, shape) });
    if ((await kept(unrepairedStep(step, attempt))) !== null) tries += 1;
  }
  return { answers, tries };
}

/** A model that is asked in the same words makes the same mistake, also where its server takes no temperature. */
const askedAgain = (text: string, again: number): string =>
  again === 0 ? text : `${text} An earlier answer could not be used: answer with the JSON object alone.`;

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
  const {
    answer,
    call: paid,
    isStored,
  } = await ring(asking, call, { inputHash, steps: [names.step, names.failedStep] });
  await deps.tools.breathe();
  const reading = readAnswer(answer.text, shape);
  if (!isStored) {
    const kept = { ...answer, step: usable(reading) ? names.step : names.failedStep, inputHash };
    await keep(asking, { ...kept, at: deps.tools.now() }, paid);
  }
  return { answer, reading };
}

const usable = <T>(reading: Reading<T> | null): reading is Reading<T> => reading?.complete === true;

const hashOf = ({ tools, chat }: EngineDeps, { prompt, input, images = [] }: Question<unknown>): string =>
  textHash(tools, JSON.stringify([prompt.name, prompt.version, prompt.system, chat.name, input, ...images]));

const imagesOf = ({ images }: Question<unknown>): Pick<ChatCall, 'images'> => (images === undefined ? {} : { images });

const callOf = (prompt: Prompt, text: string, input: object): ChatCall => ({
  name: prompt.name,
  system: prompt.system,
  user: userMessage(text, input),
  schema: prompt.schema,
});

/** The same question with what was wrong with its first answer. */
function repairCall(question: Question<unknown>, first: Answered<unknown>['answer'], again = 0): ChatCall {
  const brokeOff = repeatsItself(first)
    ? 'the answer said the same again and again'
    : 'the answer broke off before its end';
  const problem = first.truncated ? brokeOff : 'the answer was not the JSON asked for';
  const input: RepairInput = {
    call: question.prompt.name,
    problem,
    broken: cleanText(withoutRepeats(first.text)).slice(0, BROKEN_SHOWN).toWellFormed(),
    input: question.input,
  };
  return { ...callOf(repairOf(question.prompt), askedAgain(question.ask, again), input), ...imagesOf(question) };
}

/** What breaks off in a loop had no end. */
const repeatsItself = ({ text, truncated }: Answered<unknown>['answer']): boolean =>
  truncated && repeatedAtEnd(text) !== null;

/** A broken answer as far as it does not say the same again. */
function withoutRepeats(text: string): string {
  const begin = text.slice(0, BROKEN_SHOWN * 2);
  return begin.replace(REPEATS, '$1$1…');
}

/** Something of at least eight characters, three times or more in a row. */
const REPEATS = /(.{8,200}?)\1{2,}/gsu;

interface Rung extends Called {
  /** It came meanwhile, to a worker that had the turn before: nobody was asked. */
  readonly isStored: boolean;
}

async function ring({ deps, turn, cancel }: Asking, question: ChatCall, asked: Asked): Promise<Rung> {
  const rules = await deps.ledger.settings.get(turn.tenant);
  const { thoughts, usage } = deps.ledger;
  const late: StoredAnswer[] = [];
  const [step = ''] = asked.steps;
  const of = callOfTurn(turn, usageStepOf(step), { again: question.again, forSuite: deps.forSuite });
  // It may wait long for its place, by the limits or for a queue server that is silent: whoever has the turn by then asks.
  const note = (sent: SentCall): Promise<void> =>
    noteUnlessHeld(deps, { of, rules }, async (rooms) => {
      const { holds, answer, isNoted } = await thoughts.lastLook(turn, { ...asked, rooms }, sent);
      if (holds && answer !== null) late.push(answer);
      if (!holds || answer !== null) throw new FencedError(turn.consolidationId);
      return isNoted;
    });
  const book: Book = { of, usage, note };
  try {
    const gated = { ...question, mayStandIn: passedGate(deps, turn.tenant) };
    const { answer, call } = await callModel({ deps, turn, prices: rules.prices, cancel, book }, gated);
    // What is kept of an answer, and of what follows from it, gives no secret away.
    return { answer: { ...answer, text: maskSecrets(answer.text).text }, call, isStored: false };
  } catch (error) {
    const [answer] = late;
    if (answer !== undefined) return { answer, call: null, isStored: true };
    // The server threw away what the model wrote, or it was endless: an answer like any other that is of no use.
    if (error instanceof EngineError && error.code === 'model_output_unusable') {
      return { answer: saidNothing(deps, error.written), call: null, isStored: false };
    }
    throw error;
  }
}

/** In place of an answer that nobody has; of so many tokens. */
const saidNothing = ({ chat }: EngineDeps, written = 0): ChatAnswer => ({
  text: '',
  model: chat.name,
  usage: { promptTokens: 0, completionTokens: written },
  truncated: false,
});

/** A fallback has passed the gate of whoever pays for it, where there is one. */
const passedGate =
  (deps: Pick<EngineDeps, 'ledger' | 'tools'>, tenant: TenantId): NonNullable<ChatCall['mayStandIn']> =>
  (model) =>
    hasPassed(deps, payerOf(tenant), model);

async function keep({ deps, turn }: Asking, answer: StoredAnswer, call: SettledCall | null = null): Promise<void> {
  const stored = await deps.ledger.thoughts.storeAnswer(turn, answer, call);
  if (stored.kind === 'fenced') throw new FencedError(turn.consolidationId);
}

interface Failed {
  readonly answers: readonly Answered<unknown>[];
  /** It was asked often enough. */
  readonly isFinal: boolean;
}

function unusable({ prompt }: Question<unknown>, { answers, isFinal }: Failed): EngineError {
  const brokeOff = answers.some(({ answer, reading }) => answer.truncated || reading?.complete === false);
  const { got, remedy } = gotIn(answers);
  const message =
    `expected ${prompt.name} to answer with the JSON of its schema, got ${got}, twice; ` +
    `see the raw answers in the consolidation. If this persists, ${remedy}.`;
  const facts = { code: 'model_output_unusable', retryable: !isFinal } as const;
  return brokeOff ? new BrokenOffError(message, facts) : new EngineError(message, facts);
}

interface Got {
  readonly got: string;
  readonly remedy: string;
}

const MORE_ROOM = 'raise SLOWWAVE_CHAT_MAX_OUTPUT_TOKENS or the output limit of the server';

const LESS_REPEATING =
  'use another model, or make this one repeat itself less, for example with SLOWWAVE_CHAT_EXTRA_BODY={"frequency_penalty": 0.5}';

/** What came instead of an answer, and what to do about it. */
function gotIn(answers: readonly Answered<unknown>[]): Got {
  if (answers.some(({ answer }) => repeatsItself(answer)))
    return { got: 'an answer that repeats itself endlessly', remedy: LESS_REPEATING };
  const [cutOff] = answers.filter(({ answer, reading }) => answer.truncated || reading?.complete === false);
  if (cutOff !== undefined) {
    return THINKING.test(cutOff.answer.text)
      ? { got: 'only reasoning up to its output limit', remedy: `reduce the reasoning of the model, or ${MORE_ROOM}` }
      : { got: 'a truncated answer', remedy: `${MORE_ROOM}; a model that repeats itself must be replaced` };
  }
  const [last] = answers.toReversed();
  const text = last?.answer.text.trim() ?? '';
  if (text === '') return { got: 'an empty answer', remedy: 'check the log of the server, or use another model' };
  const got = /[[{]/u.test(text) ? 'JSON of another structure' : 'prose without JSON';
  return { got, remedy: 'use another model, or a server that enforces JSON schemas' };
}

/** Nothing at all, or thoughts that do not end: servers leave them out or mark them. */
const THINKING = /^\s*(?:<think(?:ing)?>(?!.*<\/think)|$)/isu;

/** Who asks outside of a consolidation, and to whom that is counted. */
export interface Apart extends Omit<Caller, 'turn' | 'book' | 'prices'> {
  readonly deps: Caller['deps'] & Pick<EngineDeps, 'ledger'>;
  readonly tenant: TenantId;
  readonly account: Account;
  /** Of the tenant. */
  readonly rules: TenantSettings;
  readonly purpose: Purpose;
  readonly asker?: Asker | undefined;
}

type QuestionApart<T> = Omit<Question<T>, 'step' | 'images'>;

interface AnsweredApart<T> {
  readonly value: T;
  readonly usage: TokenUse;
  readonly call: SettledCall | null;
}

/** Asks outside of a consolidation, and once more for an answer that cannot be used. Nothing is kept but what the calls used. */
export async function askApart<T>(apart: Apart, question: QuestionApart<T>): Promise<AnsweredApart<T>> {
  const answered = await askUncounted(apart, question);
  await settle(apart, answered.call);
  return answered;
}

/** The same, but for the call that brought the value: whoever stores that settles the call with it. */
export async function askUncounted<T>(apart: Apart, question: QuestionApart<T>): Promise<AnsweredApart<T>> {
  const usage = { promptTokens: 0, completionTokens: 0 };
  const mayStandIn = passedGate(apart.deps, apart.tenant);
  let asking: ChatCall = callOf(question.prompt, question.ask, question.input);
  for (let tries = 0; tries < 2; tries += 1) {
    const { answer, call } = await callModel(
      { ...apart, prices: apart.rules.prices, turn: null, book: bookApart(apart, question, asking) },
      { ...asking, mayStandIn },
    );
    usage.promptTokens += answer.usage.promptTokens;
    usage.completionTokens += answer.usage.completionTokens;
    const reading = readAnswer(answer.text, question.shape);
    if (usable(reading)) return { value: reading.value, usage, call };
    await settle(apart, call);
    asking = { ...repairCall({ ...question, step: question.prompt.name }, answer), again: tries + 1 };
  }
  throw new EngineError(
    `expected ${question.prompt.name} to answer with the JSON of its schema, got something else, twice; if this persists, use another model`,
    { code: 'model_output_unusable', retryable: true },
  );
}

function bookApart(apart: Apart, { prompt }: QuestionApart<unknown>, { again }: ChatCall): Book {
  const { deps, tenant, account, rules, purpose, asker } = apart;
  const { usage } = deps.ledger;
  const of: CallFor = {
    tenant,
    lane: 'lane' in account ? account.lane : null,
    consolidationId: null,
    appId: asker?.appId ?? null,
    keyId: asker?.keyId ?? null,
    step: usageStepOf(prompt.name),
    cause: causeOf({ tenant, purpose, again }),
  };
  const note = (call: SentCall): Promise<void> =>
    noteUnlessHeld(deps, { of, rules }, (rooms) => usage.note(call, rooms));
  return { of, usage, note };
}

const settle = async ({ deps }: Apart, call: SettledCall | null): Promise<void> =>
  call === null ? undefined : deps.ledger.usage.settle([call]);

/** Which prompt was used, as a plan records it. */
export const promptUse = ({ tools }: { readonly tools: Pick<Tools, 'hash'> }, prompt: Prompt): PromptUse => ({
  name: prompt.name,
  version: prompt.version,
  hash: tools.hash(prompt.system),
});

/** An answer broke off, and so did its repair: asked about less at once, the same model may come to an end. */
class BrokenOffError extends EngineError {}

/** Why less is asked about at once: an answer did not come to its end, or the question does not fit the model's window. */
export type Halved = 'broke_off' | 'too_long';

/** A question about much at once, and how it is asked about less. */
interface Halving<Part, Got> {
  ask(part: Part, step: string): Promise<Got>;
  /** null: it can be no smaller. */
  halve(part: Part, why: Halved): Promise<readonly Part[] | null>;
  /** Whether nothing else is left before what is asked about is parked. */
  isLast(): Promise<boolean>;
  /** How much a part asks about, in any unit: what is as much as what a model had no room for is halved without asking. */
  sizeOf?(part: Part): number;
  /** Kept from one part to the next: the smallest that there was no room for. */
  readonly refused?: { size: number };
}

/**
 * What is answered to a question, or to its halves. What does not fit the model's window is asked about in halves at once; where all
 * would be parked because the answer breaks off, it is asked about less first, and the answers are shorter.
 */
export async function inHalves<Part, Got>(
  halving: Halving<Part, Got>,
  part: Part,
  step: string,
): Promise<readonly Got[]> {
  const { sizeOf = () => 0, refused = { size: Number.POSITIVE_INFINITY } } = halving;
  const answersOf = async (halves: readonly Part[]): Promise<readonly Got[]> => {
    const got: Got[] = [];
    for (const [i, half] of halves.entries()) got.push(...(await inHalves(halving, half, `${step}/${i + 1}`)));
    return got;
  };
  const known =
    Number.isFinite(refused.size) && sizeOf(part) >= refused.size ? await halving.halve(part, 'too_long') : null;
  if (known !== null) return answersOf(known);
  try {
    return [await halving.ask(part, step)];
  } catch (error) {
    const why = await whyHalved(error, halving);
    const halves = why === null ? null : await halving.halve(part, why);
    if (halves === null) throw error;
    if (why === 'too_long') refused.size = Math.min(refused.size, sizeOf(part));
    return answersOf(halves);
  }
}

async function whyHalved(
  error: unknown,
  { isLast }: Pick<Halving<unknown, unknown>, 'isLast'>,
): Promise<Halved | null> {
  if (!(error instanceof EngineError)) return null;
  if (error.code === 'context_too_long') return 'too_long';
  return error instanceof BrokenOffError && (!error.retryable || (await isLast())) ? 'broke_off' : null;
}

/** Of a consolidation: before that its window is halved until a batch is alone. */
export const isLastOfTurn = async (deps: EngineDeps, turn: Turn): Promise<boolean> =>
  turn.batchIds.length === 1 && (await isLastTry(deps, turn));
