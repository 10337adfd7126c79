/** One call of a client; without an error it worked. */
interface Call {
  readonly call: string;
  readonly error?: string;
}

export interface ClientReport {
  readonly name: string;
  readonly version: string;
  readonly calls: readonly Call[];
}

export interface ClientsReport {
  readonly clients: readonly ClientReport[];
  /** What could not be tried, with the reason. */
  readonly skipped: readonly string[];
}

/** The last line that a harness prints; clients print lines of their own before. */
export function reportIn(name: string, output: string): ClientReport {
  const line = output.split('\n').findLast((one) => one.startsWith('{"version"'));
  if (line === undefined) throw new Error(`expected the calls of ${name}, got ${JSON.stringify(output.slice(-200))}`);
  return { name, ...(JSON.parse(line) as Omit<ClientReport, 'name'>) };
}

/** Calls that are refused for a reason, whatever client makes them, and what to do instead. */
const APART: readonly { readonly of: RegExp; readonly error?: RegExp; readonly why: string }[] = [
  {
    of: /^project\.(create|delete|\w+_members?)/,
    why: 'Organizations, projects and members: the tenant of a key is the project. Make keys instead',
  },
  { of: /profile/, why: 'Profiles by a schema: use `POST /v1/context`' },
  {
    of: /^feedback/,
    error: /^TypeError: capture_client_event/,
    why: 'The client itself fails, once the server has answered and the feedback is stored',
  },
];

/** Tests that expect something else, and say no more than that. */
const EXPECTED: readonly { readonly of: RegExp; readonly why: string }[] = [
  {
    of: /^get with invalid ID/,
    why: 'An id that no memory has is 404 here (MemoryNotFoundError). At mem0 ids are UUIDs, and anything else is 400 (ValidationError)',
  },
];

const bare = ({ call }: Call): string => call.replace(/^async /, '');

const apartOf = (call: Call) =>
  APART.find(({ of, error }) => call.error !== undefined && of.test(bare(call)) && (error?.test(call.error) ?? true));

/** Of the calls that make sense here: so many there are, and so many work. */
export function countsOf({ calls }: ClientReport): { tried: number; works: number; apart: number } {
  const apart = calls.filter((call) => apartOf(call) !== undefined).length;
  return { tried: calls.length - apart, works: calls.filter(({ error }) => error === undefined).length, apart };
}

const LEAST = 0.95;

/** What speaks against the claim that a client only needs another host. */
export const failuresOf = ({ clients, skipped }: ClientsReport): readonly string[] => [
  ...skipped,
  ...clients.flatMap((client) => {
    const { tried, works } = countsOf(client);
    if (works >= LEAST * tried) return [];
    const refused = refusedOf(client).map((call) => `${call.call}: ${call.error}`);
    return [`${client.name} ${client.version}: ${works} of ${tried} calls work`, ...refused];
  }),
];

const refusedOf = ({ calls }: ClientReport): readonly Call[] =>
  calls.filter((call) => call.error !== undefined && apartOf(call) === undefined);

export function figureOf({ clients }: ClientsReport): string {
  const all = clients.map(countsOf);
  const sum = (of: 'tried' | 'works' | 'apart'): number => all.reduce((before, one) => before + one[of], 0);
  const least = Math.min(...all.map(({ tried, works }) => works / tried));
  return (
    `${clients.length} clients: ${sum('works')} of ${sum('tried')} calls work, the least ${(100 * least).toFixed(1)}%; ` +
    `${sum('apart')} others make no sense here`
  );
}

/** Tables in Markdown: how much of each client works, and what is refused, by whom. */
export function tableOf({ clients }: ClientsReport): string {
  const rows = clients.map((client) => {
    const { tried, works, apart } = countsOf(client);
    return [`${client.name}`, client.version, String(tried), String(works), String(apart)];
  });
  const reasons = reasonsIn(clients.flatMap(({ calls }) => calls));
  return [
    table(['client', 'version', 'calls', 'that work', 'make no sense here'], rows),
    table(['refused', 'why, and what to do instead'], reasons),
  ].join('\n');
}

/** The refused calls by their reasons. Some clients keep the server's sentence to themselves: there another's call has it. */
function reasonsIn(calls: readonly Call[]): string[][] {
  const refused = calls.flatMap((call) => (call.error === undefined ? [] : [{ call, error: call.error }]));
  const sentences = new Map(
    refused.flatMap(({ call, error }) => (isMute(error) ? [] : [[bare(call), sentenceIn(error)] as const])),
  );
  const reasonOf = ({ call, error }: (typeof refused)[number]): string =>
    apartOf(call)?.why ??
    EXPECTED.find(({ of }) => of.test(bare(call)))?.why ??
    sentences.get(bare(call)) ??
    sentenceIn(error);
  const groups = Map.groupBy(refused, reasonOf);
  return [...groups].map(([why, some]) => [
    [...new Set(some.map(({ call }) => `\`${bare(call)}\``))].sort().join(', '),
    why,
  ]);
}

const isMute = (error: string): boolean => error.includes('Client error');

/** The sentence of the server in what a client makes of it. */
function sentenceIn(error: string): string {
  const sentence = /"(?:error|detail)":"([^"]+)"/.exec(error)?.[1] ?? error.replace(/^.*(?:Error|requests?): /, '');
  return sentence
    .replace(/^Bad request to \S+: /, '')
    .replace(/http:\S+/, 'the server')
    .trim();
}

const table = (head: readonly string[], rows: readonly (readonly string[])[]): string =>
  [head, head.map(() => '---'), ...rows]
    .map((row) => `| ${row.map((cell) => cell.replaceAll('|', '\\|').replaceAll('\n', ' ')).join(' | ')} |\n`)
    .join('');

const [BEGIN, END] = ['<!-- clients -->', '<!-- /clients -->'];

/** The page with other tables between its marks. */
export function withTables(page: string, tables: string): string {
  const [from, to] = [page.indexOf(BEGIN), page.indexOf(END)];
  if (from < 0 || to < from) throw new Error(`expected ${BEGIN} and ${END} in the page, found none`);
  return `${page.slice(0, from + BEGIN.length)}\n\n${tables}\n${page.slice(to)}`;
}
