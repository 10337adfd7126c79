import { ServerError } from '../api.ts';
import { UsageError } from '../arguments.ts';
import type { Outputs } from '../terminal.ts';
import type { Bench, Given } from './bench.ts';
import { drawingOf } from './draw.ts';
import { hostRemark, hostTimes } from './host.ts';
import { EXIT, helpOf, readWish } from './options.ts';
import { type Found, tableOf, verdictsOf } from './report.ts';

interface BenchOutputs extends Outputs {
  /** Writes a file. */
  readonly save: (path: string, text: string) => Promise<void>;
}

/** The whole program; answers with its exit code. */
export async function runBench(
  args: readonly string[],
  benches: readonly Bench[],
  outputs: BenchOutputs,
): Promise<number> {
  try {
    const wish = readWish(args, benches);
    if (wish.kind === 'help') {
      outputs.result(helpOf(wish.bench, benches));
      return EXIT.passed;
    }
    const found = await runBeside(wish, outputs);
    outputs.progress(null);
    const verdicts = verdictsOf(found);
    const passed = verdicts.every((verdict) => verdict.passed);
    const report = { bench: wish.bench.name, passed, ...found, verdicts };
    outputs.result(wish.json ? `${JSON.stringify(report, null, 2)}\n` : tableOf(found));
    if (wish.svg !== null) await outputs.save(wish.svg, drawingOf(found));
    return passed ? EXIT.passed : EXIT.below;
  } catch (error) {
    outputs.progress(null);
    const known = error instanceof UsageError || error instanceof ServerError;
    if (!known) throw error;
    const usage = error instanceof UsageError;
    outputs.note(`${error.message}.${usage ? ' ./scripts/bench --help shows what can be said.' : ''}`);
    return usage ? EXIT.usage : EXIT.server;
  }
}

/** Whoever shares the machine's host shows in the figures. */
async function runBeside({ bench, given }: { bench: Bench; given: Given }, { progress }: Outputs): Promise<Found> {
  const before = await hostTimes();
  const found = await bench.run(given, progress);
  return { ...found, remarks: [...found.remarks, ...hostRemark(before, await hostTimes())] };
}
