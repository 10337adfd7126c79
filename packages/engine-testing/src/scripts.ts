import { normaliseText } from '@slowwave/engine';
import type { Script } from './fake-models.ts';

interface ShownMessage {
  id: string;
  role: string;
  content: string;
}
interface ShownText {
  id: string;
  text: string;
  said_at: string;
}

/** A model that takes every user message for one fact. */
export const echoExtract: Script = (input) => ({
  facts: (input.messages as unknown as ShownMessage[])
    .filter((message) => message.role === 'user')
    .map((message) => ({ text: message.content, source_ids: [message.id] })),
});

/** A model that never errs: texts with the same key are about the same thing, and the one said last counts. */
export const keyedDecide =
  (keyOf: (text: string) => string): Script =>
  (input) => {
    const facts = input.facts as unknown as ShownText[];
    const known = input.memories as unknown as ShownText[];
    const operations = facts.map((fact, i) => {
      const shown = [...known, ...facts.slice(0, i)];
      const same = shown.findLast((other) => keyOf(other.text) === keyOf(fact.text));
      if (same === undefined) return { fact: fact.id, event: 'ADD', id: null, text: null, reason: 'new', keep: null };
      const repeats = normaliseText(same.text) === normaliseText(fact.text);
      const event = repeats ? 'NONE' : 'UPDATE';
      return { fact: fact.id, event, id: same.id, text: repeats ? null : fact.text, reason: 'same key', keep: null };
    });
    return { operations };
  };
