import { UsageError } from '../arguments.ts';
import type { Outputs } from '../terminal.ts';
import { faultsOf } from './faults/index.ts';
import { EXIT, HELP, type Options, readOptions } from './options.ts';
import { seededRandom } from './random.ts';
import { type Report, reportOf, tableOf } from './report.ts';
import { runRounds } from './rounds.ts';
import { type Mode, openStage } from './stage.ts';

/** The whole program; answers with its exit code. */
export async function chaos(args: readonly string[], outputs: Outputs): Promise<number> {
  try {
    const options = readOptions(args);
    if (options === null) {
      outputs.result(HELP);
      return EXIT.passed;
    }
    return await runAll(options, outputs);
  } catch (error) {
    outputs.progress(null);
    if (!(error instanceof UsageError)) throw error;
    outputs.note(`${error.message}. ./scripts/chaos --help shows what can be said.`);
    return EXIT.usage;
  }
}

async function runAll(options: Options, outputs: Outputs): Promise<number> {
  checkKinds(options);
  const reports: Report[] = [];
  for (const mode of options.modes) {
    const report = await runMode(mode, options, outputs);
    reports.push(report);
    outputs.progress(null);
    if (!options.json) outputs.result(`${tableOf(report)}\n`);
  }
  if (options.json) outputs.result(`${JSON.stringify(reports, null, 2)}\n`);
  return reports.every(({ findings }) => findings.length === 0) ? EXIT.passed : EXIT.findings;
}

function checkKinds({ only, modes }: Options): void {
  const known = new Set(modes.flatMap((mode) => faultsOf(mode).map(({ kind }) => kind)));
  const unknown = only.find((kind) => !known.has(kind));
  if (unknown === undefined) return;
  throw new UsageError(`expected --only to be one of ${[...known].join(', ')}, got ${unknown}`);
}

const MINUTE_MS = 60_000;

/** One mode, from its first process to its last. */
async function runMode(mode: Mode, options: Options, outputs: Outputs): Promise<Report> {
  const { seed, faults, minutes, only, qdrantUrl, keep } = options;
  outputs.progress(`${mode}: starting`);
  const stage = await openStage({ mode, random: seededRandom(`${mode}/${seed}`), qdrantUrl });
  let found = true;
  try {
    const course = { seed, faults, limitMs: minutes * MINUTE_MS, only, progress: outputs.progress };
    const outcome = await runRounds(stage, course);
    found = outcome.findings.length > 0;
    const where = [...stage.members.map(({ name }) => name), ...(stage.queue === null ? [] : ['redis'])].join(', ');
    return reportOf(outcome, { mode, where, seed });
  } finally {
    outputs.progress(`${mode}: ending`);
    if (keep && found) outputs.note(`the data of this run stays in ${stage.dataDir}`);
    await stage.close(keep && found);
  }
}
