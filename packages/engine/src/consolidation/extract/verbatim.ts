import type { Spoken } from '../../messages/reading.ts';
import { type Admitted, admit } from './admit.ts';

/** Each message as a fact of its own, word for word but for its secrets. */
export function verbatim(spoken: readonly Spoken[]): Admitted {
  const said = spoken.filter(({ message }) => message.role !== 'system');
  const shown = new Map(said.map((one, i) => [`m${i}`, one]));
  const raw = [...shown].map(([id, { message, text }]) => ({
    text,
    sourceIds: [id],
    quote: null,
    category: null,
    language: null,
    validFrom: null,
    about: message.role === 'assistant' ? 'agent' : 'user',
  }));
  return admit([{ raw, shown }], { inferred: false, agent: true, categories: [] });
}
