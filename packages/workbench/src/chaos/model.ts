import type { JsonObject } from '@slowwave/engine';
import {
  type DecideInput,
  type ExtractInput,
  echoExtractor,
  keyedDecider,
  type Raw,
  refusal,
  type ScriptedCall,
} from '@slowwave/testkit';
import { type DecideGraphInput, decideGraph, extractGraph } from './graph-model.ts';

/** What a message with this word in it gets: no model takes it, now or later. */
export const POISON = 'unspeakable';

/** What a text with this word in it gets: no embedder takes it, now or later. */
export const UNEMBEDDABLE = 'unembeddable';

/** Texts with the same key are about the same: what stands before " is ". */
export const keyOf = (text: string): string => text.split(' is ')[0] ?? text;

const extract = echoExtractor();
const decide = keyedDecider(keyOf);

/** A model that never errs, but for what it refuses. */
export function answerOf({ name, input }: Pick<ScriptedCall, 'name' | 'input'>): { readonly json: unknown } | Raw {
  const asked = input ?? {};
  switch (name) {
    case 'extract_facts':
      return isPoison(asked) ? REFUSED : { json: extract(asked as unknown as ExtractInput) };
    case 'decide_operations':
      return { json: decide(asked as unknown as DecideInput) };
    case 'extract_graph':
      return { json: extractGraph(asked as unknown as ExtractInput) };
    case 'decide_graph':
      return { json: decideGraph(asked as unknown as DecideGraphInput) };
    case 'repair_output':
      return answerOf({ name: String(asked.call), input: asked.input as JsonObject });
    case 'are_you_there':
      return { json: { there: true } };
    case 'refresh_summary':
      return { json: { summary: 'They talk about what is what.' } };
    default:
      return refusal(500, { message: `the script has no answer for the call ${name}` });
  }
}

export const REFUSED = refusal(400, {
  message: 'The input was refused by the content filter.',
  code: 'content_filter',
});

/** What an extraction of these messages should find. */
export const factsOf = (input: JsonObject): readonly object[] =>
  (extract(input as unknown as ExtractInput) as { facts: readonly object[] }).facts;

/** Only what is new counts: a refused message may be shown with later ones as what was said before. */
const isPoison = (input: JsonObject): boolean => JSON.stringify(input.messages ?? null).includes(POISON);
