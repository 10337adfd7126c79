import { onOneLine, quoted } from './inert.ts';
import type { PendingItem, Turn } from './parts.ts';

/** Said where what came before the first turn is not told. */
const OPENING: Turn = { role: 'user', content: '(The conversation before this is not shown.)' };

/** Waiting messages as turns of a chat, oldest first. */
export function turnsOf(pending: readonly PendingItem[], alternating: boolean): readonly Turn[] {
  const turns = pending.map(turnOf);
  if (!alternating) return turns;
  const joined: Turn[] = [];
  for (const turn of turns[0]?.role === 'assistant' ? [OPENING, ...turns] : turns) {
    const last = joined.at(-1);
    if (last?.role !== turn.role) joined.push(turn);
    else joined[joined.length - 1] = { role: turn.role, content: `${last.content}\n\n${turn.content}` };
  }
  return joined;
}

/**
 * What a tool gave is shown to the model as data from outside: its own role needs the call it answers, which is not
 * known here. Nobody's words become the system's.
 */
function turnOf({ message: { role, name }, text }: PendingItem): Turn {
  if (role === 'assistant') return { role, content: text };
  if (role === 'tool') return { role: 'user', content: `(Result of a tool: ${quoted(text)})` };
  return { role: 'user', content: name === null ? text : `${onOneLine(name)}: ${text}` };
}
