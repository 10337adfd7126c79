import { Agent, request } from 'node:http';

/** Posts a body; answers with the time until the whole answer was read, in ms. Rejects when it is not 200. */
export interface Asker {
  ask(body: unknown): Promise<number>;
  /** The same with a body that is JSON already. */
  send(body: string): Promise<number>;
  close(): void;
}

const OK = 200;

/** Over one connection that stays open. */
export function askerAt(url: string, path = '/v1/search'): Asker {
  const agent = new Agent({ keepAlive: true, maxSockets: 64 });
  const { hostname: host, port } = new URL(url);
  const send = (body: string): Promise<number> =>
    new Promise((resolve, reject) => {
      const headers = { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) };
      const began = performance.now();
      const sent = request({ agent, host, port, method: 'POST', path, headers }, (response) => {
        response.resume();
        response.once('end', () => {
          if (response.statusCode === OK) resolve(performance.now() - began);
          else reject(new Error(`expected ${OK} from ${path}, got ${response.statusCode}`));
        });
      });
      sent.once('error', reject);
      sent.end(body);
    });
  return { send, ask: (body) => send(JSON.stringify(body)), close: () => agent.destroy() };
}
