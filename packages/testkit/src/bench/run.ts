import { ServerError } from '../api.ts';
import type { Bench } from './bench.ts';
import { drawingOf } from './draw.ts';
import { EXIT, helpOf, readWish, UsageError } from './options.ts';
import { tableOf, verdictsOf } from './report.ts';

/** Where things are said: results, and what a person watching wants to know. */
export interface Outputs {
  readonly result: (text: string) => void;
  readonly note: (text: string) => void;
  /** Writes a file. */
  readonly save: (path: string, text: string) => Promise<void>;
  /** Replaces the last progress; null takes it away. */
  readonly progress: (text: string | null) => void;
}

/** The whole program; answers with its exit code. */
export async function runBench(args: readonly string[], benches: readonly Bench[], outputs: Outputs): Promise<number> {
  try {
    const wish = readWish(args, benches);
    if (wish.kind === 'help') {
      outputs.result(helpOf(wish.bench, benches));
      return EXIT.passed;
    }
    const found = await wish.bench.run(wish.given, outputs.progress);
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
