import { setTimeout as sleep } from 'node:timers/promises';
import {
  type Cancellation,
  type ChatCall,
  type ChatModel,
  callTokens,
  type Embedded,
  type Embedder,
  EngineError,
  estimateTokens,
  type Limiter,
  type Log,
  type Millis,
  type ModelLimits,
  type Reservation,
  recent,
  type SecondUse,
  secondOf,
  waitFor,
} from '@slowwave/engine';
import { inLine } from '../system/system.ts';

/** Tokens an answer is thought to take before it is known. */
const ANSWER_TOKENS = 400;
/** What an image is thought to take: providers count from a hundred to two thousand. */
const IMAGE_TOKENS = 1_000;

/** A chat model that all workers together ask no more often than its provider allows. */
export const limitedChat = (
  chat: ChatModel,
  { limiter, log, as = chat.name }: { limiter: Limiter; log: Log; as?: string },
): ChatModel => ({
  ...chat,
  ask: (call, cancel) =>
    limited(
      { model: as, limiter, log },
      {
        tokens: estimateOf(call),
        cancel,
        lastLook: call.lastLook,
        ask: () => chat.ask(call, cancel),
        used: ({ usage }) => usage.promptTokens + usage.completionTokens,
      },
    ),
});

const estimateOf = (call: ChatCall): number =>
  callTokens(call) + (call.images ?? []).length * IMAGE_TOKENS + ANSWER_TOKENS;

