import { setImmediate } from 'node:timers/promises';
import { type Content, EngineError, isWithheld } from '@slowwave/engine';
import type { AppendedOrAway } from '../../ledger/away.ts';
import type { Append } from '../../ledger/batches.ts';
import type { Posted } from '../../ledger/rows/batch.ts';

/** So many appends share a transaction at most, … */
const GROUP_MAX = 256;
/** … or as many as have this much text: about a tenth of a second of work for the server. */
const GROUP_CHARS_MAX = 4_000_000;

/** Collects the appends of a process: while one group is being written, the next one gathers. */
interface AppendGroups {
  append(call: Append): Promise<AppendedOrAway>;
  /** No more appends; resolves when those that came are answered. */
  close(): Promise<void>;
}

interface Waiting {
  readonly call: Append;
  readonly chars: number;
  answer(appended: AppendedOrAway): void;
  fail(error: unknown): void;
}

/** `write` stores a group in one transaction and throws when none of it was stored. */
export function appendGroups(write: (group: readonly Append[]) => Promise<readonly AppendedOrAway[]>): AppendGroups {
  const waiting: Waiting[] = [];
  let working: Promise<void> | null = null;
  let closed = false;

  const work = async (): Promise<void> => {
    await setImmediate(); // what arrives in the same moment joins the first group
    while (waiting.length > 0) await writeGroup(waiting.splice(0, sizeOfNext(waiting)), write);
    working = null;
  };
  return {
    append: (call) => {
      if (closed) return Promise.reject(new EngineError('the ledger is closed', CLOSED));
      const { promise, resolve, reject } = Promise.withResolvers<AppendedOrAway>();
      waiting.push({ call, chars: charsOf(call.posted), answer: resolve, fail: reject });
      working ??= work();
      return promise;
    },
    close: async () => {
      closed = true;
      await working;
    },
  };
}

const CLOSED = { code: 'ledger_unavailable', retryable: true } as const;

/** A group that is refused is halved until what cannot be stored stands alone: it fails, and nothing else. */
async function writeGroup(
  group: readonly Waiting[],
  write: (group: readonly Append[]) => Promise<readonly AppendedOrAway[]>,
): Promise<void> {
  try {
    const answers = await write(group.map(({ call }) => call));
    for (const [i, appended] of answers.entries()) group[i]?.answer(appended);
  } catch (error) {
    if (group.length === 1 || !isRefusal(error)) {
      for (const { fail } of group) fail(error);
      return;
    }
    const middle = Math.ceil(group.length / 2);
    await writeGroup(group.slice(0, middle), write);
    await writeGroup(group.slice(middle), write);
  }
}

/** Something in the group cannot be stored, or not yet; an outage would hit every part of it alike. */
const isRefusal = (error: unknown): boolean =>
  error instanceof EngineError && (error.code === 'internal' || error.code === 'owner_asleep');

function sizeOfNext(waiting: readonly Waiting[]): number {
  let chars = 0;
  const end = waiting.findIndex((one, i) => {
    chars += one.chars;
    return i > 0 && (i >= GROUP_MAX || chars > GROUP_CHARS_MAX);
  });
  return end === -1 ? waiting.length : end;
}

const charsOf = ({ messages }: Posted): number =>
  typeof messages === 'string'
    ? messages.length
    : messages.reduce((chars, { content }) => chars + lengthOf(content), 0);

function lengthOf(content: Content): number {
  if (isWithheld(content)) return 0;
  return typeof content === 'string'
    ? content.length
    : content.reduce((chars, part) => chars + (part.type === 'text' ? part.text : part.image_url.url).length, 0);
}
