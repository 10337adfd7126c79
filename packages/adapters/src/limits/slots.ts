import { type Cancellation, type ChatModel, type Embedder, EngineError } from '@slowwave/engine';

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
  name: chat.name,
  ask: (call, cancel) => inPlace(places, cancel, () => chat.ask(call, cancel)),
});

/** The same of an embedder. */
export const slottedEmbedder = (embedder: Embedder, places: Slots): Embedder => ({
  fingerprint: embedder.fingerprint,
  dimensions: embedder.dimensions,
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
