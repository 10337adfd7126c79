import { readFile, writeFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { startOwnServer } from '@slowwave/testkit';
import { argumentsIn, UsageError } from '../arguments.ts';
import { EXIT } from '../evaluate/options.ts';
import { withExitCode } from '../evaluate/program.ts';
import { openTerminal } from '../terminal.ts';
import { CLIENTS, type Client, SUITE } from './clients.ts';
import { tryClient } from './install.ts';
import { type ClientReport, type ClientsReport, failuresOf, figureOf, tableOf, withTables } from './report.ts';

const HELP = `Usage: ./scripts/clients [options]

Installs mem0's clients and integrations from PyPI and npm, each in a temporary folder, and calls every one of their methods
against its own server with the builtin models. Only the host is changed. Takes 10 minutes.

Options:
  --only NAMES    Some of ${CLIENTS.map(({ id }) => id).join(', ')}, separated by commas.
  --mem0 FOLDER   Run mem0's own integration tests too, from a checkout of its repository.
  --write         Put the tables into docs/from-mem0.md.
  --json          Print every call as JSON.
  --help, -h      Show this.

Exit code: ${EXIT.passed} at least 95% of the applicable calls of every client work, ${EXIT.below} fewer do for some client, or one could not be
installed, ${EXIT.usage} invalid usage.
`;

const FLAGS = {
  only: { type: 'string' },
  mem0: { type: 'string' },
  write: { type: 'boolean' },
  json: { type: 'boolean' },
  help: { type: 'boolean', short: 'h' },
} as const;

const PAGE = resolve(import.meta.dirname, '../../../../docs/from-mem0.md');
const KEY = 'clients-with-this-key-0123456789';

const outputs = openTerminal();
process.exitCode = await withExitCode({ outputs, command: './scripts/clients' }, async () => {
  const { values } = argumentsIn(process.argv.slice(2), FLAGS);
  if (values.help === true) {
    outputs.result(HELP);
    return EXIT.passed;
  }
  if (values.write === true && values.only !== undefined) {
    throw new UsageError('--write requires a run with all clients: remove --only');
  }
  const checkout = values.mem0 === undefined ? undefined : resolve(values.mem0);
  const report = await tryAll(wanted(values.only, checkout), checkout);
  const failures = failuresOf(report);
  if (values.write === true) await writeFile(PAGE, withTables(await readFile(PAGE, 'utf8'), tableOf(report)));
  const text = [tableOf(report), '', ...failures, figureOf(report), ''].join('\n');
  outputs.result(values.json === true ? `${JSON.stringify(report, null, 2)}\n` : text);
  return failures.length === 0 ? EXIT.passed : EXIT.below;
});

function wanted(only: string | undefined, checkout: string | undefined): readonly Client[] {
  const all = checkout === undefined ? CLIENTS : [...CLIENTS, SUITE];
  const ids = only?.split(',') ?? all.map(({ id }) => id);
  return ids.map((id) => {
    const client = all.find((one) => one.id === id);
    if (client === undefined)
      throw new UsageError(`expected some of ${all.map((one) => one.id).join(', ')}, got ${id}`);
    return client;
  });
}

/** One after the other, each on a server of its own: the last call of most deletes everything. */
async function tryAll(clients: readonly Client[], checkout: string | undefined): Promise<ClientsReport> {
  const done: ClientReport[] = [];
  const skipped: string[] = [];
  for (const client of clients) {
    outputs.note(`${client.name} (${client.packages.join(', ')} from ${client.registry}) …`);
    const server = await startOwnServer({ SLOWWAVE_API_KEY: KEY });
    try {
      done.push(await tryClient(client, { url: `${server.url}/mem0`, key: KEY, checkout }));
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error);
      skipped.push(`SKIPPED ${client.name}: ${why}`);
      outputs.note(`SKIPPED ${client.name}: ${why}`);
    } finally {
      await server.close();
    }
  }
  return { clients: done, skipped };
}
