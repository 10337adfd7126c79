import { setTimeout as sleep } from 'node:timers/promises';
import {
  ARE_YOU_THERE,
  admitCall,
  type Breaker,
  type BreakerPolicy,
  type Cancellation,
  type ChatCall,
  type ChatModel,
  CLOSED_BREAKER,
  callFailed,
  callModel,
  callUndecided,
  type Embedded,
  type Embedder,
  EngineError,
  type EngineErrorCode,
  estimateTokens,
  FencedError,
  type Limiter,
  type Log,
  type Meter,
} from '@slowwave/engine';
import { systemTools } from '../system/index.ts';
import { steadyNow } from './memory-limiter.ts';

/** Tokens an answer is thought to take before it is known. */
const ANSWER_TOKENS = 400;
/** What an image is thought to take: providers count from a hundred to two thousand. */
const IMAGE_TOKENS = 1_000;

/** A chat model that all workers together ask no more often than its provider allows. */
export const limitedChat = (chat: ChatModel, { limiter, log }: { limiter: Limiter; log: Log }): ChatModel => ({
  ...chat,
  ask: (call, cancel) =>
    limited(
      { model: chat.name, limiter, log },
      {
        tokens: estimateOf(call),
        cancel,
        lastLook: call.lastLook,
        ask: () => chat.ask(call, cancel),
        used: ({ usage }) => usage.promptTokens + usage.completionTokens,
      },
    ),
});

const estimateOf = ({ system, user, schema, images = [] }: ChatCall): number =>
  [system, user, JSON.stringify(schema)].reduce((sum, text) => sum + estimateTokens(text), 0) +
  images.length * IMAGE_TOKENS +
  ANSWER_TOKENS;

/** An embedder that is left alone for as long as its provider asks for. */
export const limitedEmbedder = (embedder: Embedder, { limiter, log }: { limiter: Limiter; log: Log }): Embedder => ({
  ...embedder,
  embed: (texts, cancel) =>
    limited(
      { model: embedder.fingerprint, limiter, log },
      {
        tokens: texts.reduce((sum, text) => sum + estimateTokens(text), 0),
        cancel,
        ask: () => embedder.embed(texts, cancel),
        used: ({ usage }) => usage.promptTokens,
      },
    ),
});

/** A shorter wait is slept through where the work stands; a longer one gives the worker's place to others. */
const SLEEP_MAX_MS = 1_500;
/** A refusal without a time to come back: long enough to matter, short enough not to be noticed for long. */
const PAUSE_MS = 5_000;
/** A provider that names a later time is asked then: it may be another account by now. */
const PAUSE_MAX_MS = 3_600_000;

interface Limited {
  readonly model: string;
  readonly limiter: Limiter;
  readonly log: Log;
}

interface LimitedCall<T> {
  /** What the call is thought to take. */
  readonly tokens: number;
  readonly cancel: Cancellation;
  /** When its waiting is over: where this throws, it is not made. */
  readonly lastLook?: (() => Promise<void>) | undefined;
  ask(): Promise<T>;
  /** What it really took. */
  used(answer: T): number;
}

/** Asks when there is room. A provider that says "too many" says it to everybody who shares the limiter. */
async function limited<T>({ model, limiter, log }: Limited, call: LimitedCall<T>): Promise<T> {
  /** What the limiter notes after a call changes nothing about the call: its answer is not lost for it. */
  const noted = async (noting: Promise<void>): Promise<void> => {
    await noting.catch((error: unknown) => log.warn({ model, error: String(error) }, 'could not count a model call'));
  };
  const id = await admitted({ model, limiter }, call);
  try {
    await call.lastLook?.();
  } catch (error) {
    await noted(limiter.correct(model, id, 0));
    throw error;
  }
  try {
    const answer = await call.ask();
    await noted(limiter.correct(model, id, call.used(answer)));
    return answer;
  } catch (error) {
    const ms = pauseAfter(error);
    if (ms === null) throw error;
    await noted(limiter.pause(model, ms));
    throw refused(error, ms);
  }
}

async function admitted(
  { model, limiter }: Omit<Limited, 'log'>,
  { tokens, cancel }: Pick<LimitedCall<unknown>, 'tokens' | 'cancel'>,
): Promise<string> {
  for (;;) {
    const reservation = await limiter.reserve(model, tokens);
    if (reservation.kind === 'granted') return reservation.id;
    if (reservation.ms > SLEEP_MAX_MS || cancel.aborted) throw tooEarly(model, reservation.ms);
    await sleep(reservation.ms);
  }
}

const tooEarly = (model: string, ms: number): EngineError =>
  new EngineError(`the rate limits of ${model} allow no further call for ${Math.ceil(ms / 1000)} s; the work waits`, {
    code: 'rate_limited',
    retryable: true,
    retryAfterMs: ms,
    countsAsTry: false,
  });

