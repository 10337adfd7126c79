import type { AskedCall } from '../provider.ts';
import type { Finding } from './finding.ts';

/** A time in which an answer that had come could be lost before it was stored. */
export interface Disturbance {
  readonly kind: string;
  readonly from: number;
  readonly to: number;
}

/** An answer that was stored is so within this time, where nothing disturbs it. */
const STORE_MS = 1_000;
/** From a worker's last look at what is answered until its question is here: what another one stores meanwhile it cannot know. */
const SENDS_MS = 100;
/** Which question shows that the answer before it was stored. Facts are embedded while it is being stored, which shows nothing. */
const NEXT: Readonly<Record<string, string>> = { extract_facts: 'decide_operations' };

/**
 * A question that was answered in full is not asked again, unless something went wrong before its answer was stored.
 * Stored it was when the next question was seen, or when the ledger has it and nothing disturbed it at first. An answer that
 * the ledger does not have was lost on its way: something has to have gone wrong then, however long a busy process was about it.
 */
export function checkPaid(calls: readonly AskedCall[], ground: Omit<Ground, 'calls'>): Finding[] {
  const { disturbances } = ground;
  const answered = calls.filter(({ answeredAt }) => answeredAt !== null);
  const byQuestion = Map.groupBy(answered, ({ hash }) => hash);
  return [...byQuestion.values()].flatMap((asked) =>
    asked.slice(1).flatMap((again, i): Finding[] => {
      const first = asked[i];
      if (first === undefined || !isFinished(first, again, { ...ground, calls })) return [];
      const after = again.askedAt - (first.answeredAt ?? 0);
      const what = `${again.name}, answered to ${first.member}, was asked again by ${again.member} ${after} ms later`;
      return [
        {
          kind: 'paid twice',
          what: `${what}: ${again.texts.slice(0, TEXTS_SHOWN).join(', ')}; ${around(first, again, disturbances)}`,
        },
      ];
    }),
  );
}

const TEXTS_SHOWN = 5;
const NEAR_MS = 10_000;

/** What went wrong before it was asked again, in milliseconds from the answer. What comes later changes nothing about it. */
function around({ answeredAt }: AskedCall, { askedAt }: AskedCall, disturbances: readonly Disturbance[]): string {
  const at = answeredAt ?? 0;
  const near = disturbances.filter(({ from, to }) => from < askedAt && to > at - NEAR_MS);
  return near.map(({ kind, from, to }) => `${kind} from ${from - at} to ${to - at} ms`).join(', ');
}

interface Ground {
  readonly calls: readonly AskedCall[];
  readonly disturbances: readonly Disturbance[];
  /** Whether the ledger has this very answer. */
  isKept(call: AskedCall): boolean;
}

/** Whether the first answer was stored when its question came again. */
function isFinished(first: AskedCall, again: AskedCall, { calls, disturbances, isKept }: Ground): boolean {
  const { answeredAt, name, texts } = first;
  if (answeredAt === null || again.askedAt <= answeredAt) return false;
  const wentOn = calls.some(
    (call) =>
      call.name === NEXT[name] &&
      call.member === first.member &&
      call.askedAt >= answeredAt &&
      call.askedAt < again.askedAt &&
      call.texts.some((text) => texts.includes(text)),
  );
  const couldKnow = again.member === first.member || again.askedAt > answeredAt + SENDS_MS;
  const until = isKept(first) ? answeredAt + STORE_MS : again.askedAt;
  const disturbed = disturbances.some(({ from, to }) => from < until && to > answeredAt - STORE_MS);
  return (wentOn && couldKnow) || (!disturbed && again.askedAt > answeredAt + STORE_MS);
}
