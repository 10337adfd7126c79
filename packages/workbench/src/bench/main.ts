import { writeFile } from 'node:fs/promises';
import { openTerminal } from '../terminal.ts';
import { BENCHES } from './benches.ts';
import { runBench } from './run.ts';

process.exitCode = await runBench(process.argv.slice(2), BENCHES, {
  ...openTerminal(),
  save: (path, text) => writeFile(path, text),
});
