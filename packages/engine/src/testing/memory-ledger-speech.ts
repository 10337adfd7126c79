import type { SaidMessage, SpeechStore } from '../ports/ledger/speech.ts';
import { type State, scopeKey } from './memory-ledger-state.ts';

export function memorySpeech(state: State): SpeechStore {
  return {
    said: async (lane, ids) =>
      [...new Set(ids)].flatMap((id) => {
        const row = state.messages.get(id);
        return row?.lane === lane ? [saidOf(state, row)] : [];
      }),
  };
}

type Row = State['messages'] extends Map<string, infer R> ? R : never;

function saidOf(state: State, row: Row): SaidMessage {
  const { seq } = row.message.saidAt;
  const isBefore = ({ lane, scope, message }: Row): boolean =>
    lane === row.lane &&
    message.saidAt.seq < seq &&
    !message.resent &&
    (message.role === 'user' || message.role === 'assistant') &&
    scopeKey(scope) === scopeKey(row.scope);
  const earlier = [...state.messages.values()].filter(isBefore).map(({ message }) => message);
  const before = earlier.reduce<SaidMessage['before']>(
    (last, message) => (last === null || last.saidAt.seq < message.saidAt.seq ? message : last),
    null,
  );
  return { message: row.message, before };
}
