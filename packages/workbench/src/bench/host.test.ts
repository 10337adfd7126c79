import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { hostRemark, hostTimes } from './host.ts';

test('time that the host gave to others is read from what the system counts', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'slowwave-host-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  const path = join(folder, 'stat');
  await writeFile(path, 'cpu  10 20 30 40 0 0 0 25 7 0\ncpu0 10 20 30 40 0 0 0 25 7 0\n');
  expect(await hostTimes(path)).toEqual({ all: 125, stolen: 25 });
  expect(await hostTimes(join(folder, 'none'))).toBeNull();
});

test('only a share that changes figures is reported', () => {
  const before = { all: 1_000, stolen: 100 };
  expect(hostRemark(before, { all: 2_000, stolen: 310 })[0]).toContain('kept 21% of its processors');
  expect(hostRemark(before, { all: 2_000, stolen: 110 })).toEqual([]);
  expect(hostRemark(null, null)).toEqual([]);
});
