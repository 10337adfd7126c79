import { setTimeout as sleep } from 'node:timers/promises';
import { type EmbeddingCall, type EmbeddingScript, type Raw, refusal } from '@slowwave/testkit';

/** An embedder that computes one text after the other, does not notice when somebody hangs up, and remembers what it did. */
export interface WatchedEmbedder {
  readonly script: EmbeddingScript;
  /** Every text that it computed, as often as it did. */
  readonly computed: readonly string[];
  /** Requests that it did not answer with vectors. */
  refused(): number;
  mostInFlight(): number;
  /**
   * What it needs by itself, from a moment of `performance.now()` on: the time in which it computed texts for the first time, or
   * had said that it cannot be asked.
   */
  ownMs(since: number): number;
}

/** How it computes: it takes a while, and may have vectors of its own. */
export type Compute = (texts: readonly string[]) => Promise<Raw | null>;

export const takingLong =
  (msPerText: number): Compute =>
  async (texts) => {
    await sleep(texts.length * msPerText);
    return null;
  };

/** What is the matter with it besides. */
export const TROUBLES = ['slow', 'small', 'limited', 'away'] as const;
type Trouble = (typeof TROUBLES)[number];

interface Watched {
  readonly trouble: Trouble;
  readonly compute: Compute;
  /** How many texts it will be asked for. */
  readonly wanted: number;
}

/** Texts that `small` takes in one request. */
const TEXTS_MAX = 10;
/** `limited` refuses every second request for so long. */
const RETRY_AFTER_S = 1;
/** How long `away` is away, from when it has computed half of the texts. */
const AWAY_MS = 20_000;

export function watchedEmbedder({ trouble, compute, wanted }: Watched): WatchedEmbedder {
  const computed: string[] = [];
  const known = new Set<string>();
  const spans: Span[] = [];
  let refusals = 0;
  let inFlight = 0;
  let most = 0;
  let idle = Promise.resolve();
  let awayUntil: number | null = null;

  const work = async (texts: readonly string[]): Promise<Raw | null> => {
    const from = performance.now();
    const answer = await compute(texts);
    const again = texts.filter((text) => known.has(text)).length / texts.length;
    const to = performance.now();
    spans.push({ from, to: to - again * (to - from) });
    for (const text of texts) known.add(text);
    computed.push(...texts);
    return answer;
  };
  const isAway = (): boolean => {
    const now = performance.now();
    if (trouble !== 'away' || computed.length < wanted / 2) return false;
    if (awayUntil === null) {
      awayUntil = now + AWAY_MS;
      spans.push({ from: now, to: awayUntil });
    }
    return now < awayUntil;
  };
  const refused = ({ texts, count }: EmbeddingCall): Raw | null => {
    if (trouble === 'small' && texts.length > TEXTS_MAX) {
      return refusal(400, { message: `expected at most ${TEXTS_MAX} inputs, got ${texts.length}` });
    }
    if (trouble !== 'limited' || count % 2 === 1) return null;
    const now = performance.now();
    spans.push({ from: now, to: now + RETRY_AFTER_S * 1_000 });
    return { ...refusal(429, { message: 'Too many requests' }), headers: { 'retry-after': String(RETRY_AFTER_S) } };
  };
  const inLine = ({ texts }: EmbeddingCall): Promise<Raw | null> => {
    const turn = idle.then(() => (isAway() ? ({ drop: true } as const) : work(texts)));
    idle = turn.then(() => {});
    return turn;
  };
  const isVectors = (answer: Raw | null): boolean => answer === null || ('status' in answer && answer.status === 200);
  return {
    script: async (call) => {
      inFlight += 1;
      most = Math.max(most, inFlight);
      const answer = refused(call) ?? (await inLine(call));
      inFlight -= 1;
      if (!isVectors(answer)) refusals += 1;
      return answer;
    },
    computed,
    refused: () => refusals,
    mostInFlight: () => most,
    ownMs: (since) => covered(spans, since),
  };
}

interface Span {
  readonly from: number;
  readonly to: number;
}

/** How much of the time since a moment is in any of the spans. */
function covered(spans: readonly Span[], since: number): number {
  let sum = 0;
  let end = since;
  for (const { from, to } of spans.toSorted((a, b) => a.from - b.from)) {
    sum += Math.max(0, to - Math.max(from, end));
    end = Math.max(end, to);
  }
  return sum;
}
