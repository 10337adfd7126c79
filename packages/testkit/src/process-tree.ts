import { readFile } from 'node:fs/promises';

/** Some processes with all that they have started, where the system shows it (Linux); elsewhere they alone. */
export async function withChildren(pids: readonly number[]): Promise<readonly number[]> {
  const found = await Promise.all(pids.map(async (pid) => [pid, ...(await withChildren(await childrenOf(pid)))]));
  return [...new Set(found.flat())];
}

const childrenOf = async (pid: number): Promise<readonly number[]> =>
  (await readFile(`/proc/${pid}/task/${pid}/children`, 'utf8').catch(() => ''))
    .split(' ')
    .filter((text) => text.trim() !== '')
    .map(Number);
