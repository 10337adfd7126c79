import { chaos } from './chaos.ts';

// The processes and their folder go with this one, also when somebody stops it.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(130));

const CLEAR_LINE = '\r\u001b[K';
const watched = process.stderr.isTTY;
process.exitCode = await chaos(process.argv.slice(2), {
  result: (text) => void process.stdout.write(text),
  note: (text) => void process.stderr.write(`${text}\n`),
  progress: (text) => {
    if (watched) process.stderr.write(`${CLEAR_LINE}${text ?? ''}`);
  },
});
