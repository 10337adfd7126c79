import { readFile } from 'node:fs/promises';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import type { Setup } from './setups.ts';

/** The proxy of docker-compose.yml: which program answers what. Its first matching line wins. */
interface Rule {
  readonly pattern: RegExp;
  readonly program: string;
}

const fileOf = (path: string): Promise<string> => readFile(new URL(`../../../${path}`, import.meta.url), 'utf8');

/** Which program a request like "GET /v1/users" goes to. */
export async function readRules(): Promise<(request: string) => string> {
  const text = await fileOf('infra/docker/nginx.conf');
  const map = /map "\$request_method \$uri" \$program \{(.*?)\n\}/s.exec(text)?.[1] ?? '';
  const rules: Rule[] = [...map.matchAll(/"~([^"]+)" +([a-z]+):\d+;/g)].map(([, pattern = '', program = '']) => ({
    pattern: new RegExp(pattern),
    program,
  }));
  const usual = /default +([a-z]+):\d+;/.exec(map)?.[1] ?? '';
  return (request) => rules.find(({ pattern }) => pattern.test(request))?.program ?? usual;
}

/** A proxy that goes by these rules, in front of separate processes. */
export async function startProxy(port: number, setup: Pick<Setup, 'ingest' | 'search' | 'console'>) {
  const programOf = await readRules();
  const forwarded = async (request: IncomingMessage): Promise<Response> => {
    const { method = 'GET', url = '/' } = request;
    const program = programOf(`${method} ${url.split('?')[0]}`) as 'ingest' | 'search' | 'console';
    const { host: _, connection: __, 'content-length': ___, ...headers } = request.headers;
    const body = method === 'GET' || method === 'HEAD' ? {} : { body: await buffer(request) };
    return fetch(`${setup[program]}${url}`, { method, headers: headers as Record<string, string>, ...body });
  };
  const server = createServer(async (request, response) => {
    const answer = await forwarded(request);
    const { 'content-encoding': _, 'content-length': __, ...headers } = Object.fromEntries(answer.headers);
    response.writeHead(answer.status, headers).end(Buffer.from(await answer.arrayBuffer()));
  });
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
  const { port: bound } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${bound}`,
    close: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
