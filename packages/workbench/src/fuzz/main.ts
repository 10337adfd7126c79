import { startOwnServer } from '@slowwave/testkit';
import { type Costs, costs, textOfCosts } from './costs.ts';
import { type FuzzReport, fuzz } from './fuzz.ts';
import { EXIT, HELP, type Options, readOptions, UsageError } from './options.ts';

const SEEDS = 1_000_000;
const CLEAR_LINE = '\r\u001b[K';
const watched = process.stderr.isTTY;
const PROGRESS_EVERY = 100;
/** Its server needs one: a key that is made meanwhile would shut this program out. */
const OWN_KEY = 'fuzz-with-this-key-0123456789';
const SETTINGS = { SLOWWAVE_API_KEY: OWN_KEY, SLOWWAVE_ALLOW_PRIVATE_URLS: '127.0.0.1' };

for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(130));
process.exitCode = await main(process.argv.slice(2));

async function main(args: readonly string[]): Promise<number> {
  try {
    const options = readOptions(args, Math.floor(Math.random() * SEEDS));
    if (options === null) {
      process.stdout.write(HELP);
      return EXIT.passed;
    }
    const report = await run(options);
    process.stdout.write(options.json ? `${JSON.stringify(report, null, 2)}\n` : textOf(report));
    const found = report.findings.length + (report.costs?.findings.length ?? 0);
    return found === 0 ? EXIT.passed : EXIT.findings;
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    process.stderr.write(`${error.message}. ./scripts/fuzz --help shows what can be said.\n`);
    return EXIT.usage;
  }
}

/** With what bodies cost, where the server is our own. */
interface Report extends FuzzReport {
  readonly costs?: Costs;
}

async function run({ url, apiKey, requests, seed }: Options): Promise<Report> {
  const progress = (done: number): void => {
    if (watched && done % PROGRESS_EVERY === 0) process.stderr.write(`${CLEAR_LINE}${done} of ${requests}`);
  };
  if (url !== null) return await fuzz({ url: url.replace(/\/+$/, ''), apiKey, requests, seed, progress });
  const measured = process.platform === 'linux' ? await measuredCosts() : null;
  const own = await startOwnServer(SETTINGS);
  try {
    const report = await fuzz({ url: own.url, apiKey: OWN_KEY, requests, seed, progress });
    return { ...report, ...(measured !== null && { costs: measured }) };
  } finally {
    if (watched) process.stderr.write(CLEAR_LINE);
    await own.close();
  }
}

/** On a server that does nothing else, and that nobody needs after it: what was posted still waits. */
async function measuredCosts(): Promise<Costs> {
  const { url, pid, close } = await startOwnServer(SETTINGS);
  try {
    return await costs({ url, apiKey: OWN_KEY, pid });
  } finally {
    await close();
  }
}

function textOf(report: Report): string {
  const { requests, seed, statuses, succeeded, neverSucceeded, operations, findings } = report;
  const counts = Object.entries(statuses).map(([status, count]) => `  ${status}  ${count}`);
  const found = findings.flatMap(({ request, body, what }) => [
    '',
    request.slice(0, 300),
    ...(body === null ? [] : [`  ${body.slice(0, 500)}`]),
    `  ${what}`,
  ]);
  return [
    `${requests} requests with seed ${seed}; ${succeeded} of ${operations} operations succeeded at least once`,
    ...neverSucceeded.map((name) => `  never: ${name}`),
    ...counts,
    findings.length === 0 ? 'nothing was found' : `${findings.length} findings`,
    ...found,
    ...(report.costs === undefined ? [] : ['', textOfCosts(report.costs)]),
    '',
  ].join('\n');
}
