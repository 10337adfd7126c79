import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { chown, glob, mkdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { freePort } from './ports.ts';
import { withChildren } from './process-tree.ts';
import { tempDir } from './temp.ts';

const run = promisify(execFile);

/** A real PostgreSQL of one test file. It syncs nothing to the disk, unless asked to: it survives its clients, not the machine. */
export interface TestPostgres {
  /** With user and password, to the database `postgres`. */
  readonly url: string;
  readonly port: number;
  /** A password that must show up nowhere. */
  readonly password: string;
  /** The server and the processes of its connections; none where the system does not show them (Linux does). */
  pids(): Promise<readonly number[]>;
  /** The rows of a query. */
  select<Row>(query: string): Promise<readonly Row[]>;
  /** Ends the server at once, every connection with it. Its databases stay. */
  halt(): Promise<void>;
  /** Starts a halted server again, on its port, with its databases. */
  resume(): Promise<void>;
  /** Ends the server and removes its folder. */
  stop(): Promise<void>;
}

/** It starts in a second; far longer on a machine that is busy. */
const START_LIMIT_MS = 200_000;
const POLL_MS = 50;
const OUTPUT_BYTES_MAX = 16 * 1024 * 1024;
const USER = 'slowwave';
const PASSWORD = 's3cret-0f-tests';
/** Where folders of servers that hold nothing yet are kept. */
const MADE = resolve(import.meta.dirname, '../../../.cache/postgres');

/** Whom the server runs as; null: as this process. It refuses to run as root. */
type Account = { readonly uid: number; readonly gid: number } | null;

interface Place {
  /** The folder of the server's programs. */
  readonly bin: string;
  readonly folder: string;
  readonly port: number;
  readonly account: Account;
  /** Commits wait for the disk. */
  readonly durable: boolean;
  /** What it does is counted by statement, in pg_stat_statements. */
  readonly counting: boolean;
}

interface Options {
  readonly durable?: boolean;
  readonly counting?: boolean;
}

/** Makes and starts a throw-away PostgreSQL on a free port and a socket in its own folder. */
export async function startPostgres({ durable = false, counting = false }: Options = {}): Promise<TestPostgres> {
  const [bin, account, port] = [await findPrograms(), await findAccount(), await freePort()];
  const folder = await tempDir();
  const place: Place = { bin, account, port, durable, counting, folder: folder.path };
  let server: ChildProcess | null = null;
  const stop = async (): Promise<void> => {
    await end(server);
    await folder.remove();
  };
  const resume = async (): Promise<void> => {
    server = start(place);
    await untilAnswers(server, place);
  };
  const url = `postgres://${USER}:${PASSWORD}@127.0.0.1:${port}/postgres`;
  const ask = async (query: string): Promise<string> =>
    (await run(join(bin, 'psql'), ['-XAt', '-c', query, url], { maxBuffer: OUTPUT_BYTES_MAX })).stdout;
  try {
    await initialise(place);
    await resume();
    if (counting) await ask('CREATE EXTENSION pg_stat_statements');
  } catch (error) {
    await stop();
    throw error;
  }
  return {
    ...{ url, port, password: PASSWORD, resume, stop },
    select: async (query) => JSON.parse(await ask(`SELECT coalesce(json_agg(r), '[]') FROM (${query}) AS r`)),
    pids: async () => withChildren([await pidIn(join(folder.path, 'data', 'postmaster.pid'))]),
    halt: () => end(server),
  };
}

/** With which a file begins. */
const pidIn = async (file: string): Promise<number> => Number.parseInt(await readFile(file, 'utf8'), 10);

/** Debian keeps the programs off the PATH; elsewhere `pg_config` says where they are. */
async function findPrograms(): Promise<string> {
  const found: string[] = [];
  for await (const path of glob('/usr/lib/postgresql/*/bin/initdb')) found.push(path);
  const newest = found.sort((a, b) => a.localeCompare(b, 'en', { numeric: true })).at(-1);
  if (newest !== undefined) return join(newest, '..');
  try {
    return (await run('pg_config', ['--bindir'])).stdout.trim();
  } catch (cause) {
    throw new Error(
      'expected a PostgreSQL server in /usr/lib/postgresql or a pg_config on the PATH, found neither; ' +
        'install it (Debian: apt-get install postgresql; macOS: brew install postgresql)',
      { cause },
    );
  }
}

/** The account Debian's package makes, else the one that owns nothing. */
async function findAccount(): Promise<Account> {
  if (process.getuid?.() !== 0) return null;
  const name = await run('id', ['postgres']).then(
    () => 'postgres',
    () => 'nobody',
  );
  const [uid, gid] = await Promise.all(
    ['-u', '-g'].map(async (flag) => Number((await run('id', [flag, name])).stdout)),
  );
  if (uid === undefined || gid === undefined) throw new Error(`expected a uid and a gid of ${name}, got neither`);
  return { uid, gid };
}

/** How the server is made, but for its folders. */
const ACCESS = ['--username', USER, '--auth', 'scram-sha-256'];
const KIND = ['--encoding', 'UTF8', '--locale', 'C.UTF-8', '--no-sync'];

/** What initdb makes is always the same, and takes half a second of a core: it is made once, and copied from then on. */
async function initialise({ bin, folder, account }: Place): Promise<void> {
  const data = join(folder, 'data');
  const { mtimeMs } = await stat(join(bin, 'postgres'));
  const how = createHash('sha256').update(JSON.stringify([bin, mtimeMs, PASSWORD, ACCESS, KIND]));
  const kept = join(MADE, how.digest('hex').slice(0, 16));
  if (existsSync(kept)) {
    await run('cp', ['-R', kept, data]);
    if (account !== null) await run('chown', ['-R', `${account.uid}:${account.gid}`, folder]);
    return;
  }
  const passwordFile = join(folder, 'password');
  await writeFile(passwordFile, PASSWORD);
  for (const path of [folder, passwordFile]) if (account !== null) await chown(path, account.uid, account.gid);
  const made = ['--pgdata', data, '--pwfile', passwordFile, ...ACCESS, ...KIND];
  await run(join(bin, 'initdb'), made, { cwd: folder, ...account });
  await keep(data, kept);
}

/** A half of a copy never has the name that is looked for. Whoever keeps one at the same time keeps the same. */
async function keep(data: string, kept: string): Promise<void> {
  const own = `${kept}-${process.pid}`;
  await mkdir(MADE, { recursive: true });
  await run('cp', ['-R', data, own]);
  await rename(own, kept).catch(() => rm(own, { recursive: true, force: true }));
}

function start({ bin, folder, port, account, durable, counting }: Place): ChildProcess {
  const settings = {
    listen_addresses: '127.0.0.1',
    unix_socket_directories: folder,
    fsync: durable ? 'on' : 'off', // most tests are about processes that die, not about machines
    max_connections: '200',
    shared_buffers: '64MB',
    log_min_messages: 'fatal',
    ...(counting && { shared_preload_libraries: 'pg_stat_statements' }),
  };
  const flags = Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
  const command = [join(bin, 'postgres'), '-D', join(folder, 'data'), '-p', String(port), ...flags];
  return spawn('sh', ['-c', UNTIL_WE_END, 'sh', ...command], {
    stdio: ['pipe', 'ignore', 'ignore'],
    cwd: folder,
    ...account,
  });
}

/**
 * Runs a server until it ends, or the pipe from this process does, which it does however this process ends: a test
 * run that is aborted leaves no server behind. QUIT ends at once; KILL would leave the server's own processes behind.
 */
const UNTIL_WE_END = `
  exec 3<&0
  "$@" 3<&- & server=$!
  (read -r _ <&3; kill -QUIT "$server") 2>/dev/null & watcher=$!
  wait "$server"; code=$?
  kill "$watcher" 2>/dev/null
  exit "$code"`;

async function untilAnswers(server: ChildProcess, { bin, port }: Place): Promise<void> {
  for (const giveUp = Date.now() + START_LIMIT_MS; Date.now() < giveUp; await sleep(POLL_MS)) {
    if (server.exitCode !== null) throw new Error(`postgres ended with ${server.exitCode} at its start`);
    const answers = run(join(bin, 'pg_isready'), ['-h', '127.0.0.1', '-p', String(port)]).then(
      () => true,
      () => false,
    );
    if (await answers) return;
  }
  throw new Error(`postgres did not answer on port ${port} within ${START_LIMIT_MS} ms`);
}

async function end(server: ChildProcess | null): Promise<void> {
  if (server === null || server.pid === undefined || server.exitCode !== null || server.signalCode !== null) return;
  const ended = once(server, 'exit');
  server.stdin?.end();
  await ended;
}
