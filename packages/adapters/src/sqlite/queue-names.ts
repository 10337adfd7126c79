import { createHash } from 'node:crypto';
import { lookup } from 'node:dns/promises';

/** Where the queue of a process is; null: in the process itself. */
export type QueueServer = string | null;

export const IN_PROCESS = 'in process';

/**
 * What a queue is called: two URLs with a name in common mean the same one. Who logs in how, and further settings, say nothing
 * about which it is; a host has its name and all its addresses, and all of a machine's own addresses are one.
 */
export async function namesOf(queue: QueueServer): Promise<readonly string[]> {
  if (queue === null) return [IN_PROCESS];
  const url = URL.parse(queue);
  if (url === null) return [earlierNameOf(queue)];
  const kind = url.protocol.startsWith('redis') ? REDIS : POSTGRES;
  const rest = `${url.port || kind.port}/${kind.databaseOf(url)}`;
  const host = url.hostname
    .toLowerCase()
    .replace(/^\[|\]$/g, '')
    .replace(/\.$/, '');
  return [...new Set([host, ...(await addressesOf(host))].map(oneOfOwn))].map((name) => `${kind.name} ${name} ${rest}`);
}

/** Earlier releases told queues apart by this alone. */
export const earlierNameOf = (queue: string): string => createHash('sha256').update(queue).digest('hex');

interface Kind {
  readonly name: string;
  readonly port: string;
  databaseOf(url: URL): string;
}

const pathOf = ({ pathname }: URL): string => pathname.replace(/^\//, '');

const REDIS: Kind = {
  name: 'redis',
  port: '6379',
  databaseOf: (url) => pathOf(url) || url.searchParams.get('db') || '0',
};
const POSTGRES: Kind = { name: 'postgres', port: '5432', databaseOf: (url) => pathOf(url) || url.username };

/** None for a name that is not known now: it still has itself. */
async function addressesOf(host: string): Promise<readonly string[]> {
  const found = await lookup(host, { all: true }).catch(() => []);
  return found.map(({ address }) => address);
}

const OWN = /^(?:localhost|.*\.localhost|127(?:\.\d+){3}|::1|::ffff:(?:127\.|7f).*)$/;

const oneOfOwn = (host: string): string => (OWN.test(host) ? 'localhost' : host);
