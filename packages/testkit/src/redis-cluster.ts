import { execFile } from 'node:child_process';
import { kill } from 'node:process';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { freePort } from './ports.ts';
import { startRedis, type TestRedis } from './redis.ts';

const run = promisify(execFile);

/** A real Redis Cluster of three masters, each with a replica. */
export interface TestRedisCluster {
  /** One of the nodes. */
  readonly url: string;
  /** The others, as host:port. */
  readonly nodes: readonly string[];
  /** Kills the master that a key is on. Its replica takes over within seconds. */
  killMasterOf(key: string): Promise<void>;
  stop(): Promise<void>;
}

const NODES = 6;
/** A master that is silent for so long is replaced by its replica. */
const NODE_TIMEOUT_MS = 1_500;
const READY_WITHIN_MS = 60_000;
const POLL_MS = 100;

export async function startRedisCluster(): Promise<TestRedisCluster> {
  const servers: TestRedis[] = [];
  process.setMaxListeners(process.getMaxListeners() + NODES); // each is ended with this process
  const stop = async (): Promise<void> => {
    await Promise.all(servers.map((server) => server.stop()));
  };
  try {
    for (let node = 0; node < NODES; node += 1) servers.push(await startRedis({ args: await argsOfNode() }));
    const hosts = servers.map(({ port }) => `127.0.0.1:${port}`);
    await run('redis-cli', ['--cluster', 'create', ...hosts, '--cluster-replicas', '1', '--cluster-yes']);
    await Promise.all(servers.map(untilWhole));
    const [url = '', ...nodes] = hosts;
    return { url: `redis://${url}`, nodes, killMasterOf: (key) => killMaster(servers, key), stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

async function argsOfNode(): Promise<string[]> {
  const settings = {
    'cluster-enabled': 'yes',
    'cluster-port': await freePort(),
    'cluster-node-timeout': NODE_TIMEOUT_MS,
    'repl-diskless-sync-delay': 0, // a replica that has nothing yet does not take over
  };
  return Object.entries(settings).flatMap(([name, value]) => [`--${name}`, String(value)]);
}

async function untilWhole({ port }: TestRedis): Promise<void> {
  for (const giveUp = Date.now() + READY_WITHIN_MS; Date.now() < giveUp; await sleep(POLL_MS)) {
    const state = await ask(port, 'CLUSTER', 'INFO');
    const replication = await ask(port, 'INFO', 'replication');
    // A master could not be replaced before its replica has what it has.
    const isReplicated = /role:master[\s\S]*state=online|master_link_status:up/.test(replication);
    if (state.includes('cluster_state:ok') && isReplicated) return;
  }
  throw new Error(`the node of a Redis Cluster on port ${port} did not become whole within ${READY_WITHIN_MS} ms`);
}

/** The node itself says where the key is: it answers for its own, and names the master of others. */
async function killMaster(servers: readonly TestRedis[], key: string): Promise<void> {
  const [first] = servers;
  if (first === undefined) throw new Error('expected a cluster with nodes, got none');
  const moved = /MOVED \d+ [^:]+:(\d+)/.exec(await ask(first.port, 'GET', key))?.[1];
  const port = moved === undefined ? first.port : Number(moved);
  const master = servers.find((server) => server.port === port);
  if (master === undefined) throw new Error(`expected the master of ${key} among the nodes, got port ${port}`);
  kill(master.pid, 'SIGKILL');
}

const ask = async (port: number, ...command: string[]): Promise<string> =>
  (await run('redis-cli', ['-p', String(port), ...command])).stdout;
