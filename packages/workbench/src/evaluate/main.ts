import { evaluate } from './evaluate.ts';
import { retrieval } from './retrieval/retrieval.ts';

// The own server and its folder go with this process, also when somebody stops it.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(130));

const CLEAR_LINE = '\r\u001b[K';
const watched = process.stderr.isTTY;
const [first, ...rest] = process.argv.slice(2);
const [program, args] = first === 'retrieval' ? [retrieval, rest] : [evaluate, process.argv.slice(2)];
process.exitCode = await program(args, {
  result: (text) => void process.stdout.write(text),
  note: (text) => void process.stderr.write(`${text}\n`),
  progress: (text) => {
    if (watched) process.stderr.write(`${CLEAR_LINE}${text ?? ''}`);
  },
});