/** An embedder that is left alone for as long as its provider asks for. */
export const limitedEmbedder = (embedder: Embedder, { limiter, log }: { limiter: Limiter; log: Log }): Embedder =>
  embeddingBy(embedder, (texts, cancel) =>
    limited(
      { model: embedder.fingerprint, limiter, log },
      {
        tokens: texts.reduce((sum, text) => sum + estimateTokens(text), 0),
        cancel,
        ask: () => embedder.embed(texts, cancel),
        used: ({ usage }) => usage.promptTokens,
      },
    ),
  );

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
    // Nobody waits for it: until it is stored, an answer that was paid for is lost with this process.
    void noted(limiter.correct(model, id, call.used(answer)));
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
  new EngineError(`the rate limits of ${model} allow no further calls for ${Math.ceil(ms / 1000)} s; the work waits`, {
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
      if (free === 0) return inLine(cancel, placeIn(line, cancel));
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
export const slottedEmbedder = (embedder: Embedder, places: Slots): Embedder =>
  embeddingBy(embedder, (texts, cancel) => inPlace(places, cancel, () => embedder.embed(texts, cancel)));

/** An embedder that embeds in another way. Its space may become known later, so that it is asked for each time. */
const embeddingBy = (embedder: Embedder, embed: Embedder['embed']): Embedder => ({
  get fingerprint() {
    return embedder.fingerprint;
  },
  get dimensions() {
    return embedder.dimensions;
  },
  embed,
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
function placeIn(line: (() => void)[], cancel: Cancellation): Promise<void> {
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

/** Nobody was asked: work whose time is up meanwhile has not failed. */
const cancelled = (): EngineError =>
  new EngineError('all concurrent calls are in use by other work; the work waits', {
    code: 'cancelled',
    retryable: true,
    countsAsTry: false,
  });

/**
 * How long somebody who waits for an answer waits for vectors. A model that is there needs a tenth of it; what is asked or
 * written is found by its words without.
 */
const EMBEDDING_LIMIT_MS = 2_000;

/** An embedder for whoever stands and waits: what takes longer has failed. Work in bulk never stands before it. */
export function hurriedEmbedder(embedder: Embedder, limitMs: number = EMBEDDING_LIMIT_MS): Embedder {
  const embed: Embedder['embed'] = (texts, cancel) => embedInTime(embedder, { texts, limitMs }, cancel);
  const inTime: Embedder['inTime'] = (others) => timed(others, { limitMs, late: () => tooLate(embedder, limitMs) });
  return Object.assign(embeddingBy(embedder, embed), { inTime });
}

interface Hurry {
  readonly texts: readonly string[];
  readonly limitMs: number;
}

async function embedInTime(embedder: Embedder, { texts, limitMs }: Hurry, cancel: Cancellation): Promise<Embedded> {
  const hurry = new AbortController();
  const leave = (): void => hurry.abort();
  if (cancel.aborted) leave();
  cancel.addEventListener('abort', leave, { once: true });
  const late = (): EngineError => {
    leave();
    return tooLate(embedder, limitMs);
  };
  try {
    return await timed(embedder.embed(texts, hurry.signal), { limitMs, late });
  } finally {
    cancel.removeEventListener('abort', leave);
  }
}

/** Fails with what `late` makes where it takes longer. */
async function timed<T>(
  work: Promise<T>,
  { limitMs, late }: { readonly limitMs: number; readonly late: () => EngineError },
): Promise<T> {
  const over = Promise.withResolvers<never>();
  const timer = setTimeout(() => over.reject(late()), limitMs);
  try {
    return await Promise.race([work, over.promise]);
  } finally {
    clearTimeout(timer);
  }
}

const tooLate = ({ fingerprint }: Embedder, limitMs: number): EngineError =>
  new EngineError(
    `expected vectors from ${fingerprint} within ${limitMs} ms, got none; keywords are used instead of vectors`,
    { code: 'model_timeout', retryable: true },
  );

/** A limiter for one process that works alone. */
export function memoryLimiter(limits: ModelLimits, now: () => number = steadyNow): Limiter {
  const accounts = new Map<string, Account>();
  const accountOf = (model: string): Account => accounts.get(model) ?? NEW_ACCOUNT;
  return {
    reserve: async (model, tokens) => {
      const { account, answer } = reserveIn(accountOf(model), limits, { now: now(), tokens: Math.ceil(tokens) });
      accounts.set(model, account);
      return answer;
    },
    correct: async (model, id, tokens) => void accounts.set(model, correctIn(accountOf(model), id, Math.ceil(tokens))),
    pause: async (model, ms) => void accounts.set(model, pauseIn(accountOf(model), now() + ms)),
    close: async () => {},
  };
}

/** For accounts that nobody else sees and that end with the process: what is set on the machine's clock moves no pause. */
export const steadyNow = (): Millis => performance.timeOrigin + performance.now();

/** What one model has been granted lately, and until when its provider wants to be left alone. */
export interface Account {
  readonly uses: readonly SecondUse[];
  readonly pausedUntil: Millis;
}

export const NEW_ACCOUNT: Account = { uses: [], pausedUntil: 0 };

interface Reserved {
  readonly account: Account;
  readonly answer: Reservation;
}

export function reserveIn(
  account: Account,
  limits: ModelLimits,
  { now, tokens }: { now: Millis; tokens: number },
): Reserved {
  const uses = recent(account.uses, now);
  const ms = Math.max(account.pausedUntil - now, waitFor(uses, limits, { now, tokens }));
  if (ms > 0) return { account: { ...account, uses }, answer: { kind: 'wait', ms } };
  const second = secondOf(now);
  const grown = added(uses, { second, requests: 1, tokens });
  return { account: { ...account, uses: grown }, answer: { kind: 'granted', id: reservationId(second, tokens) } };
}

/** Only a second that still counts is corrected. */
export function correctIn(account: Account, id: string, tokens: number): Account {
  const reserved = reservedIn(id);
  if (reserved === null) return account;
  const more = tokens - reserved.tokens;
  const uses = account.uses.map((use) =>
    use.second === reserved.second ? { ...use, tokens: Math.max(0, use.tokens + more) } : use,
  );
  return { ...account, uses };
}

export const pauseIn = (account: Account, until: Millis): Account => ({
  ...account,
  pausedUntil: Math.max(account.pausedUntil, until),
});

function added(uses: readonly SecondUse[], use: SecondUse): readonly SecondUse[] {
  const same = uses.find((other) => other.second === use.second);
  if (same === undefined) return [...uses, use];
  const sum = { second: use.second, requests: same.requests + use.requests, tokens: same.tokens + use.tokens };
  return [...uses.filter((other) => other !== same), sum];
}

/** A reservation says itself what it holds: nothing has to be remembered between reserving and settling. */
export const reservationId = (second: number, tokens: number): string => `${second}~${tokens}`;

export function reservedIn(id: string): { readonly second: number; readonly tokens: number } | null {
  const found = /^(\d+)~(\d+)$/u.exec(id);
  return found === null ? null : { second: Number(found[1]), tokens: Number(found[2]) };
}
