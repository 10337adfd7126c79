import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { JsonObject } from '@slowwave/engine';
import { type EmbeddingScript, type Reply, refusal, type Script, type ScriptedCall } from './script.ts';

export interface ExtractInput {
  readonly context: JsonObject;
  readonly messages: readonly {
    readonly id: string;
    readonly role: string;
    readonly content: string;
    readonly timestamp: string;
    readonly name?: string | null;
  }[];
}

export interface DecideInput {
  readonly facts: readonly Said[];
  readonly memories: readonly Said[];
}

interface Said {
  readonly id: string;
  readonly text: string;
  readonly said_at: string;
}

interface DecidedOperation {
  readonly fact: string;
  readonly event: 'ADD' | 'UPDATE' | 'NONE';
  readonly id: string | null;
  readonly text: string | null;
  readonly reason: string;
  readonly keep: boolean;
}

/** Answers by call name; each returns the JSON of its answer. */
export interface Answers {
  readonly extract_facts?: (input: ExtractInput, call: ScriptedCall) => unknown;
  readonly decide_operations?: (input: DecideInput, call: ScriptedCall) => unknown;
  readonly [name: string]: ((input: never, call: ScriptedCall) => unknown) | undefined;
}

/** The question whether anybody is there; answered unless a script says otherwise. */
const there = (): unknown => ({ there: true });

/** A script from one answer per call name. A call without one fails and says so. */
export function answers(byName: Answers): Script {
  return (call) => {
    const answer = byName[call.name] ?? (call.name === 'are_you_there' ? there : undefined);
    if (answer === undefined) return refusal(500, { message: `the script has no answer for the call ${call.name}` });
    return { json: answer(call.input as never, call) };
  };
}

/** An embedder that computes one text after the other, and does not notice when somebody hangs up. */
export function slowEmbedder(msPerText: number): { readonly script: EmbeddingScript; workedMs(): number } {
  let idle = Promise.resolve();
  let workedMs = 0;
  const compute = async (texts: number): Promise<void> => {
    const startedAt = performance.now();
    await sleep(texts * msPerText);
    workedMs += performance.now() - startedAt;
  };
  return {
    script: async ({ texts }) => {
      idle = idle.then(() => compute(texts.length));
      await idle;
      return null;
    },
    workedMs: () => workedMs,
  };
}

/** Takes every user message, or every sentence of it, for one fact. */
export function echoExtractor(options: { sentences?: boolean } = {}): (input: ExtractInput) => unknown {
  const split = options.sentences === true ? sentencesOf : (text: string) => [text];
  return ({ messages }) => ({
    facts: messages
      .filter(({ role }) => role === 'user')
      .flatMap(({ id, content }) => split(content).map((text) => factOf(id, text))),
  });
}

/**
 * Decides by a key per text, such as "city of Anna": a text that is remembered already → NONE; another text under the
 * same key → UPDATE of the memory or earlier fact that holds it; else ADD. Without a key (null) only equal texts meet.
 */
export function keyedDecider(keyOf: (text: string) => string | null): (input: DecideInput) => {
  operations: DecidedOperation[];
} {
  const keyed = (said: Said): Keyed => ({ ...said, key: keyOf(said.text), at: Date.parse(said.said_at) });
  return ({ facts, memories }) => {
    const known = memories.map(keyed).toSorted((a, b) => a.at - b.at);
    return { operations: facts.map((fact) => decide(keyed(fact), known)) };
  };
}

interface Keyed extends Said {
  readonly key: string | null;
  readonly at: number;
}

/** `known` is what holds so far, latest last; a fact that changes it takes its place, unless it was said before it. */
function decide(fact: Keyed, known: Keyed[]): DecidedOperation {
  const same = known.findLast(({ text }) => plain(text) === plain(fact.text));
  if (same !== undefined) return operation(fact, 'NONE', same.id);
  const holder = fact.key === null ? undefined : known.findLast(({ key }) => key === fact.key);
  if (holder !== undefined && fact.at < holder.at) return operation(fact, 'UPDATE', holder.id);
  if (holder !== undefined) known.splice(known.indexOf(holder), 1);
  known.push(fact);
  return holder === undefined ? operation(fact, 'ADD', null) : operation(fact, 'UPDATE', holder.id);
}

function operation(fact: Keyed, event: DecidedOperation['event'], id: string | null): DecidedOperation {
  const reason = { ADD: 'nothing like it is known', UPDATE: 'it says something newer', NONE: 'it is known' }[event];
  return { fact: fact.id, event, id, text: event === 'NONE' ? null : fact.text, reason, keep: true };
}

function factOf(source: string, text: string): object {
  const unknown = { category: null, language: null, valid_from: null };
  return { text, source_ids: [source], quote: text, about: 'user', ...unknown };
}

function sentencesOf(text: string): string[] {
  return text.split(/(?<=[.!?])\s+|(?<=[。！？])/u).filter((sentence) => sentence.trim() !== '');
}

function plain(text: string): string {
  return text
    .normalize('NFKC')
    .toLowerCase()
    .replace(/\s+/gu, ' ')
    .trim()
    .replace(/[.!?。！？]+$/u, '');
}

/** An answer that calls one tool, under an id of its own. */
export const toolCall = (name: string, input: object): Reply => ({
  status: 200,
  body: {
    id: 'chatcmpl-scripted',
    object: 'chat.completion',
    created: 0,
    model: 'scripted',
    choices: [{ index: 0, finish_reason: 'tool_calls', message: calling(name, input) }],
    usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
  },
});

const calling = (name: string, input: object) => ({
  role: 'assistant',
  content: null,
  tool_calls: [{ id: `call_${randomUUID()}`, type: 'function', function: { name, arguments: JSON.stringify(input) } }],
});

/** A message as a model is sent it. */
export interface SentMessage {
  readonly role: string;
  readonly content: string | null;
}

/** These answers, one after the other, the last for ever; `sent` has the messages of each call. */
export function oneByOne(...replies: readonly Reply[]) {
  const sent: (readonly SentMessage[])[] = [];
  const script: Script = ({ request }) => {
    sent.push(request.messages as unknown as readonly SentMessage[]);
    return replies[Math.min(sent.length, replies.length) - 1] ?? { text: '' };
  };
  return { sent: sent as readonly (readonly SentMessage[])[], script };
}
