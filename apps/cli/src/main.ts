import { COMMANDS } from './commands/index.ts';
import { run } from './run.ts';

const stopping = new AbortController();
// The first Ctrl-C lets the work end in order; the second one ends the program.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => stopping.abort());

const { stdout, stderr } = process;
process.exitCode = await run(process.argv.slice(2), COMMANDS, { stdout, stderr, cancel: stopping.signal });
