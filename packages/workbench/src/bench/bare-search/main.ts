/**
 * What a search over HTTP costs at the least with the same parts: Fastify, a zod schema and one question to the index,
 * whose answer goes out as it is found. No ranking, no scope, no limits. Questions are embedded once and kept.
 * Arguments: port, then where the index is: the path of its file, or the URL of a Qdrant and the name there.
 */
import type { LaneId } from '@slowwave/engine';
import fastify from 'fastify';
import { z } from 'zod';
import { product } from '../../product.ts';
import { indexQueryOf, questionOf } from '../filled/questions.ts';

const Body = z.strictObject({
  query: z.string().min(1).max(10_000),
  user_id: z.string().min(1).max(256),
  lane: z.string(),
  top_k: z.int().min(1).max(100).default(10),
});
const REFUSED = 422;

const [port, ...place] = process.argv.slice(2);
const index = await product.openIndex(place);
const known = new Map<string, ReturnType<typeof questionOf>>();
const kept = (text: string): ReturnType<typeof questionOf> => {
  const question = known.get(text) ?? questionOf(text);
  known.set(text, question);
  return question;
};
const app = fastify({ logger: false });
app.post('/v1/search', async (request, reply) => {
  const body = Body.safeParse(request.body);
  if (!body.success) return reply.code(REFUSED).send({ error: body.error.message });
  const { query, user_id, lane, top_k } = body.data;
  const of = { owner: { kind: 'user' as const, id: user_id }, lane: lane as LaneId };
  const [hits = []] = await index.search([indexQueryOf(await kept(query), of)]);
  const results = hits.slice(0, top_k).map(({ point, vectorScore, keywordScore }) => {
    const { memoryId, text, metadata, category, createdAt, updatedAt } = point;
    return { id: memoryId, memory: text, metadata, category, createdAt, updatedAt, vectorScore, keywordScore };
  });
  return reply.send({ results });
});
app.get('/readyz', async () => ({ status: 'ok' }));
await app.listen({ host: '127.0.0.1', port: Number(port) });
