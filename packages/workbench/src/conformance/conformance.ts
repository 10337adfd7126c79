import { aligned } from '../aligned.ts';
import { argumentsIn, UsageError } from '../arguments.ts';
import type { Tools } from '../prove/proof.ts';
import { suites } from '../prove/suites.ts';
import type { Kind, Server, Suite } from './servers.ts';

export interface Surroundings {
  readonly result: (text: string) => void;
  readonly note: (text: string) => void;
  readonly kinds: readonly Kind[];
  readonly tools: Pick<Tools, 'json'>;
}

const EXIT = { passed: 0, failed: 1, usage: 2 } as const;

/** The whole program; answers with its exit code. */
export async function conformance(args: readonly string[], surroundings: Surroundings): Promise<number> {
  const { result, note, kinds } = surroundings;
  try {
    const wish = readWish(args, kinds);
    if (wish === null) {
      result(helpOf(kinds));
      return EXIT.passed;
    }
    const rows = await runAll(wish.given, surroundings);
    result(wish.json ? `${JSON.stringify(rows, null, 2)}\n` : tableOf(rows));
    return rows.every(({ failed }) => failed === 0) ? EXIT.passed : EXIT.failed;
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    note(`${error.message}. See ./scripts/conformance --help.`);
    return EXIT.usage;
  }
}

/** A server that is to be tried. */
interface Given {
  readonly kind: Kind;
  readonly url: string;
}

const OPTIONS = { json: { type: 'boolean' }, help: { type: 'boolean', short: 'h' } } as const;

/** null: help was asked for. */
function readWish(args: readonly string[], kinds: readonly Kind[]): { given: readonly Given[]; json: boolean } | null {
  const own = Object.fromEntries(kinds.map(({ flag }) => [flag, { type: 'string' } as const]));
  const values: Readonly<Record<string, string | boolean | undefined>> = argumentsIn(args, {
    ...own,
    ...OPTIONS,
  }).values;
  if (values.help === true) return null;
  const given = kinds.flatMap((kind) => {
    const url = values[kind.flag];
    return typeof url === 'string' ? [{ kind, url }] : [];
  });
  if (given.length > 0) return { given, json: values.json === true };
  throw new UsageError(`expected at least one of ${kinds.map(({ flag }) => `--${flag} URL`).join(', ')}`);
}

/** What became of a suite on a server. */
interface Row {
  readonly store: Suite['store'];
  readonly server: string;
  readonly version: string;
  readonly cases: number;
  readonly passed: number;
  readonly failed: number;
  readonly failures: readonly string[];
}

/** All servers are looked at before anything is written to one. */
async function runAll(given: readonly Given[], surroundings: Surroundings): Promise<readonly Row[]> {
  const opened: Server[] = [];
  try {
    for (const one of given) opened.push(await openEmpty(one));
    const rows: Row[] = [];
    for (const [i, { kind, url }] of given.entries()) {
      const server = opened[i] as Server;
      for (const suite of kind.suites) rows.push(await run(suite, { kind, url, server }, surroundings));
    }
    return rows;
  } finally {
    for (const server of opened) await server.close();
  }
}

async function openEmpty({ kind, url }: Given): Promise<Server> {
  const server = await kind.open(url).catch((error: unknown) => {
    if (error instanceof UsageError) throw error;
    const why = error instanceof Error ? error.message : String(error);
    throw new UsageError(`expected a ${kind.name} that answers at --${kind.flag}, got: ${why}`);
  });
  const [first] = server.holds;
  if (first === undefined) return server;
  await server.close();
  const more = server.holds.length === 1 ? '' : ` and ${server.holds.length - 1} more`;
  throw new UsageError(
    `expected an empty ${kind.name}, since everything on it is removed in the end, got ${first}${more}; use another one`,
  );
}

interface Trying extends Given {
  readonly server: Server;
}

async function run(suite: Suite, { kind, url, server }: Trying, { note, tools }: Surroundings): Promise<Row> {
  note(`${suite.store} on ${kind.name} ${server.version} …`);
  try {
    const { failures, report } = await suites(tools, { [suite.setting]: url }, [suite.tests]);
    const [passed, failed] = [report.numPassedTests, failures.length];
    const about = { store: suite.store, server: kind.name, version: server.version };
    return { ...about, cases: passed + failed, passed, failed, failures };
  } finally {
    await server.clean();
  }
}

const FAILURES_SHOWN = 20;
const FAILURE_CHARS = 200;

function tableOf(rows: readonly Row[]): string {
  const table = aligned([
    ['store', 'server', 'version', 'cases', 'passed', 'failed'],
    ...rows.map(({ store, server, version, cases, passed, failed }) => [
      ...[store, server, version],
      ...[cases, passed, failed].map(String),
    ]),
  ]);
  const failures = rows.flatMap(({ store, server, failures }) =>
    failures.map((failure) => `  ${store} on ${server}: ${failure.split('\n')[0]?.slice(0, FAILURE_CHARS)}`),
  );
  const shown = failures.slice(0, FAILURES_SHOWN);
  const more = failures.length > shown.length ? [`  … and ${failures.length - shown.length} more`] : [];
  return `${[...table, ...shown, ...more].join('\n')}\n`;
}

const helpOf = (kinds: readonly Kind[]): string => `Usage: ./scripts/conformance [options]

Runs the suites that every index, ledger and queue has to pass on servers of yours, and prints a table: store, server, version,
cases, passed, failed. A server must be empty: what the suites leave on it is removed in the end.

Options:
${aligned([
  ...kinds.map(({ flag, name, example, suites: of }) => [
    `--${flag} URL`,
    `${name} as ${of.map(({ store }) => store).join(', ')}, e.g. ${example}`,
  ]),
  ['--json', 'Print the table and all failures as JSON.'],
  ['--help, -h', 'Show this.'],
])
  .map((line) => `  ${line}`)
  .join('\n')}

The API key of Qdrant is read from QDRANT_API_KEY.
Exit code: ${EXIT.passed} all cases passed, ${EXIT.failed} one failed, ${EXIT.usage} invalid usage: a server does not answer, or is not empty.
`;
