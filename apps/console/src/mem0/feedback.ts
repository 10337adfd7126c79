import type { MemoryView } from '@slowwave/contracts';
import type { App } from '@slowwave/http';
import { z } from 'zod';
import type { Ask } from './ask.ts';
import { memoryPath } from './memory-path.ts';

const FeedbackBody = z.strictObject({
  memory_id: z.string(),
  feedback: z.enum(['POSITIVE', 'NEGATIVE', 'VERY_NEGATIVE']).nullish(),
  feedback_reason: z.string().max(2_000).nullish(),
  org_id: z.string().nullish(),
  project_id: z.string().nullish(),
});

/** Kept in the memory's metadata, where filters find it; none takes it away again. */
export function feedback(app: App, ask: Ask): void {
  app.post('/v1/feedback', { schema: { body: FeedbackBody } }, async (request) => {
    const { memory_id, feedback: given, feedback_reason: reason } = request.body;
    const path = memoryPath(memory_id);
    const { metadata, version } = await ask<MemoryView>(request, { method: 'GET', path });
    const { feedback: _, feedback_reason: __, ...rest } = metadata;
    const said = { ...(given && { feedback: given }), ...(reason && { feedback_reason: reason }) };
    await ask(request, { method: 'PATCH', path, body: { metadata: { ...rest, ...said }, version } });
    return { id: memory_id, feedback: given ?? null, feedback_reason: reason ?? null };
  });
}
