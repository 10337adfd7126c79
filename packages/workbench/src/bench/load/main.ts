/**
 * Posts batches from a process of its own, so that what else is measured meanwhile does not wait for it; says at the end how
 * fast it was. Arguments: URL of ingest, connections, for how long in ms, and how many a second: 0 is as many as it can.
 */

import { quantile } from '../report.ts';
import { flatOut, steadily } from './drive.ts';
import { bodiesOf, type Posted, posterTo } from './posting.ts';

const USERS = 1_000;
const SECOND_MS = 1_000;

const [url = '', ...numbers] = process.argv.slice(2);
const [connections = 1, ms = 0, rate = 0] = numbers.map(Number);
const poster = posterTo(url, connections);
const bodies = bodiesOf(USERS);

async function run(): Promise<Posted> {
  if (rate === 0) return { perSecond: await flatOut(poster.post, bodies, { connections, ms }), p95: null };
  const began = performance.now();
  const times = await steadily(poster.post, bodies, { rate, ms });
  return { perSecond: (times.length / (performance.now() - began)) * SECOND_MS, p95: quantile(times, 0.95) };
}

const posted = await run();
poster.close();
process.stdout.write(`posted ${JSON.stringify(posted)}\n`);
