import { createHash } from 'node:crypto';
import { answerText } from './answering.ts';
import { type Reply, refusal, type Script, type ScriptedCall } from './script.ts';

/** What can happen to a call; the last three leave the answer whole and put something around it. */
const FAULTS = {
  rate_limited: () => ({
    ...refusal(429, { message: 'Rate limit reached.', code: 'rate_limit_exceeded' }),
    headers: { 'retry-after': '0' },
  }),
  server_error: () => refusal(503, { message: 'The server is overloaded.' }),
  timeout: () => ({ timeout: true }),
  dropped: () => ({ drop: true }),
  cut_off: () => ({ drop: 'midway' }),
  error_body: () => ({ status: 200, body: { error: { message: 'Provider returned error', code: 502 } } }),
  empty: () => ({ text: '' }),
  malformed: () => ({ text: 'I am sorry, but {this is: not JSON' }),
  truncated: (answer) => ({ text: answer.slice(0, Math.floor(answer.length / 2)), finish: 'length' }),
  fenced: (answer) => ({ text: `\`\`\`json\n${answer}\n\`\`\`` }),
  prose: (answer) => ({ text: `Here is what I found:\n\n${answer}\n\nLet me know if you need anything else.` }),
  thinking: (answer) => ({ text: `<think>The user wants JSON, like {"a": 1}.</think>\n${answer}` }),
} as const satisfies Record<string, (answer: string) => Reply>;

export type Fault = keyof typeof FAULTS;

/** What becomes of an answer. */
export const spoiled = (fault: Fault, answer: string): Reply => FAULTS[fault](answer);

export interface FaultPlan {
  readonly seed: number;
  /** The share of calls each fault hits; together at most 1. */
  readonly rates: Readonly<Partial<Record<Fault, number>>>;
  /** The same question is answered at the latest after this many faults; 2 by default. */
  readonly maxPerQuestion?: number;
}

/**
 * A script whose answers go wrong as planned. Which ones depends on the seed, the question and how often it failed
 * before, not on the order in which questions arrive: several workers meet the same faults as one.
 */
export function withFaults(script: Script, plan: FaultPlan): Script {
  const asked = new Map<string, number>();
  const limit = plan.maxPerQuestion ?? 2;
  return async (call) => {
    const question = `${call.name} ${JSON.stringify(call.input)}`;
    const before = asked.get(question) ?? 0;
    const fault = before < limit ? faultFor(plan, `${question} ${before}`) : null;
    if (fault === null) return script(call);
    asked.set(question, before + 1);
    return spoil(fault, script, call);
  };
}

async function spoil(fault: Fault, script: Script, call: ScriptedCall): Promise<Reply> {
  const reply = await script(call);
  return 'json' in reply || 'text' in reply ? spoiled(fault, answerText(reply)) : reply;
}

function faultFor(plan: FaultPlan, question: string): Fault | null {
  let rest = share(`${plan.seed} ${question}`);
  for (const [fault, rate] of Object.entries(plan.rates)) {
    rest -= rate;
    if (rest < 0) return fault as Fault;
  }
  return null;
}

/** A number in [0, 1) that depends on the text alone. */
function share(text: string): number {
  return createHash('sha256').update(text).digest().readUInt32LE(0) / 2 ** 32;
}
