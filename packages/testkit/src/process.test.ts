import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { spawnService } from './process.ts';
import { tempDir } from './temp.ts';

it.each(['SIGTERM', 'SIGINT', 'SIGHUP'] as const)(
  'what a program has started ends with it, also by %s',
  async (signal) => {
    const folder = await tempDir();
    try {
      const [idle, starts] = [join(folder.path, 'idle.mjs'), join(folder.path, 'starts.mjs')];
      await writeFile(idle, 'setInterval(() => {}, 1_000);');
      const { href } = new URL('./process.ts', import.meta.url);
      await writeFile(
        starts,
        `import { spawnService } from ${JSON.stringify(href)};
       const { pid } = await spawnService({ main: ${JSON.stringify(idle)} });
       console.log('started ' + pid);`,
      );
      const program = await spawnService({ main: starts });
      const started = Number((await program.waitForLine(/^started /)).split(' ')[1]);
      expect(isThere(started)).toBe(true);
      const ended = program.waitForExit();
      process.kill(program.pid, signal);
      expect((await ended).code).toBeGreaterThan(0);
      await expect.poll(() => isThere(started), { timeout: 50_000 }).toBe(false);
    } finally {
      await folder.remove();
    }
  },
);

function isThere(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}
