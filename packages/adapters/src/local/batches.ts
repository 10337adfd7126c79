import { type Cancellation, EngineError, estimateTokens } from '@slowwave/engine';
import type { LocalVectors } from './protocol.ts';

/** Texts that are computed together: more make it no faster. */
const BATCH_TEXTS = 16;
/** Tokens that are, with those that fill shorter texts up: less than a second, for which a question may have to wait. */
const BATCH_TOKENS = 1_024;

type Run = (texts: readonly string[]) => Promise<LocalVectors>;

interface Waiting {
  readonly texts: readonly string[];
  /** All that its call is about. */
  readonly alone: boolean;
  readonly cancel: Cancellation;
  done(vectors: LocalVectors): void;
  failed(error: unknown): void;
}

/**
 * Has texts computed in batches of similar length, one batch at a time. Calls of one batch, as a question is, go before the
 * batches of longer ones, for which nobody stands and waits. What is cancelled is left out.
 */
export function batches(run: Run): (texts: readonly string[], cancel: Cancellation) => Promise<LocalVectors> {
  const waiting: Waiting[] = [];
  let working = false;
  const work = async (): Promise<void> => {
    working = true;
    for (let next = take(waiting); next !== undefined; next = take(waiting)) {
      if (next.cancel.aborted) next.failed(cancelled());
      else await run(next.texts).then(next.done, next.failed);
    }
    working = false;
  };
  const enter = (asked: Omit<Waiting, 'done' | 'failed'>): Promise<LocalVectors> => {
    const { promise, resolve, reject } = Promise.withResolvers<LocalVectors>();
    waiting.push({ ...asked, done: resolve, failed: reject });
    if (!working) void work();
    return promise;
  };
  return async (texts, cancel) => {
    const parts = inBatches(texts);
    const alone = parts.length === 1;
    const found = await Promise.all(parts.map((part) => enter({ texts: part.map(({ text }) => text), alone, cancel })));
    const vectors = new Array<Float32Array>(texts.length);
    parts.forEach((part, i) => {
      part.forEach(({ at }, j) => {
        vectors[at] = found[i]?.vectors[j] ?? new Float32Array();
      });
    });
    return { vectors, tokens: found.reduce((sum, { tokens }) => sum + tokens, 0) };
  };
}

function take(waiting: Waiting[]): Waiting | undefined {
  const short = waiting.findIndex(({ alone }) => alone);
  return waiting.splice(Math.max(0, short), 1)[0];
}

interface Placed {
  readonly text: string;
  /** Its place among the texts that were given. */
  readonly at: number;
}

/** Short texts are not filled up to the length of long ones: they are computed with their like. */
function inBatches(texts: readonly string[]): readonly (readonly Placed[])[] {
  const sorted = texts
    .map((text, at) => ({ text, at, tokens: estimateTokens(text) }))
    .sort((a, b) => a.tokens - b.tokens);
  const groups: Placed[][] = [];
  for (const { tokens, ...placed } of sorted) {
    const last = groups.at(-1);
    if (last === undefined || last.length === BATCH_TEXTS || (last.length + 1) * tokens > BATCH_TOKENS)
      groups.push([placed]);
    else last.push(placed);
  }
  return groups;
}

const cancelled = (): EngineError =>
  new EngineError('the texts were not embedded, because no request is waiting for them any more', {
    code: 'cancelled',
    retryable: true,
  });
