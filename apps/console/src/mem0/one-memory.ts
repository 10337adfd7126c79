import { type HistoryEvent, type MemoryView, Metadata } from '@slowwave/contracts';
import type { App } from '@slowwave/http';
import { z } from 'zod';
import type { Ask } from './ask.ts';
import { unsupported } from './errors.ts';
import { everything } from './everything.ts';
import { momentOf } from './fields.ts';
import { memoryPath } from './memory-path.ts';
import { mem0Event, mem0Memory } from './views.ts';

const Id = z.strictObject({ id: z.string() });

const ChangeBody = z.strictObject({
  text: z.string().optional(),
  metadata: Metadata.optional(),
  expiration_date: z.string().nullish(),
  timestamp: z.unknown().optional(),
});

/** Reading, changing, deleting one memory, and its history. */
export function oneMemory(app: App, ask: Ask, at: string): void {
  app.get(`${at}/:id`, { schema: { params: Id } }, async (request) =>
    mem0Memory(await ask<MemoryView>(request, { method: 'GET', path: memoryPath(request.params.id) })),
  );
  app.put(`${at}/:id`, { schema: { params: Id, body: ChangeBody } }, async (request) => {
    const { text, metadata, expiration_date, timestamp } = request.body;
    if (timestamp != null) throw unsupported('timestamp of a change', 'omit it; the time of the request is used');
    const body = {
      ...(text !== undefined && { memory: text }),
      ...(metadata !== undefined && { metadata }),
      ...(expiration_date !== undefined && {
        expires_at: expiration_date === null ? null : momentOf(expiration_date),
      }),
    };
    return mem0Memory(await ask<MemoryView>(request, { method: 'PATCH', path: memoryPath(request.params.id), body }));
  });
  const deletion = { params: Id, querystring: z.looseObject({ delete_linked: z.enum(['true', 'false']).optional() }) };
  app.delete(`${at}/:id`, { schema: deletion }, async (request) => {
    if (request.query.delete_linked === 'true') throw unsupported('delete_linked', 'delete each memory by its id');
    await ask(request, { method: 'DELETE', path: memoryPath(request.params.id) });
    return { message: 'Memory deleted successfully!' };
  });
  app.get(`${at}/:id/history`, { schema: { params: Id } }, async (request) => {
    const path = `${memoryPath(request.params.id)}/history`;
    const events = await everything<HistoryEvent>(ask, request, { path });
    const { user_id } = await ask<MemoryView>(request, { method: 'GET', path: memoryPath(request.params.id) });
    return events.map(mem0Event(user_id));
  });
}
