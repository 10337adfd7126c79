import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import type { Fleet } from '../fleet/fleet.ts';

const run = promisify(execFile);

/** All of a fleet, with its model in this process, on the first core, and its PostgreSQL, if it has one, alone on the second. */
export async function pinPostgresApart({ postgres, allPids }: Fleet): Promise<void> {
  const apart = new Set(await postgres?.pids());
  for (const pid of [process.pid, ...(await allPids())]) await pin(pid, apart.has(pid) ? 1 : 0);
}

/** With its threads. What it starts from then on stays there too. */
async function pin(pid: number, core: number): Promise<void> {
  await run('taskset', ['--all-tasks', '--cpu-list', '--pid', String(core), String(pid)]);
}
