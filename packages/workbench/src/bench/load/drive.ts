import { Agent, request } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { cpuTimes } from '../host.ts';
import type { Post } from './posting.ts';

/** Bodies of requests, one after the other without end. */
export type Bodies = () => string;

const SECOND_MS = 1_000;

/** As fast as it goes over so many connections; answers with requests per second. */
export async function flatOut(
  post: Post,
  bodies: Bodies,
  { connections, ms }: { connections: number; ms: number },
): Promise<number> {
  const began = performance.now();
  const ends = began + ms;
  let done = 0;
  const worker = async (): Promise<void> => {
    while (performance.now() < ends) {
      await post(bodies());
      done += 1;
    }
  };
  await Promise.all(Array.from({ length: connections }, worker));
  return (done / (performance.now() - began)) * SECOND_MS;
}

/**
 * At a steady rate, however long the answers take. Answer times in ms count from when a request was due: one that could
 * not be sent because others were still waiting has waited too.
 */
export async function steadily(
  post: Post,
  bodies: Bodies,
  { rate, ms }: { rate: number; ms: number },
): Promise<number[]> {
  const times: number[] = [];
  const running: Promise<void>[] = [];
  const began = performance.now();
  const count = Math.floor((rate * ms) / SECOND_MS);
  for (let i = 0; i < count; i += 1) {
    const dueAt = began + (i * SECOND_MS) / rate;
    const early = dueAt - performance.now();
    if (early > 0) await sleep(early);
    running.push(post(bodies()).then(() => void times.push(performance.now() - dueAt)));
  }
  await Promise.all(running);
  return times;
}

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

const MS_US = 1_000;

/** What of the processors a piece of work took. */
interface Cost<T> {
  readonly value: T;
  /** The named processes, in ms. */
  readonly ms: number;
  /** The part of all processors that programs took which are neither those nor this one, 0 to 1. */
  readonly others: number;
}

/** Does a piece of work and says what it cost: unlike its speed, that hardly depends on what else the machine does. */
export async function costOf<T>(pids: readonly number[], work: () => Promise<T>): Promise<Cost<T>> {
  const [before, mine] = [await cpuTimes(pids), process.cpuUsage()];
  const value = await work();
  const [after, { user, system }] = [await cpuTimes(pids), process.cpuUsage(mine)];
  const ms = after.processes - before.processes;
  const busy = after.all - before.all - (after.idle - before.idle);
  const others = Math.max(0, busy - ms - (user + system) / MS_US) / Math.max(1, after.all - before.all);
  return { value, ms, others };
}

/** Per request, in µs. */
export const perRequest = ({ ms }: Cost<unknown>, requests: number): number => (ms * MS_US) / Math.max(1, requests);
