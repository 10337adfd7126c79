import { millisOf } from '../text/dates.ts';
import { estimateTokens } from '../text/tokens.ts';

/** A memory or message that can be read and cited. */
export interface Readable {
  readonly kind: 'memory' | 'message';
  /** Names it among all: a memory's version, or a message. */
  readonly key: string;
  readonly text: string;
  /** Who said it; of messages alone. */
  readonly role: string | null;
  /** When it began to hold, or was said, as ISO 8601: local time where it was said. */
  readonly date: string;
  /** The messages behind it, or itself: what can be read around. */
  readonly messageIds: readonly string[];
}

export interface Note {
  /** How a model names it: "0" is a memory, "m0" a message. */
  readonly id: string;
  readonly of: Readable;
  /** How far up it was found, 0 the best. */
  readonly rank: number;
}

/** One entry never takes the place of all others. */
export const NOTE_TOKENS_MAX = 400;
/** What an entry costs beside its text. */
const FRAME_TOKENS = 30;

const timeOf = ({ of }: Note): number => millisOf(of.date) ?? 0;

/** What was read so far, each once, under short ids that stay the same. */
export function notebook() {
  const notes = new Map<string, Note>();
  const counts = { memory: 0, message: 0 };
  return {
    /** Answers with what was new. */
    write: (found: readonly Readable[]): readonly Readable[] => {
      const fresh = found.filter(({ key }) => !notes.has(key));
      for (const of of fresh) {
        const id = `${of.kind === 'memory' ? '' : 'm'}${counts[of.kind]}`;
        counts[of.kind] += 1;
        notes.set(of.key, { id, of, rank: found.indexOf(of) });
      }
      return fresh;
    },
    named: (id: string): Note | null => [...notes.values()].find((note) => note.id === id) ?? null,
    /** The best of it that so many tokens have room for; memories before messages of the same rank. In the order of time. */
    fitting: (tokens: number): readonly Note[] => {
      let room = tokens;
      const best = [...notes.values()].sort((a, b) => a.rank - b.rank || kindOf(a) - kindOf(b));
      const chosen = best.filter(({ of }) => {
        const cost = Math.min(estimateTokens(of.text), NOTE_TOKENS_MAX) + FRAME_TOKENS;
        if (cost > room) return false;
        room -= cost;
        return true;
      });
      return chosen.sort((a, b) => timeOf(a) - timeOf(b));
    },
    best: (count: number): readonly Note[] =>
      [...notes.values()]
        .filter(({ of }) => of.kind === 'memory')
        .sort((a, b) => a.rank - b.rank)
        .slice(0, count),
    isEmpty: (): boolean => notes.size === 0,
  };
}

const kindOf = ({ of }: Note): number => (of.kind === 'memory' ? 0 : 1);

export type Notebook = ReturnType<typeof notebook>;
