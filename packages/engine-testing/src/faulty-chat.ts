import { type ChatAnswer, type ChatCall, type ChatModel, EngineError, type EngineErrorCode } from '@slowwave/engine';
import { fnv } from './fixed-tools.ts';
import { pick, seeded } from './worlds.ts';

export interface FaultShares {
  readonly seed: number;
  /** Answers that are whole, with something around them. */
  readonly wrapped: number;
  /** Answers that are of no use, or do not come. */
  readonly failing: number;
}

/** What models and servers put around an answer. */
const WRAPPINGS: readonly ((answer: string) => string)[] = [
  (answer) => `\`\`\`json\n${answer}\n\`\`\``,
  (answer) => `Sure, {here} is what you asked for:\n\n${answer}\n\nAnything else?`,
  (answer) => `<think>Should it be {"facts":[]} or {"operations":[]}?</think>\n${answer}`,
  (answer) => `\ufeff${answer}<|im_end|>`,
];

type Failing = (answer: ChatAnswer) => ChatAnswer;

const thrown =
  (code: EngineErrorCode): Failing =>
  () => {
    throw new EngineError(`the model answers ${code}`, { code, retryable: true });
  };

const FAILURES: readonly Failing[] = [
  (answer) => ({ ...answer, text: '' }),
  (answer) => ({ ...answer, text: '{"error":{"message":"overloaded"}}' }),
  (answer) => ({ ...answer, text: answer.text.slice(0, answer.text.length / 2), truncated: true }),
  thrown('model_overloaded'),
  thrown('model_server_error'),
  thrown('model_timeout'),
  thrown('model_unreachable'),
];

/**
 * A model some of whose answers go wrong. Which ones follows from the seed, the question and how often it was asked
 * before, so that the same run meets the same faults.
 */
export function faultyChat(chat: ChatModel, { seed, wrapped, failing }: FaultShares): ChatModel {
  const asked = new Map<string, number>();
  return {
    name: chat.name,
    ask: async (call: ChatCall, cancel) => {
      const question = `${call.name} ${call.user}`;
      const before = asked.get(question) ?? 0;
      asked.set(question, before + 1);
      const random = seeded(fnv(`${seed} ${before} ${question}`, seed));
      const share = random();
      const answer = await chat.ask(call, cancel);
      if (share < failing) return pick(FAILURES, random)(answer);
      return share < failing + wrapped ? { ...answer, text: pick(WRAPPINGS, random)(answer.text) } : answer;
    },
  };
}
