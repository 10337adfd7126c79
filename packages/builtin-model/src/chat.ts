import {
  type Cancellation,
  type ChatAnswer,
  type ChatCall,
  type ChatModel,
  EngineError,
  estimateTokens,
  type JsonObject,
} from '@slowwave/engine';
import { decideOperations } from './decide/decide.ts';
import { extractFacts } from './extract/extract.ts';
import { decideGraph, extractGraph } from './graph/graph.ts';
import { inputOf, objectOf, textOf } from './input.ts';
import { judgeNeighbours } from './neighbours.ts';
import { findPatterns } from './patterns.ts';
import { chooseSlots } from './slots.ts';
import { refreshSummary, summarizeProcedure } from './summary.ts';

const NAME = 'builtin';

type Answer = (input: JsonObject) => JsonObject;

/** What it can be asked, by the name of the call. */
const ANSWERS: ReadonlyMap<string, Answer> = new Map<string, Answer>([
  ['extract_facts', extractFacts],
  ['decide_operations', decideOperations],
  ['extract_graph', extractGraph],
  ['decide_graph', decideGraph],
  ['judge_neighbours', judgeNeighbours],
  ['find_patterns', findPatterns],
  ['choose_slots', chooseSlots],
  ['refresh_summary', refreshSummary],
  ['summarize_procedure', summarizeProcedure],
  ['repair_output', repair],
  ['are_you_there', () => ({ there: true })],
]);

/** A chat model of rules, for trying out and for tests: no key, no network, and the same answer every time. */
export function builtinChat(): ChatModel {
  return {
    name: NAME,
    ask: async (call, cancel) => answer(call, cancel),
  };
}

function answer(call: ChatCall, cancel: Cancellation): ChatAnswer {
  if (cancel.aborted) {
    throw new EngineError(`${call.name} was cancelled before it began`, { code: 'cancelled', retryable: true });
  }
  const text = JSON.stringify(answerTo(call.name, inputOf(call)));
  const usage = {
    promptTokens: estimateTokens(call.system) + estimateTokens(call.user),
    completionTokens: estimateTokens(text),
  };
  return { text, model: NAME, usage, truncated: false };
}

function answerTo(name: string, input: JsonObject): JsonObject {
  const known = ANSWERS.get(name);
  if (known !== undefined) return known(input);
  if (name === 'describe_image') {
    throw new EngineError(
      'expected a model that reads images, got the builtin one; set SLOWWAVE_IMAGE_MODEL to one that does, or send text',
      { code: 'unsupported_content', retryable: false },
    );
  }
  throw new EngineError(
    `expected one of ${[...ANSWERS.keys()].join(', ')}, got ${name}; the builtin model answers no other calls: set SLOWWAVE_CHAT_MODEL`,
    { code: 'model_misconfigured', retryable: false },
  );
}

/** Asked to do a call again, it does. */
function repair(input: JsonObject): JsonObject {
  const name = textOf(input.call);
  return answerTo(name === 'repair_output' ? '' : name, objectOf(input.input));
}
