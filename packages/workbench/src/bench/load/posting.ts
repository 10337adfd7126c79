import { Agent, request } from 'node:http';
import { spawnService } from '@slowwave/testkit';
import type { Said } from '../mem0/mem0.ts';
import type { Bodies } from './drive.ts';

/** How fast a process posted. */
export interface Posted {
  readonly perSecond: number;
  /** Of the answer times at a steady rate, in ms; null flat out. */
  readonly p95: number | null;
}

interface Load {
  readonly connections: number;
  readonly ms: number;
  /** A second; 0 is as many as it can. */
  readonly rate: number;
}

const LATER_MS = 60_000; // for what it still waits for at the end

/** Posts batches from a process of its own, see main.ts. */
export async function postFromOutside(url: string, { connections, ms, rate }: Load): Promise<Posted> {
  const service = await spawnService({
    main: new URL('main.ts', import.meta.url),
    args: [url, connections, ms, rate].map(String),
  });
  const line = await service.waitForLine(/^posted /, ms + LATER_MS);
  await service.waitForExit();
  return JSON.parse(line.slice('posted '.length)) as Posted;
}

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

const MESSAGES = 6;
const SENTENCE =
  'We talked about the garden, the new bicycle and the train to the coast that leaves on Friday morning. ';
const SENTENCES = 4;

/** An exchange of about 2.9 KB. */
export const EXCHANGE: readonly Said[] = Array.from({ length: MESSAGES }, (_, i) => ({
  role: i % 2 === 0 ? 'user' : 'assistant',
  content: SENTENCE.repeat(SENTENCES),
}));

/** The exchange as a batch, of one user after the other. */
export function bodiesOf(users: number): Bodies {
  const rest = `","messages":${JSON.stringify(EXCHANGE)}}`;
  let next = 0;
  return () => {
    next += 1;
    return `{"user_id":"user-${next % users}${rest}`;
  };
}
