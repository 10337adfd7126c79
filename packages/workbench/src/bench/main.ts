import { writeFile } from 'node:fs/promises';
import { BENCHES } from './benches.ts';
import { runBench } from './run.ts';

// Processes and folders go with this one, also when somebody stops it.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(130));

const CLEAR_LINE = '\r\u001b[K';
const watched = process.stderr.isTTY;
process.exitCode = await runBench(process.argv.slice(2), BENCHES, {
  result: (text) => void process.stdout.write(text),
  note: (text) => void process.stderr.write(`${text}\n`),
  save: (path, text) => writeFile(path, text),
  progress: (text) => {
    if (watched) process.stderr.write(`${CLEAR_LINE}${text ?? ''}`);
  },
});