/** How long a provider that said "too many" is left alone; null when it said something else. */
function pauseAfter(error: unknown): number | null {
  if (!(error instanceof EngineError) || error.code !== 'model_overloaded') return null;
  return Math.min(error.retryAfterMs ?? PAUSE_MS, PAUSE_MAX_MS);
}

/** The provider's own words, for work that waits. */
const refused = (cause: unknown, ms: number): EngineError =>
  new EngineError(cause instanceof Error ? cause.message : String(cause), {
    code: 'model_overloaded',
    retryable: true,
    retryAfterMs: ms,
    countsAsTry: false,
    cause,
  });

/** Places for work that is under way at a time; whoever finds none free waits in line. */
interface Slots {
  take(cancel: Cancellation): Promise<void>;
  /** Once for each that was taken. */
  giveBack(): void;
}

export function slots(count: number): Slots {
  let free = count;
  const line: (() => void)[] = [];
  return {
    take: async (cancel) => {
      if (free === 0) return inLine(line, cancel);
      free -= 1;
    },
    giveBack: () => {
      const next = line.shift();
      if (next === undefined) free += 1;
      else next(); // the place goes from hand to hand
    },
  };
}

/** Work of each name has so many places of its own. Whoever is cancelled in the line leaves it. */
export function slotsOfEach(count: number) {
  const places = new Map<string, { readonly slots: Slots; users: number }>();
  return async <T>(name: string, cancel: Cancellation, work: () => Promise<T>): Promise<T> => {
    const place = places.get(name) ?? { slots: slots(count), users: 0 };
    places.set(name, place);
    place.users += 1;
    try {
      return await inPlace(place.slots, cancel, work);
    } finally {
      place.users -= 1;
      if (place.users === 0) places.delete(name);
    }
  };
}

/** A chat model that is asked no more often at a time than there are places, by all that share them. */
export const slottedChat = (chat: ChatModel, places: Slots): ChatModel => ({
  ...chat,
  ask: (call, cancel) => inPlace(places, cancel, () => chat.ask(call, cancel)),
});

/** The same of an embedder. */
export const slottedEmbedder = (embedder: Embedder, places: Slots): Embedder => ({
  ...embedder,
  embed: (texts, cancel) => inPlace(places, cancel, () => embedder.embed(texts, cancel)),
});

async function inPlace<T>(places: Slots, cancel: Cancellation, work: () => Promise<T>): Promise<T> {
  await places.take(cancel);
  try {
    return await work();
  } finally {
    places.giveBack();
  }
}

/** Resolves when a place is handed over; rejects, and leaves the line, when the work is cancelled before. */
function inLine(line: (() => void)[], cancel: Cancellation): Promise<void> {
  return new Promise((resolve, reject) => {
    if (cancel.aborted) return reject(cancelled());
    const enter = (): void => {
      cancel.removeEventListener('abort', leave);
      resolve();
    };
    const leave = (): void => {
      line.splice(line.indexOf(enter), 1);
      reject(cancelled());
    };
    cancel.addEventListener('abort', leave, { once: true });
    line.push(enter);
  });
}

const cancelled = (): EngineError =>
  new EngineError('cancelled while waiting for others to finish', {
    code: 'cancelled',
    retryable: true,
  });

const POLICY: BreakerPolicy = {
  // Several times the tries one batch has: a batch that its provider cannot bear parks alone and stops nobody else.
  failures: 20,
  windowMs: 60_000,
  coolDownMs: 5_000,
  // How late a provider that is well again is noticed.
  coolDownMaxMs: 120_000,
};

/** The provider is away or broken, or refuses us whatever we ask. */
const BROKEN: readonly EngineErrorCode[] = [
  'model_unreachable',
  'model_timeout',
  'model_server_error',
  'model_misconfigured',
];
/** Shows nothing of the provider: it was not asked, or the caller hung up. */
const UNDECIDED: readonly EngineErrorCode[] = ['cancelled', 'rate_limited', 'queue_unavailable', 'ledger_unavailable'];

/** A chat model that can be seen to be left alone. */
export interface BreakingChat extends ChatModel {
  /** How it stands with the questions that fail most. */
  breaker(): Breaker['kind'];
}

interface BreakingOptions {
  readonly log: Log;
  readonly meter: Meter;
  readonly policy?: BreakerPolicy;
  readonly now?: () => number;
}

/**
 * A chat model that is left alone while it keeps failing, by all work of this process: work waits without losing
 * tries. The failure of a probe counts as any other.
 *
 * Each kind of question is left alone by itself, and none while the model answers the smallest question there is: then it
 * is there, and what it fails on is the fault of what it was asked. Else one owner's texts, or one kind of work that it
 * cannot do, would stop everybody's.
 */
