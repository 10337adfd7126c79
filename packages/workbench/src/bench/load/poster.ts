import { Agent, request } from 'node:http';

/** A request's answer time, in ms. Rejects when it is not 202. */
export type Post = (body: string) => Promise<number>;

export interface Poster {
  readonly post: Post;
  close(): void;
}

const ACCEPTED = 202;

/** Posts over connections that stay open, with as little of its own as possible: it shares the machine with the measured. */
export function posterTo(url: string, connections: number): Poster {
  const agent = new Agent({ keepAlive: true, maxSockets: connections });
  const { hostname: host, port } = new URL(url);
  const post = (body: string): Promise<number> =>
    new Promise((resolve, reject) => {
      const began = performance.now();
      const headers = { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) };
      const sent = request({ agent, host, port, method: 'POST', path: '/v1/batches', headers }, (response) => {
        response.resume();
        response.once('end', () => {
          if (response.statusCode === ACCEPTED) resolve(performance.now() - began);
          else reject(new Error(`expected ${ACCEPTED}, got ${response.statusCode}`));
        });
      });
      sent.once('error', reject);
      sent.end(body);
    });
  return { post, close: () => agent.destroy() };
}
