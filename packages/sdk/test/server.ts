import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** What one request is answered with; `hang`: never. */
export interface Scripted {
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: unknown;
  readonly hang?: boolean;
}

interface Asked {
  readonly name: string;
  readonly key: string | undefined;
  readonly body: string;
}

/** A server that answers as it is told, one answer after the other, the last for ever. */
export async function startScripted(answers: readonly Scripted[]) {
  const asked: Asked[] = [];
  const server = createServer((request, response) => void answer(request, response));
  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    let body = '';
    for await (const chunk of request) body += String(chunk);
    asked.push({ name: `${request.method} ${request.url}`, key: header(request, 'idempotency-key'), body });
    const now = answers[Math.min(asked.length, answers.length) - 1] ?? {};
    if (now.hang === true) return;
    const text = typeof now.body === 'string' ? now.body : JSON.stringify(now.body ?? {});
    response.writeHead(now.status ?? 200, { 'content-type': 'application/json', ...now.headers }).end(text);
  };
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    asked,
    close: () => {
      server.closeAllConnections();
      return new Promise((resolve) => server.close(resolve));
    },
  };
}

const header = (request: IncomingMessage, name: string): string | undefined => {
  const value = request.headers[name];
  return typeof value === 'string' ? value : undefined;
};
