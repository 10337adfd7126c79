import { chatOnTrial, type ThoughtPlace } from '@slowwave/adapters/assemble';
import { type Cancellation, type ChatAnswer, type ChatCall, EngineError, estimateTokens } from '@slowwave/engine';
import { type Needs, secondsOf, type Trying } from './trial.ts';

/** A chat model that is tried: its calls are timed, and end with the budget. */
export type TimedChat = Awaited<ReturnType<typeof timedChat>>;

interface How {
  /** Of the answer, in tokens; missing: as usual. */
  readonly limit?: number;
  /** Of the whole budget; missing: all that is left of it. */
  readonly share?: number;
}

/** An answer, and how long it took, for people. */
export interface Answered extends ChatAnswer {
  readonly took: string;
}

export async function timedChat({ config, log, budget, known }: Trying, model: string) {
  const { open, takes, since } = await chatOnTrial(config, { model, log, known });
  const calls: Timed[] = [];
  const room: { read: number; problem: string | null } = { read: 0, problem: null };
  let thoughts: ThoughtPlace | null = null;

  const askUntil = async (call: ChatCall, cancel: Cancellation, limit?: number): Promise<Answered> => {
    const timed: Timed = { prompt: promptOf(call), first: null, ms: 0, isWhole: false, written: 0 };
    calls.push(timed);
    const startedAt = budget.clock.now();
    const passed = (): number => budget.clock.now() - startedAt;
    const watch = {
      begun: () => {
        timed.first = passed();
      },
      thought: (place: ThoughtPlace) => {
        thoughts = place;
      },
      cut: ({ sent, read }: { sent: number; read: number }) => {
        room.problem = `read only ${read} of ${sent} tokens of a prompt, without saying so`;
      },
    };
    const chat = open({ watch, ...(limit !== undefined && { maxOutputTokens: limit }) });
    try {
      const answer = await chat.ask(call, cancel);
      timed.isWhole = true;
      timed.written = answer.usage.completionTokens;
      if (room.problem === null) room.read = Math.max(room.read, timed.prompt);
      return { ...answer, took: secondsOf(passed()) };
    } catch (error) {
      if (error instanceof EngineError && error.code === 'context_too_long')
        room.problem = `refused a prompt of about ${timed.prompt} tokens`;
      if (error instanceof EngineError) timed.written = error.written;
      throw error;
    } finally {
      timed.ms = passed();
    }
  };

  return {
    name: model,
    takes,
    /** That the ledger knows what it does not take, for people; empty: that was found out here. */
    since: since === null ? '' : `, as is known since ${since.slice(0, ISO_DAY)}`,
    askUntil,
    /** null: there was not enough time. */
    ask: (call: ChatCall, { limit, share }: How = {}) =>
      budget.within((cancel) => askUntil(call, cancel, limit), share),
    thoughts: () => thoughts,
    /** The longest prompt that was read, in tokens, and what became of a longer one. */
    room: (): Readonly<typeof room> => room,
    /** How far the last call had come when its time was up, for people. */
    reached: () => calls.slice(-1).map(reached).join(),
    needs: (prompt: number, written: number): Needs => needsOf(calls, { prompt, written }),
    hasTimeFor: (prompt: number) => needsOf(calls, { prompt, written: 0 }).least <= budget.left(),
    pace: () => {
      const whole = calls.filter(({ isWhole }) => isWhole).map(({ ms }) => ms);
      return `the chat model ${whole.length === 0 ? 'has not answered' : `answers in ${secondsOf(Math.min(...whole))}`}`;
    },
  };
}

const ISO_DAY = 'YYYY-MM-DD'.length;

/** How long a prompt is, in tokens. */
export const promptOf = ({ system, user }: ChatCall): number => estimateTokens(system + user);

/** One call, as far as it has come. */
interface Timed {
  readonly prompt: number; // tokens
  /** Until its first words, in milliseconds. null: they have not come, or all of the answer came at once. */
  first: number | null;
  /** Until its end, in milliseconds, or until it was cut off. */
  ms: number;
  isWhole: boolean;
  /** Tokens of the answer, thoughts included. */
  written: number;
}

const reached = ({ prompt, first, ms }: Timed): string =>
  first === null
    ? `no answer to about ${prompt} tokens within ${secondsOf(ms)}`
    : `began to answer about ${prompt} tokens after ${secondsOf(first)}, and was still writing after ${secondsOf(ms)}`;

/** From a short prompt nobody knows how long a model reads: most of it may be the way to its server. */
const TELLING_SHARE = 0.25;

/** How long a call will take, by what the fastest ones before it took. */
function needsOf(calls: readonly Timed[], { prompt, written }: { prompt: number; written: number }): Needs {
  const whole = calls.filter(({ isWhole }) => isWhole);
  const writing = leastOf(whole.map((call) => (call.ms - (call.first ?? 0)) / Math.max(1, call.written))) * written;
  const begun = calls.flatMap(({ first, ...call }) => (first === null ? [] : [{ ...call, first }]));
  const [fastest] = begun.toSorted((a, b) => a.first / a.prompt - b.first / b.prompt);
  if (fastest === undefined) return { least: writing, likely: writing };
  const reading = fastest.first * Math.max(1, prompt / fastest.prompt);
  const isTelling = fastest.prompt >= prompt * TELLING_SHARE;
  return { least: (isTelling ? reading : fastest.first) + writing, likely: reading + writing };
}

const leastOf = (numbers: readonly number[]): number => (numbers.length === 0 ? 0 : Math.min(...numbers));
