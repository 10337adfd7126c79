import { reportOf } from '../programs.ts';
import { conformance } from './conformance.ts';
import { KINDS } from './servers.ts';

process.exitCode = await conformance(process.argv.slice(2), {
  result: (text) => void process.stdout.write(text),
  note: (text) => void process.stderr.write(`${text}\n`),
  kinds: KINDS,
  tools: { json: reportOf },
});

for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(130));
