import { flushCompileCache } from 'node:module';
import { newBatch } from '@slowwave/engine-testing';
import { openSqliteLedger } from '../src/sqlite/index.ts';
import { systemTools } from '../src/system/system.ts';

flushCompileCache(); // tests kill it, and then nothing would be kept: the next start would take twice as long

/** Appends batches as fast as it can and prints the number and id of each one that was acknowledged, until it is killed. */
const [path = '', atOnce = '1'] = process.argv.slice(2);
const ledger = await openSqliteLedger({ path, tools: systemTools });
const policy = { tokens: 1_000, idleMs: 1_000, maxAgeMs: 10_000 };

let acks = 0;

async function keepAppending(): Promise<never> {
  for (;;) {
    const batch = newBatch(systemTools);
    const appended = await ledger.batches.append(batch, policy);
    if (appended.kind !== 'stored') throw new Error(`expected a stored batch, got ${appended.kind}`);
    acks += 1;
    process.stdout.write(`ack ${acks} ${batch.id}\n`);
  }
}

await Promise.all(Array.from({ length: Number(atOnce) }, keepAppending));
