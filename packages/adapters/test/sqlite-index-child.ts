import { flushCompileCache } from 'node:module';
import { indexPoint, SUITE_SPACE } from '@slowwave/engine-testing';
import { openSqliteIndex } from '../src/sqlite/index.ts';

flushCompileCache(); // tests kill it, and then nothing would be kept: the next start would take twice as long

/** A program that writes point after point to the index it is given, and says each one that is written. */
const [path = ''] = process.argv.slice(2);
const index = await openSqliteIndex({ path, ...SUITE_SPACE });
for (let n = 0; ; n += 1) {
  await index.upsert([indexPoint({ memoryId: `m${n}` })]);
  process.stdout.write(`written ${n}\n`);
}
