import { type Cancellation, type ChatModel, type Embedder, EngineError } from '@slowwave/engine';

/** Places for calls that are under way at a time; whoever finds none free waits in line. */
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

/** A chat model that is asked no more often at a time than there are places, by all that share them. */
export const slottedChat = (chat: ChatModel, places: Slots): ChatModel => ({
  name: chat.name,
  ask: async (call, cancel) => {
    await places.take(cancel);
    try {
      return await chat.ask(call, cancel);
    } finally {
      places.giveBack();
    }
  },
});

/** The same of an embedder. */
export const slottedEmbedder = (embedder: Embedder, places: Slots): Embedder => ({
  fingerprint: embedder.fingerprint,
  dimensions: embedder.dimensions,
  embed: async (texts, cancel) => {
    await places.take(cancel);
    try {
      return await embedder.embed(texts, cancel);
    } finally {
      places.giveBack();
    }
  },
});

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
  new EngineError('cancelled while it waited for other calls of the model to end', {
    code: 'cancelled',
    retryable: true,
  });
