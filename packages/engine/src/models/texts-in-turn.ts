import { EngineError } from '../errors.ts';
import type { Embedder } from '../ports/models.ts';
import type { Cancellation, Tools } from '../ports/tools.ts';
import type { LaneId } from '../words.ts';

export interface Taken {
  readonly tools: Tools;
  readonly embedder: Embedder;
  readonly lane: LaneId;
  readonly texts: readonly string[];
  readonly cancel: Cancellation;
}

/** Vectors of the texts: those that others have made meanwhile, and those that whoever has the texts adds. */
export type Held = Map<string, Float32Array>;

/** The last in the line of each text of a lane and a space. It leaves the vector that it made, if it made one. */
const LINES = new WeakMap<Tools, Map<string, Promise<Float32Array | undefined>>>();

/**
 * One at a time in this process asks for a text of a lane in a space, and keeps its vector; who comes meanwhile waits, and finds
 * it made. All places are taken at once, in the order of arrival, so that nobody waits for somebody who waits for them.
 */
export async function textsInTurn<T>(
  { tools, embedder, lane, texts, cancel }: Taken,
  work: (held: Held) => Promise<T>,
): Promise<T> {
  const lines = LINES.get(tools) ?? new Map<string, Promise<Float32Array | undefined>>();
  LINES.set(tools, lines);
  const places = [...new Set(texts)].map((text) => ({ text, line: `${embedder.fingerprint} ${lane} ${text}` }));
  const before = places.flatMap(({ text, line }) => {
    const last = lines.get(line);
    return last === undefined ? [] : [last.then((vector) => ({ text, vector }))];
  });
  const held: Held = new Map();
  const others = Promise.all(before).then((made) => {
    for (const { text, vector } of made) if (vector !== undefined) held.set(text, vector);
  });
  const done = Promise.withResolvers<void>();
  const ended = Promise.all([others, done.promise]);
  for (const { text, line } of places) {
    const mine = ended.then(() => {
      if (lines.get(line) === mine) lines.delete(line);
      return held.get(text);
    });
    lines.set(line, mine);
  }
  try {
    if (before.length > 0) await awaited(embedder.inTime?.(others) ?? others, cancel);
    return await work(held);
  } finally {
    done.resolve();
  }
}

/** Whoever is cancelled leaves; those behind wait for those before. */
async function awaited(others: Promise<void>, cancel: Cancellation): Promise<void> {
  const left = Promise.withResolvers<never>();
  const leave = (): void =>
    left.reject(
      new EngineError('the texts were being embedded by other work; this one was cancelled', {
        ...{ code: 'cancelled', retryable: true, countsAsTry: false, cause: cancel.reason },
      }),
    );
  if (cancel.aborted) leave();
  cancel.addEventListener('abort', leave, { once: true });
  try {
    await Promise.race([others, left.promise]);
  } finally {
    cancel.removeEventListener('abort', leave);
  }
}
