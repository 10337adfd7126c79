/**
 * What acknowledging costs at the least with the same rows on the same disk: Fastify, a zod schema and one writer that commits for all who
 * wait. The ledger's own tables with their indexes and triggers, and none of its questions: who it is, whether it was posted before, which
 * job is due. Arguments: port, sqlite or postgres, the file or the URL.
 */
import fastify from 'fastify';
import { z } from 'zod';
import { openBarePostgres } from './postgres.ts';
import type { BareWriter } from './rows.ts';
import { openBareSqlite } from './sqlite.ts';

const Body = z.strictObject({
  user_id: z.string().min(1).max(256),
  messages: z
    .array(z.strictObject({ role: z.enum(['user', 'assistant']), content: z.string().max(500_000) }))
    .min(1)
    .max(2_000),
});
const ACCEPTED = 202;
const REFUSED = 422;

const [port, kind, place = ''] = process.argv.slice(2);
const writer: BareWriter = kind === 'postgres' ? await openBarePostgres(place) : await openBareSqlite(place);
const app = fastify({ logger: false });
app.post('/v1/batches', async (request, reply) => {
  const body = Body.safeParse(request.body);
  if (!body.success) return reply.code(REFUSED).send({ error: body.error.message });
  const id = await writer.append({ user: body.data.user_id, messages: body.data.messages });
  return reply.code(ACCEPTED).send({ batch_id: id, state: 'pending' });
});
app.get('/readyz', async () => ({ status: 'ok' }));
await app.listen({ host: '127.0.0.1', port: Number(port) });
