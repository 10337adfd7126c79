import { EXIT } from './exit.ts';

const [first, ...others] = process.argv.slice(2);
if (first === 'start') await becomeServer(others);
else await runCommand();

/** A server looks after signals itself, and needs none of the commands. */
async function becomeServer(words: readonly string[]): Promise<void> {
  const { start } = await import('./start.ts');
  try {
    await start(words);
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
    process.exitCode = EXIT.misused;
  }
}

async function runCommand(): Promise<void> {
  const stopping = new AbortController();
  // The first Ctrl-C lets the work end in order; the second one ends the program.
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => stopping.abort());
  const [{ run }, { COMMANDS }] = await Promise.all([import('./run.ts'), import('./commands/index.ts')]);
  const { stdout, stderr } = process;
  process.exitCode = await run(process.argv.slice(2), COMMANDS, { stdout, stderr, cancel: stopping.signal });
}
