import {
  type Cancellation,
  type ChatAnswer,
  type ChatCall,
  type ChatModel,
  containment,
  EngineError,
  estimateTokens,
  type JsonObject,
  weightOf,
} from '@slowwave/engine';
import { decideOperations } from './decide.ts';
import { extractFacts, wishToForget } from './extract/extract.ts';
import { sentencesOf } from './extract/sentences.ts';
import { decideGraph, extractGraph } from './graph/graph.ts';
import { inputOf, listOf, objectOf, textOf } from './input.ts';

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

/** Memories all of whose words stand in another one say the same: the one with more of them stays, of equals the later. */
function judgeNeighbours(input: JsonObject): JsonObject {
  const memories = listOf(input.memories).map((given) => {
    const { id, text } = objectOf(given);
    return { id: textOf(id), text: textOf(text) };
  });
  const dropped = new Set<string>();
  const pairs = memories.flatMap((one, i) =>
    memories.slice(i + 1).flatMap((other) => {
      const isIn = containment(one.text, other.text) === 1;
      if (dropped.has(one.id) || dropped.has(other.id) || !(isIn || containment(other.text, one.text) === 1)) return [];
      const [keep, drop] = isIn ? [other.id, one.id] : [one.id, other.id];
      dropped.add(drop);
      return [{ kind: 'same', keep, drop, reason: 'all of its words stand in the other' }];
    }),
  );
  return { pairs };
}

/** Shorter words say little. In letters. */
const WORD_MIN = 4;

/** Something of which two memories speak in another day's words is of interest. */
function findPatterns(input: JsonObject): JsonObject {
  const memories = listOf(input.memories).map((given) => {
    const { id, text, said_at: saidAt } = objectOf(given);
    return { id: textOf(id), text: textOf(text), day: textOf(saidAt) };
  });
  const byWord = new Map<string, (typeof memories)[number][]>();
  for (const memory of memories)
    for (const word of new Set(namedIn(memory.text))) byWord.set(word, [...(byWord.get(word) ?? []), memory]);
  const [found] = [...byWord].filter(([, of]) => new Set(of.map(({ day }) => day)).size > 1);
  if (found === undefined) return { conclusions: [] };
  const [word, of] = found;
  const evidence = of.map(({ id }) => id);
  const conclusion = {
    text: `User is interested in ${word}`,
    evidence,
    certainty: 'low',
    reason: `all speak of ${word}`,
  };
  return { conclusions: [conclusion] };
}

const namedIn = (text: string): readonly string[] =>
  (text.toLowerCase().match(/\p{L}+/gu) ?? []).filter((word) => word.length >= WORD_MIN && weightOf(word) === 1);

/** What says that a memory belongs in one of the product's slots. */
const SIGNS: readonly (readonly [slot: string, sign: RegExp])[] = [
  ['name', /\b(?:name is|is called|goes by)\b/iu],
  ['home', /\b(?:lives?|living|moved) (?:in|to|at|near)\b/iu],
  ['languages', /\b(?:speaks?|is learning|native language)\b/iu],
  ['work', /\b(?:works? (?:as|at|for)|studies|is an? \w+ at)\b/iu],
  ['goals', /\b(?:goal is|wants to become|is saving (?:up )?for)\b/iu],
];

/** Goes by a few words of English, and only for slots that there are. */
function chooseSlots(input: JsonObject): JsonObject {
  const names = new Set(listOf(input.slots).map((slot) => textOf(objectOf(slot).name)));
  const signs = SIGNS.filter(([slot]) => names.has(slot));
  const places = listOf(input.memories).flatMap((given) => {
    const { id, text } = objectOf(given);
    const found = signs.find(([, sign]) => sign.test(textOf(text)));
    return found === undefined ? [] : [{ id: textOf(id), slot: found[0] }];
  });
  return { places };
}

/** A summary is context for later calls: its last statements matter most. */
const STATEMENTS_MAX = 12;
const SUMMARY_CHARS_MAX = 1_200;

/** What was summed up so far and what the user said since: the last statements, one a line. A wish to forget would remind. */
function refreshSummary(input: JsonObject): JsonObject {
  const before = textOf(input.summary).split('\n');
  const said = listOf(input.messages)
    .map(objectOf)
    .filter(({ role }) => role === 'user')
    .flatMap(({ content }) => sentencesOf(textOf(content)))
    .filter(({ question, text }) => !question && wishToForget(text, () => []) === null)
    .map(({ text }) => text);
  const lines = [...new Set([...before, ...said].map((line) => line.trim()).filter((line) => line !== ''))];
  return { summary: fitting(lines.slice(-STATEMENTS_MAX)).join('\n') };
}

/** As many of the last lines as there is room for. */
function fitting(lines: readonly string[]): readonly string[] {
  let room = SUMMARY_CHARS_MAX;
  const from = lines.findLastIndex((line) => {
    room -= line.length + 1;
    return room < 0;
  });
  return lines.slice(from + 1);
}

/** Every step of an agent's run, numbered, with what came out of it word for word. */
function summarizeProcedure(input: JsonObject): JsonObject {
  const steps = listOf(input.messages)
    .map(objectOf)
    .filter(({ role, content }) => role !== 'system' && textOf(content).trim() !== '');
  const lines = steps.map(({ role, name, content }, i) => {
    const who = textOf(name) === '' ? textOf(role) : `${textOf(role)} ${textOf(name)}`;
    return `${i + 1}. ${who}: ${textOf(content)}`;
  });
  return { summary: lines.join('\n') };
}
