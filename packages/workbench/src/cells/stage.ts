import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { openDirectory } from '@slowwave/adapters/cells';
import type { CellDirectory } from '@slowwave/engine/cells';
import { freePort, programFile, type Service, spawnService, tempDir } from '@slowwave/testkit';

const API_KEY = 'operator-of-all-cells';

/** Cells and routers as processes of their own, which can be killed and started again where they were. */
export interface Stage {
  readonly apiKey: string;
  readonly cells: readonly Part[];
  readonly routers: readonly Part[];
  readonly directory: CellDirectory;
  /** Runs slowwave cells …, as an operator would. */
  cli(...args: readonly string[]): Promise<string>;
  close(): Promise<void>;
}

export interface Part {
  readonly name: string;
  readonly url: string;
  pid(): number;
  /** kill -9, and a start where it was. */
  restart(): Promise<void>;
}

interface StageOptions {
  readonly cells: number;
  readonly routers: number;
  /** Owners that each router moves at a time. */
  readonly moves: number;
}

const SILENT = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };

export async function startStage(options: StageOptions): Promise<Stage> {
  const folder = await tempDir();
  const where = join(folder.path, 'directory.db');
  const common = { SLOWWAVE_API_KEY: API_KEY, SLOWWAVE_LOG_LEVEL: 'warn' };
  const running = new Set<Service>();
  const part = async (name: string, program: 'standalone' | 'router', env: Record<string, string>): Promise<Part> => {
    const port = await freePort();
    const url = `http://127.0.0.1:${port}`;
    const start = async (): Promise<Service> => {
      const service = await spawnService({
        main: programFile(program),
        env: { ...common, ...env, SLOWWAVE_PORT: String(port) },
        ready: { url: `${url}/healthz` },
      });
      running.add(service);
      return service;
    };
    let service = await start();
    return {
      ...{ name, url },
      pid: () => service.pid,
      restart: async () => {
        running.delete(service);
        await service.kill();
        service = await start();
      },
    };
  };
  const cells: Part[] = [];
  for (let i = 1; i <= options.cells; i += 1) {
    const name = `cell-${i}`;
    const env = { SLOWWAVE_CELL: name, SLOWWAVE_DATA_DIR: join(folder.path, name), SLOWWAVE_BATCH_IDLE_MS: '200' };
    cells.push(await part(name, 'standalone', env));
  }
  const ofDirectory = { SLOWWAVE_DIRECTORY: where, SLOWWAVE_MOVES: String(options.moves) };
  const cli = async (...args: readonly string[]): Promise<string> => {
    const command = [programFile('cli'), 'cells', ...args];
    const { stdout } = await promisify(execFile)(process.execPath, command, { env: { ...common, ...ofDirectory } });
    return stdout;
  };
  const [first] = cells;
  await cli('add', 'cell-1', first?.url ?? '');
  const routers: Part[] = [];
  for (let i = 1; i <= options.routers; i += 1) routers.push(await part(`router-${i}`, 'router', ofDirectory));
  const directory = await openDirectory(where, SILENT);
  return {
    ...{ apiKey: API_KEY, cells, routers, directory, cli },
    close: async () => {
      await directory.close();
      await Promise.all([...running].map((service) => service.kill().catch(() => {})));
      await folder.remove();
    },
  };
}
