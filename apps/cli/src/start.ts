import { UsageError } from './exit.ts';

/** Each runs as soon as it is loaded, and reads the rest of the command line. */
const PROGRAMS = {
  ingest: () => import('@slowwave/ingest/main'),
  worker: () => import('@slowwave/worker/main'),
  search: () => import('@slowwave/search/main'),
  console: () => import('@slowwave/console/main'),
  router: () => import('@slowwave/router/main'),
};
const NAMES = Object.keys(PROGRAMS);

/** What of the help is about it. */
export const START_HELP = [
  ['start', 'Start Slowwave in one process. slowwave start --help lists the options.'],
  ['start <program>', `Start one of several processes: ${NAMES.join(', ')}.`],
] as const;

/** Becomes the program that the words after "start" name; without a name the one that does everything. */
export async function start(words: readonly string[]): Promise<void> {
  const [program = '', ...rest] = words;
  if (program === '' || program.startsWith('-')) return become(() => import('@slowwave/standalone/main'), words);
  if (!isProgram(program)) {
    throw new UsageError(`expected one of ${NAMES.join(', ')}, or nothing for all in one; got "${program}"`, null);
  }
  return become(PROGRAMS[program], rest);
}

const isProgram = (word: string): word is keyof typeof PROGRAMS => NAMES.includes(word);

async function become(load: () => Promise<unknown>, words: readonly string[]): Promise<void> {
  process.argv.splice(2, process.argv.length, ...words);
  await load();
}
