import { rmSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { freePort, type Program, programFile, startPostgres, type TestPostgres, tempDir } from '@slowwave/testkit';
import { insist } from './api.ts';
import { type Member, openMember } from './member.ts';
import { type Provider, startProvider } from './provider.ts';
import { openQueueServer, type QueueServer } from './queue-server.ts';
import type { Random } from './random.ts';

export type Mode = 'sqlite' | 'postgres' | 'postgres-alone' | 'embedded';
export const MODES: readonly Mode[] = ['sqlite', 'postgres', 'postgres-alone', 'embedded'];

/** The product running in one of its forms, with everything around it that can fail. */
export interface Stage {
  readonly mode: Mode;
  readonly members: readonly Member[];
  /** Those that consolidate. */
  readonly workers: readonly Member[];
  /** Those that have the index open. */
  readonly readers: readonly Member[];
  readonly urls: Readonly<Record<'ingest' | 'search' | 'console', string>>;
  readonly provider: Provider;
  /** null: in process, or in PostgreSQL. */
  readonly queue: QueueServer | null;
  /** null: a file. */
  readonly postgres: TestPostgres | null;
  readonly dataDir: string;
  /** The index on a Qdrant; null: it is a file, or in PostgreSQL. */
  readonly qdrant: { readonly url: string; readonly name: string } | null;
  /** How long a worker may be silent. */
  readonly takeOverMs: number;
  /** The folder stays when something is to be looked at. */
  close(keep: boolean): Promise<void>;
}

export interface StageOptions {
  readonly mode: Mode;
  readonly random: Random;
  /** A server for the index: several processes on PostgreSQL need one. */
  readonly qdrantUrl: string | null;
}

/** Short, so that what a killed worker held is free again soon. */
const TAKE_OVER_MS = 2_000;

const SETTINGS = {
  SLOWWAVE_BATCH_IDLE_MS: '300',
  SLOWWAVE_RETRY_DELAY_MS: '50',
  // More tries than any storm costs, with pauses that double: what is parked then is what no model takes. Few enough that
  // a model whose answers stay unusable has used them up within a minute.
  SLOWWAVE_MAX_ATTEMPTS: '10',
  SLOWWAVE_MODEL_TIMEOUT_MS: '1500',
  SLOWWAVE_TAKE_OVER_MS: String(TAKE_OVER_MS),
  SLOWWAVE_EMBEDDING_MODEL: 'scripted',
  SLOWWAVE_EMBEDDING_DIMENSIONS: '64',
  SLOWWAVE_LOG_LEVEL: 'warn',
};

/** By its name, the program each process runs. */
type Programs = Readonly<Record<string, Program>>;
const FLEET: Programs = {
  ingest: 'ingest',
  'worker-1': 'worker',
  'worker-2': 'worker',
  search: 'search',
  console: 'console',
};
const ALONE: Programs = { standalone: 'standalone' };

export async function openStage({ mode, random, qdrantUrl }: StageOptions): Promise<Stage> {
  const folder = await tempDir();
  const sweep = (): void => rmSync(folder.path, { recursive: true, force: true, maxRetries: 3 });
  process.once('exit', sweep);
  const dataDir = join(folder.path, 'data');
  await mkdir(dataDir); // with nothing in it where everything is in PostgreSQL
  const isAlone = mode === 'postgres-alone';
  const queue = mode === 'embedded' || isAlone ? null : await openQueueServer();
  const postgres = mode === 'postgres' || isAlone ? await startPostgres() : null;
  const qdrant = mode !== 'postgres' || qdrantUrl === null ? null : { url: qdrantUrl, name: `chaos-${process.pid}` };
  const programs: Programs = mode === 'sqlite' || isAlone || qdrant !== null ? FLEET : ALONE;
  const provider = await startProvider(Object.keys(programs), random.fork('model'));
  const shared = {
    ...SETTINGS,
    SLOWWAVE_DATA_DIR: dataDir,
    ...(queue !== null && { REDIS_URL: queue.url }),
    ...(postgres !== null && { DATABASE_URL: postgres.url }),
    ...(isAlone && { SLOWWAVE_INDEX: 'postgres' }),
    ...(qdrant !== null && { QDRANT_URL: qdrant.url, SLOWWAVE_QDRANT_INDEX: qdrant.name }),
  };
  const members = await Promise.all(
    Object.entries(programs).map(([name, program]) =>
      memberOf({ name, program, clockFile: join(folder.path, `${name}.clock`) }, (port) => ({
        ...shared,
        SLOWWAVE_PORT: String(port),
        OPENAI_BASE_URL: provider.baseUrlOf(name),
      })),
    ),
  );
  const close = async (keep: boolean): Promise<void> => {
    await Promise.all(members.map((member) => member.end()));
    await Promise.all([provider.close(), queue?.close(), postgres?.stop(), qdrant && dropIndex(qdrant)]);
    process.off('exit', sweep);
    if (!keep) await folder.remove();
  };
  const stage = { mode, members, ...rolesOf(members), provider, queue, postgres, dataDir, qdrant, close };
  try {
    await Promise.all(members.map((member) => member.start()));
    await holdNobody(stage);
  } catch (error) {
    await close(false);
    throw error;
  }
  return { ...stage, takeOverMs: TAKE_OVER_MS };
}

/** Clocks that jump by days leave days of little use behind: whoever gets huge answers today would be held until tomorrow. */
async function holdNobody({ urls }: Pick<Stage, 'urls'>): Promise<void> {
  const { status, body } = await insist('PUT', `${urls.console}/v1/settings`, { body: { hold_at: null } });
  if (status !== 200) throw new Error(`expected to turn holds off, got ${status}: ${JSON.stringify(body)}`);
}

async function memberOf(
  { name, program, clockFile }: { name: string; program: Program; clockFile: string },
  envOf: (port: number) => Readonly<Record<string, string>>,
): Promise<Member> {
  const port = await freePort();
  return openMember({ name, main: programFile(program), clockFile, url: `http://127.0.0.1:${port}`, env: envOf(port) });
}

function rolesOf(members: readonly Member[]): Pick<Stage, 'workers' | 'readers' | 'urls'> {
  const named = (name: string): Member => {
    const found = members.find((member) => member.name === name) ?? members.find((one) => one.name === 'standalone');
    if (found === undefined) throw new Error(`no process is ${name}`);
    return found;
  };
  return {
    workers: members.filter(({ name }) => name.startsWith('worker') || name === 'standalone'),
    readers: members.filter(({ name }) => name !== 'ingest'),
    urls: { ingest: named('ingest').url, search: named('search').url, console: named('console').url },
  };
}

/** Removes every collection of an index on Qdrant. */
export async function dropIndex({ url, name }: { url: string; name: string }): Promise<void> {
  const answer = await fetch(`${url}/collections`);
  const { result } = (await answer.json()) as { result: { collections: { name: string }[] } };
  for (const collection of result.collections) {
    if (!collection.name.startsWith(name)) continue;
    await (await fetch(`${url}/collections/${collection.name}`, { method: 'DELETE' })).text();
  }
}
