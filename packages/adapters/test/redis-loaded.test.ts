import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';

/** Whether the client of Redis was loaded. */
const LOADED = `Object.keys(process.getBuiltinModule('node:module')._cache).some((path) => path.includes('/ioredis/built/'))`;

/** What a program of these lines prints. */
async function printed(...lines: readonly string[]): Promise<string> {
  const program = [...lines, `console.log(${LOADED}); process.exit()`].join(';\n');
  const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', program], {
    cwd: import.meta.dirname,
  });
  return stdout.trim();
}

test('the client of Redis slows the program down that has it, and is loaded only where Redis is used', async () => {
  const queues = `import { memoryConnection, redisConnection } from '@slowwave/adapters/bullmq'`;
  const stores = `import * as assembled from '@slowwave/adapters/assemble'`;
  expect(await printed(queues, stores, 'memoryConnection()')).toBe('false');
  const address = `'redis://127.0.0.1:1'`;
  expect(await printed(queues, `await redisConnection(${address}).ready().catch(() => {})`)).toBe('true');
});
