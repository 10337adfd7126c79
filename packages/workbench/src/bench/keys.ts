import { join } from 'node:path';
import { keyCheck, newSecret } from '@slowwave/adapters/keys';
import type { ApiKey, Ledger, TenantId } from '@slowwave/engine';
import { tempDir } from '@slowwave/testkit';
import { product } from '../product.ts';
import type { Bench, Progress } from './bench.ts';
import { median, quantile } from './report.ts';

/** What a check may cost, in µs: a digest made slow on purpose would cost a thousand times that. */
const TARGET_US = 50;
const MICROS = 1_000;
/** Checks whose time is taken together: a single one is shorter than a clock shows. */
const TOGETHER = 100;
const ROUNDS = 300;
const WARM_UP = 30;
/** Longer than anything read is believed. */
const LATER_MS = 3_600_000;

/** What a request pays for its key. */
export const keys: Bench = {
  name: 'keys',
  what: 'Cost of checking the key of a request: with a cached key, the usual case, and with a read of the ledger.',
  draws: false,
  flags: { keys: { usual: '1000', help: 'Keys that take turns.' } },
  run: async (given, progress) => {
    const count = given.number('keys', { max: 100_000 });
    const dir = await tempDir();
    const ledger = await product.openLedger(join(dir.path, 'ledger.db'));
    try {
      return await measure({ ledger, count }, progress);
    } finally {
      await ledger.close();
      await dir.remove();
    }
  },
};

interface Stage {
  readonly ledger: Ledger;
  readonly count: number;
}

async function measure({ ledger, count }: Stage, progress: Progress) {
  progress(`making ${count} keys`);
  const secrets = await makeKeys({ ledger, count });
  const checkWith = (monotonic: () => number) =>
    keyCheck({ ledger, tools: product.tools, log: product.log, monotonic }).check;
  let later = 0;
  progress('checking keys at hand');
  const cached = await timesOf(
    checkWith(() => 0),
    secrets,
  );
  progress('checking keys that are read each time');
  const read = await timesOf(
    checkWith(() => (later += LATER_MS)),
    secrets,
  );
  const typical = median(cached);
  return {
    title: `keys: ${count} keys that take turns, one after the other, in one process`,
    figures: [
      { what: 'check of a key at hand, median', value: typical, unit: 'µs' },
      { what: `  99 of 100 (means of ${TOGETHER})`, value: quantile(cached, 0.99), unit: 'µs' },
      { what: 'check with a read of the ledger, median', value: median(read), unit: 'µs' },
      { what: `  99 of 100 (means of ${TOGETHER})`, value: quantile(read, 0.99), unit: 'µs' },
    ],
    verdicts: [
      {
        what: 'a request pays for its key',
        reached: `${typical.toFixed(1)} µs`,
        target: `less than ${TARGET_US} µs`,
        passed: typical < TARGET_US,
        misses: [],
      },
    ],
    remarks: ['A key is read again at most every 3 s in each process; that is how soon a revocation is effective.'],
  };
}

async function makeKeys({ ledger, count }: Stage): Promise<readonly string[]> {
  const secrets: string[] = [];
  const made = { tenant: 'bench' as TenantId, name: 'bench', userId: null, appId: null, expiresAt: null, createdAt: 0 };
  for (let i = 0; i < count; i += 1) {
    const id: ApiKey['id'] = `key_${i.toString(36).padStart(10, '0')}`;
    const { secret, hash } = newSecret(id);
    await ledger.keys.create({ ...made, id, hash, scopes: ['search'] });
    await ledger.keys.used(id, Date.now()); // its use was noted: nothing is written meanwhile
    secrets.push(secret);
  }
  return secrets;
}

/** Means of some checks each, in µs. */
async function timesOf(check: (secret: string) => Promise<{ kind: string }>, secrets: readonly string[]) {
  const times: number[] = [];
  let next = 0;
  for (let round = 0; round < WARM_UP + ROUNDS; round += 1) {
    const began = performance.now();
    for (let i = 0; i < TOGETHER; i += 1) {
      const { kind } = await check(secrets[next % secrets.length] ?? '');
      if (kind !== 'taken') throw new Error(`expected the key to be taken, got ${kind}`);
      next += 1;
    }
    if (round >= WARM_UP) times.push(((performance.now() - began) * MICROS) / TOGETHER);
  }
  return times;
}
