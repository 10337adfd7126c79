import { rmSync } from 'node:fs';
import { freePort } from './ports.ts';
import { type Service, spawnService, whenLeaving } from './process.ts';
import { programFile } from './programs.ts';
import { type TempDir, tempDir } from './temp.ts';

export interface OwnServer {
  readonly url: string;
  readonly pid: number;
  readonly dataDir: string;
  /** kill -9. */
  kill(): Promise<void>;
  /** Where it was, with what it had. */
  start(): Promise<void>;
  close(): Promise<void>;
}

/**
 * The whole product in one process; gone with this process, whatever ends it. On a folder of its own, which goes with it, unless one is
 * given that may have been filled before.
 */
export async function startOwnServer(settings: Readonly<Record<string, string>>, dataDir?: string): Promise<OwnServer> {
  const folder = dataDir === undefined ? await ownFolder() : { path: dataDir, remove: async () => {} };
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const start = () =>
    spawnService({
      main: programFile('standalone'),
      env: {
        // Programs post at no pace that anybody has.
        SLOWWAVE_BATCH_IDLE_MS: '1000',
        ...settings,
        SLOWWAVE_PORT: String(port),
        SLOWWAVE_DATA_DIR: folder.path,
        SLOWWAVE_LOG_LEVEL: 'warn',
      },
      ready: { url: `${url}/readyz` },
    });
  let service: Service | null = await start();
  return {
    url,
    pid: service.pid,
    dataDir: folder.path,
    kill: async () => {
      await service?.kill();
      service = null;
    },
    start: async () => {
      service ??= await start();
    },
    close: async () => {
      await service?.stop();
      await folder.remove();
    },
  };
}

async function ownFolder(): Promise<TempDir> {
  const folder = await tempDir();
  const stays = whenLeaving(() => rmSync(folder.path, { recursive: true, force: true, maxRetries: 3 }));
  return {
    path: folder.path,
    remove: async () => {
      await folder.remove();
      stays();
    },
  };
}
