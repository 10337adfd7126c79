import type { Json, JsonObject } from '@slowwave/engine';
import { builtinChat } from '../index.ts';
import { listOf, objectOf, textOf } from '../input.ts';

/** A Tuesday. */
export const NOW = '2025-06-10T10:00:00Z';
const NEVER = new AbortController().signal;

/** Asks the builtin model as the engine does, and reads its answer. */
export async function ask(name: string, input: JsonObject): Promise<JsonObject> {
  const user = `Do this.\n${JSON.stringify(input)}`;
  const answer = await builtinChat().ask({ name, system: name, user, schema: {} }, NEVER);
  return JSON.parse(answer.text) as JsonObject;
}

export async function factsOf(
  content: string,
  { role = 'user', at = NOW }: { readonly role?: string; readonly at?: string } = {},
): Promise<readonly JsonObject[]> {
  const message = { id: 'm0', role, content, timestamp: at, name: null };
  const context = { summary: null, recent: [], now: at, instructions: null };
  const { facts } = await ask('extract_facts', { context, messages: [message] });
  return listOf(facts).map(objectOf);
}

export const textsOf = async (content: string, at = NOW): Promise<readonly string[]> =>
  (await factsOf(content, { at })).map(({ text }) => textOf(text));

/** Operations in short: "f0 UPDATE 1". */
export async function decided(facts: readonly string[], memories: readonly string[]): Promise<readonly string[]> {
  const named = (text: string, id: string): Json => ({ id, text, said_at: NOW });
  const { operations } = await ask('decide_operations', {
    facts: facts.map((text, i) => named(text, `f${i}`)),
    memories: memories.map((text, i) => named(text, String(i))),
  });
  return listOf(operations).map((operation) => {
    const { fact, event, id, keep } = objectOf(operation);
    return [fact, event, id, keep === false ? 'forget' : null].filter((part) => part !== null).join(' ');
  });
}

/** What is remembered after some posts, each extracted and decided on its own. */
export async function remembered(posts: readonly string[]): Promise<readonly string[]> {
  let memories: readonly string[] = [];
  for (const post of posts) memories = await afterPost(memories, await textsOf(post));
  return memories;
}

async function afterPost(memories: readonly string[], facts: readonly string[]): Promise<readonly string[]> {
  const texts = new Map<string, string>(memories.map((text, i) => [String(i), text]));
  for (const operation of await decided(facts, memories)) {
    const [fact = '', event = '', id = ''] = operation.split(' ');
    const text = facts[Number(fact.slice(1))] ?? '';
    if (event === 'ADD') texts.set(fact, text);
    if (event === 'UPDATE' || event === 'DELETE') texts.delete(id);
    if (event === 'UPDATE') texts.set(fact, text);
  }
  return [...texts.values()];
}
