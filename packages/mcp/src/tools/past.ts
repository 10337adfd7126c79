import type { UndoReport } from '@slowwave/sdk';
import { z } from 'zod';
import { ToolError } from '../connection.ts';
import { DATA, dayOf, EVENT, eventView, ID_FIELDS, linesOr, MEMORY_ID } from '../fields.ts';
import { type Call, tool } from '../tool.ts';

export const memoryHistory = tool({
  name: 'memory_history',
  title: 'Get the history of a memory',
  description:
    'Returns what one memory said before and why it changed, oldest first, also after it was deleted. Use it when a person ' +
    `asks since when or why something is remembered. ${DATA}`,
  input: z.strictObject({ memory_id: MEMORY_ID }),
  output: z.object({ results: z.array(EVENT) }),
  effect: 'reads',
  run: async ({ slowwave, signal }, { memory_id }) => {
    const { results } = await slowwave.memories.history(memory_id, { signal });
    const lines = results.map(
      ({ created_at, event, memory, previous }) => `- ${dayOf(created_at)} ${event} ${memory ?? `(was: ${previous})`}`,
    );
    return { text: linesOr('It has no history.', lines), data: { results: results.map(eventView) } };
  },
});

/** How many of the newest consolidations are looked at for one that changed anything. */
const LOOKED_AT = 20;

const TAKEN_BACK = z.object({ id: z.string(), before: z.string().nullable(), after: z.string().nullable() });

export const undoLast = tool({
  name: 'undo_last',
  title: 'Undo what was remembered last',
  description:
    'Takes back everything that was last remembered of a person from a conversation, when they say that it was wrong. What ' +
    'add_memory has accepted but not processed yet is not affected, and neither are update_memory and delete_memory. Each ' +
    'call goes one step further back. Returns the memories before and after.',
  input: z.strictObject({ user_id: ID_FIELDS.user_id }),
  output: z.object({
    consolidation_id: z.string().nullable().describe('What was undone; null: there was nothing to undo.'),
    memories: z.array(TAKEN_BACK).describe('What each memory said, and says now; null: nothing.'),
  }),
  effect: 'takesBack',
  run: async (call, given) => {
    const { user_id } = await call.ids(given);
    if (user_id === undefined)
      throw new ToolError('expected user_id; add the id of the person whose memories are meant');
    const id = await lastChange(call, user_id);
    if (id === null) return { text: 'There is nothing to undo.', data: { consolidation_id: null, memories: [] } };
    const { slowwave, signal } = call;
    const { memories } = await slowwave.consolidations.undo(id, {}, { signal });
    const lines = memories.map(({ before, after }) => `- ${before ?? '(nothing)'} → ${after ?? '(nothing)'}`);
    const data = { consolidation_id: id, memories: memories.map(({ id, before, after }) => ({ id, before, after })) };
    return { text: ['Undone:', ...lines].join('\n'), data };
  },
});

/** The newest consolidation that changed memories: many only hear what is known. */
async function lastChange({ slowwave, signal }: Call, user_id: string): Promise<string | null> {
  const query = { user_id, state: 'applied', limit: LOOKED_AT } as const;
  const { results } = await slowwave.send('GET /v1/consolidations', { query }, { signal });
  for (const { id } of results) {
    const wouldDo: UndoReport = await slowwave.consolidations.undo(id, { dry_run: true }, { signal });
    if (wouldDo.changed > 0) return id;
  }
  return null;
}
