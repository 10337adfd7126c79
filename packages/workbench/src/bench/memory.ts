import { readFile } from 'node:fs/promises';

const KIB = 1_024;

/** What a process has in memory, in bytes, where the system shows it (Linux); 0 elsewhere. */
export async function residentBytes(pid: number): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8').catch(() => '');
  return Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1] ?? 0) * KIB;
}
