import type { BatchView } from '@slowwave/contracts';
import type { App } from '@slowwave/http';
import { z } from 'zod';
import { resultOf, statusOf } from './add.ts';
import type { Ask } from './ask.ts';

/** What became of an add: its event is our batch. */
export function events(app: App, ask: Ask): void {
  app.get('/v1/event/:id', { schema: { params: z.strictObject({ id: z.string() }) } }, async (request) => {
    const path = `/v1/batches/${encodeURIComponent(request.params.id)}`;
    const batch = await ask<BatchView>(request, { method: 'GET', path });
    const { accepted_at, searchable_at } = batch.timings;
    return {
      id: batch.id,
      event_type: 'ADD',
      status: statusOf(batch),
      results: batch.events.map(resultOf),
      error: batch.error?.message ?? null,
      created_at: accepted_at,
      updated_at: searchable_at ?? accepted_at,
    };
  });
}