export function breakingChat(
  chat: ChatModel,
  { log, meter, policy = POLICY, now = steadyNow }: BreakingOptions,
): BreakingChat {
  const breakers = new Map<string, Breaker>();
  const breakerOf = (name: string): Breaker => breakers.get(name) ?? CLOSED_BREAKER;
  return {
    ...chat,
    breaker: () =>
      STANDINGS.findLast((kind) => [...breakers.values()].some((breaker) => breaker.kind === kind)) ?? 'closed',
    ask: async (call, cancel) => {
      const { name } = call;
      const before = breakerOf(name);
      const admission = admitCall(before, now());
      if (admission.kind === 'wait') throw leftAlone(chat.name, admission.ms);
      breakers.set(name, admission.breaker);
      const { probe } = admission;
      try {
        const answer = await chat.ask(call, cancel);
        close(name);
        return answer;
      } catch (error) {
        await failed(error, { name, probe, cancel });
        throw error;
      }
    },
  };

  function close(name: string): void {
    const { kind } = breakerOf(name);
    breakers.set(name, CLOSED_BREAKER);
    if (kind !== 'closed') log.info({ model: chat.name, call: name }, 'a model answers again');
  }

  async function failed(error: unknown, { name, probe, cancel }: FailedCall): Promise<void> {
    const before = breakerOf(name);
    const shown = shownBy(error);
    if (shown === 'there') return close(name);
    if (shown === 'nothing') return void breakers.set(name, callUndecided(before, { probe, now: now() }));
    const after = callFailed(before, { probe, now: now() }, policy);
    breakers.set(name, after);
    if (after === before || after.kind !== 'open') return;
    if (await answersAnything(cancel)) return void breakers.set(name, CLOSED_BREAKER);
    log.warn({ model: chat.name, call: name, from: before.kind }, 'a model keeps failing; calls to it are paused');
  }

  /** A refusal is an answer. It is measured, and counted to nobody: whoever asked last is no more to blame than the others. */
  async function answersAnything(cancel: Cancellation): Promise<boolean> {
    try {
      await callModel({ deps: { chat, meter, tools: systemTools }, turn: null, prices: {}, cancel }, ARE_YOU_THERE);
      return true;
    } catch (error) {
      return shownBy(error) === 'there';
    }
  }
}

/** From the best to the worst. */
const STANDINGS = ['closed', 'half_open', 'open'] as const satisfies readonly Breaker['kind'][];

interface FailedCall {
  readonly name: string;
  readonly probe: boolean;
  readonly cancel: Cancellation;
}

/** What an error shows of the provider; one that refuses is there. */
function shownBy(error: unknown): 'broken' | 'nothing' | 'there' {
  if (error instanceof FencedError) return 'nothing';
  const code = error instanceof EngineError ? error.code : 'internal';
  if (BROKEN.includes(code)) return 'broken';
  return UNDECIDED.includes(code) ? 'nothing' : 'there';
}

const leftAlone = (model: string, ms: number): EngineError =>
  new EngineError(`${model} keeps failing; calls to it are paused for ${Math.ceil(ms / 1000)} s; the work waits`, {
    code: 'circuit_open',
    retryable: true,
    retryAfterMs: ms,
    countsAsTry: false,
  });

/**
 * How long somebody who waits for an answer waits for vectors. A model that is there needs a tenth of it; what is asked or
 * written is found by its words without.
 */
export const EMBEDDING_LIMIT_MS = 2_000;

/** An embedder for whoever stands and waits: what takes longer has failed. Work in bulk never stands before it. */
export const hurriedEmbedder = (embedder: Embedder, limitMs: number = EMBEDDING_LIMIT_MS): Embedder => ({
  ...embedder,
  embed: (texts, cancel) => embedInTime(embedder, { texts, limitMs }, cancel),
});

interface Hurry {
  readonly texts: readonly string[];
  readonly limitMs: number;
}

async function embedInTime(embedder: Embedder, { texts, limitMs }: Hurry, cancel: Cancellation): Promise<Embedded> {
  const hurry = new AbortController();
  const late = Promise.withResolvers<never>();
  const timer = setTimeout(() => {
    late.reject(tooLate(embedder, limitMs));
    hurry.abort();
  }, limitMs);
  const leave = (): void => hurry.abort();
  if (cancel.aborted) leave();
  cancel.addEventListener('abort', leave, { once: true });
  try {
    return await Promise.race([embedder.embed(texts, hurry.signal), late.promise]);
  } finally {
    clearTimeout(timer);
    cancel.removeEventListener('abort', leave);
  }
}

const tooLate = ({ fingerprint }: Embedder, limitMs: number): EngineError =>
  new EngineError(
    `expected vectors from ${fingerprint} within ${limitMs} ms, got none; words are used instead of vectors`,
    { code: 'model_timeout', retryable: true },
  );
