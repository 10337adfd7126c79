import type { DeletedView, MemoryView } from '@slowwave/contracts';
import { type App, countMore } from '@slowwave/http';
import { z } from 'zod';
import type { Ask } from './ask.ts';
import { QueryIds } from './fields.ts';
import { memoryPath } from './memory-path.ts';
import { queryText } from './scope.ts';

const Scope = z.strictObject({ ...QueryIds, org_id: z.string().optional(), project_id: z.string().optional() });
const SEVERAL_MAX = 1_000;

const Changes = z.strictObject({
  memories: z
    .array(z.strictObject({ memory_id: z.string(), text: z.string() }))
    .min(1)
    .max(SEVERAL_MAX),
});
const Deletions = z.strictObject({
  memories: z
    .array(z.strictObject({ memory_id: z.string() }))
    .min(1)
    .max(SEVERAL_MAX),
});

/** Everything of one owner. */
export function deleteOfOwner(app: App, ask: Ask, at: string): void {
  app.delete(at, { schema: { querystring: Scope } }, async (request) => {
    const { user_id, agent_id, run_id, app_id } = request.query;
    const query = queryText({ user_id, agent_id, run_id, app_id });
    const { deleted } = await ask<z.infer<typeof DeletedView>>(request, {
      method: 'DELETE',
      path: `/v1/memories${query}`,
    });
    countMore(request, deleted - 1);
    return { message: `Memories deleted successfully! (${deleted})` };
  });
}

/** Several memories at once, each by its id. */
export function severalMemories(app: App, ask: Ask): void {
  app.put('/v1/batch', { schema: { body: Changes } }, async (request) => {
    for (const { memory_id, text } of request.body.memories) {
      await ask<MemoryView>(request, { method: 'PATCH', path: memoryPath(memory_id), body: { memory: text } });
    }
    return { message: `Successfully updated ${request.body.memories.length} memories` };
  });
  app.delete('/v1/batch', { schema: { body: Deletions } }, async (request) => {
    for (const { memory_id } of request.body.memories)
      await ask(request, { method: 'DELETE', path: memoryPath(memory_id) });
    return { message: `Successfully deleted ${request.body.memories.length} memories` };
  });
}
