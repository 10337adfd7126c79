import { Readable } from 'node:stream';
import { type FastifyReply, type FastifyRequest, group, needScope, problem, type Routes } from '@slowwave/http';
import { postContext } from './context/context.ts';
import type { SearchDeps } from './deps.ts';
import { graphRoutes } from './graph/graph.ts';
import type { McpDeps } from './mcp.ts';
import { memoryRoutes } from './memories.ts';
import { messageRoutes } from './messages.ts';
import { postRecall } from './recall.ts';
import { receiptRoutes } from './receipts.ts';
import { postSearch } from './search.ts';

/** Answers questions about what is remembered. Changes nothing of it. */
export const searchRoutes = (deps: SearchDeps): Routes =>
  group('search', deps, [
    postSearch,
    postContext,
    postRecall,
    ...memoryRoutes,
    ...messageRoutes,
    ...receiptRoutes,
    ...graphRoutes,
  ]);

/**
 * The memory as tools for models, over MCP's streamable HTTP. Nothing is kept between requests. Loaded with the first one, so
 * that the start is not slower without such clients.
 */
export const mcpRoutes =
  (deps: McpDeps): Routes =>
  async (app) => {
    needScope(app, 'any');
    app.post('/mcp', { schema: { hide: true } }, async (request, reply) => {
      // Only a former version of the protocol had them, and thousands of calls may fit one body.
      if (Array.isArray(request.body))
        throw problem('invalid_request', 'expected one message, got a list; send each message in its own request');
      const { answerMcp } = await import('./mcp.ts');
      const message = asWebRequest(request, reply);
      return sent(reply, await answerMcp({ ...deps, app, request }, message));
    });
  };

/** The headers that MCP knows. */
const PROTOCOL_HEADERS = /^(accept|content-type|mcp-.*)$/;

/** Without its body, which is parsed already. It aborts when the caller leaves. */
function asWebRequest({ headers: sent }: FastifyRequest, reply: FastifyReply): Request {
  const left = new AbortController();
  reply.raw.once('close', () => {
    if (!reply.raw.writableFinished) left.abort();
  });
  const headers = new Headers();
  for (const [name, value] of Object.entries(sent)) if (PROTOCOL_HEADERS.test(name)) headers.set(name, String(value));
  return new Request('http://localhost/mcp', { method: 'POST', headers, signal: left.signal });
}

function sent(reply: FastifyReply, { status, headers, body }: Response): FastifyReply {
  reply.code(status).headers(Object.fromEntries(headers));
  return body === null ? reply.send() : reply.send(Readable.fromWeb(body));
}
