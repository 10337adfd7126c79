/**
 * What acknowledging costs at the least with the same parts: Fastify, a zod schema and one job in BullMQ per request.
 * Arguments: port, URL of Redis.
 */
import { Queue } from 'bullmq';
import fastify from 'fastify';
import { z } from 'zod';

const Body = z.strictObject({
  user_id: z.string().min(1).max(256),
  messages: z
    .array(z.strictObject({ role: z.enum(['user', 'assistant']), content: z.string().max(500_000) }))
    .min(1)
    .max(2_000),
});
const ACCEPTED = 202;
const REFUSED = 422;

const [port, url = ''] = process.argv.slice(2);
// The settings of a writer, as ours has them: what is compared is what a request does.
const connection = { url, enableOfflineQueue: false, maxRetriesPerRequest: 1 };
const queue = new Queue('bare', { connection, defaultJobOptions: { removeOnComplete: true } });
await queue.waitUntilReady();
const app = fastify({ logger: false });
app.post('/v1/batches', async (request, reply) => {
  const body = Body.safeParse(request.body);
  if (!body.success) return reply.code(REFUSED).send({ error: body.error.message });
  const job = await queue.add('batch', body.data);
  return reply.code(ACCEPTED).send({ batch_id: job.id, state: 'pending' });
});
app.get('/readyz', async () => ({ status: 'ok' }));
await app.listen({ host: '127.0.0.1', port: Number(port) });
