import type { Batch } from '@slowwave/sdk';
import { useState } from 'react';
import { api, queries } from '../../api.ts';
import type { Ids } from '../../owner.ts';

/** One message, and what became of it so far. */
export interface Line {
  readonly key: number;
  readonly text: string;
  /** null: it is not stored yet. */
  readonly batch: Batch | null;
  readonly error: unknown;
}

interface Conversation {
  readonly lines: readonly Line[];
  /** A message is on its way. */
  readonly busy: boolean;
  say(text: string): void;
}

/** Posts each message and follows it until it is consolidated. */
export function useConversation(ids: Ids): Conversation {
  const [lines, setLines] = useState<readonly Line[]>([]);
  const change = (key: number, fields: Partial<Line>): void =>
    setLines((before) => before.map((line) => (line.key === key ? { ...line, ...fields } : line)));
  const follow = async (key: number, text: string): Promise<void> => {
    try {
      const accepted = await api.batches.post({
        ...ids,
        messages: [{ role: 'user', content: text }],
        flush: true,
      });
      change(key, { batch: await api.batches.get(accepted.batch_id) });
      change(key, { batch: await api.batches.settled(accepted.batch_id) });
    } catch (error) {
      change(key, { error });
    }
    // Whatever is shown of the user may have changed.
    await queries.invalidateQueries({ queryKey: ['playground'] });
  };
  const say = (text: string): void => {
    const key = lines.length;
    setLines([...lines, { key, text, batch: null, error: null }]);
    void follow(key, text);
  };
  return { lines, say, busy: lines.some(({ batch, error }) => batch === null && error === null) };
}
