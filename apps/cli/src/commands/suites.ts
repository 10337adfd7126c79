import { readFile, writeFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  counted,
  type SettingsView,
  type SuiteAssessments,
  type SuiteFile,
  type SuiteRunEstimate,
  type SuiteRunView,
  type SuiteSample,
  type SuiteView,
} from '@slowwave/contracts';
import { ofTenant, withQuery } from '../api.ts';
import { type Call, type Command, countOf, type Outcome, pathWord, present, TENANT } from '../command.ts';
import { CommandError, EXIT, UsageError } from '../exit.ts';
import { type Columns, LIMIT, listed, listing, pairs, table, tracked } from '../output.ts';

const OWNERS = { usual: 50, max: 200 };
const BATCHES = { usual: 10, max: 50 };

const RUN_OPTIONS = {
  model: { value: 'NAME', about: 'Another chat model for all steps.' },
  prompts: { value: 'FILE', about: 'Prompts as JSON: {"extract": "…", "decide": "…"}.' },
  settings: {
    value: 'FILE',
    about: 'Settings as JSON, as printed by slowwave settings; those that affect what is remembered are tried.',
  },
  embedder: { value: 'NAME', about: 'Embedding model for the questions of the suite, instead of the configured one.' },
  budget: { value: 'TOKENS', about: 'Maximum tokens of the run. Default: about twice the estimate.' },
  report: { value: 'LIST', about: 'Also write reports, e.g. junit=report.xml,markdown=report.md,json=report.json.' },
  yes: { value: null, about: 'Start without showing the estimate first.' },
  tenant: TENANT,
} as const;

export const suiteCommands: readonly Command[] = [
  {
    name: 'suite record',
    usage: '<name>',
    writes: true,
    summary: 'Record a suite: what owners said, the memories known before, and the results.',
    about: `Owners are chosen by the hash of their ids, so that all languages, lengths and kinds of change are
represented. A suite contains what they said; --mask removes personal data. Erasing an owner
removes its case.`,
    options: {
      from: { value: 'WHERE', about: 'production (default).' },
      owners: { value: 'N', about: `Number of owners. Default: ${OWNERS.usual}.` },
      batches: { value: 'N', about: `Number of newest batches per owner. Default: ${BATCHES.usual}.` },
      mask: { value: null, about: 'Mask personal data, as the setting personal_data does.' },
      tenant: TENANT,
    },
    run: async (call) => {
      const { given, ask } = call;
      const from = given.text('from') ?? 'production';
      if (from !== 'production')
        throw new UsageError(
          `--from: expected production, got "${from}"; a file is imported with suite import`,
          'suite record',
        );
      const record = {
        owners: countOf(given, 'owners', OWNERS),
        batches_per_owner: countOf(given, 'batches', BATCHES),
        mask: given.flag('mask'),
      };
      const suite = await ask<SuiteView>('POST', ofTenant('/v1/suites', call), { name: given.words[0], record });
      return {
        value: suite,
        text: `Recorded the suite ${suite.name} of ${counted(suite.estimate.cases, 'owner')}. ${takes(suite.estimate)}`,
      };
    },
  },
  {
    name: 'suite list',
    summary: 'List suites, newest first.',
    options: { tenant: TENANT, limit: LIMIT },
    run: async (call) => {
      const query = { tenant: call.given.text('tenant') };
      return listed(call, { path: '/v1/suites', query, columns: SUITES, as: 'suites', none: 'There are no suites.' });
    },
  },
  {
    name: 'suite show',
    usage: '<name or run>',
    summary: 'Show a suite with its runs, or the report of a run.',
    options: { suite: { value: 'NAME', about: 'The suite of the run.' }, tenant: TENANT, limit: LIMIT },
    run: async (call) => {
      const suite = call.given.text('suite');
      if (suite !== null) return reported(call, { suite, id: call.given.words[0] ?? '' });
      const path = `/v1/suites/${pathWord(call)}`;
      const query = { tenant: call.given.text('tenant') };
      const view = await call.ask<SuiteView>('GET', ofTenant(path, call));
      const { items: runs, more, text } = await listing(call, { path: `${path}/runs`, query, columns: RUNS });
      const about = pairs([
        ['suite', view.name],
        ['from', view.origin],
        ['cases', view.estimate.cases],
        ['a run', takes(view.estimate)],
      ]);
      return {
        value: { ...view, runs, more },
        text: runs.length === 0 ? `${about}\nIt has not been run yet.` : `${about}\n\n${text}`,
      };
    },
  },
  {
    name: 'suite run',
    usage: '<name>',
    on: 'server',
    writes: true,
    summary: 'Run a suite with another model, prompts or settings, and compare the result with the stored one.',
    about: `It runs in a shadow space; live memories are not changed. Requires a running worker. Shows the estimate
first, and only starts with --yes. After Ctrl-C the run continues in the worker; see suite show.
Exits with 0 if it passed, and with 1 if it is blocked.`,
    options: RUN_OPTIONS,
    run: (call) => run(call, { name: call.given.words[0] ?? '', yes: call.given.flag('yes') }),
  },
  {
    name: 'suite sample',
    usage: '<suite> <run>',
    summary: 'Write messages of a run with the facts found in them, for a person to assess.',
    about: `One message or fact per line, as JSON. Fill in "verdict": agree or wrong for a fact, complete or missing for
a message, and send the file with suite assess. Everyone gets the same messages.`,
    options: {
      by: { value: 'NAME', about: 'Include this person’s earlier verdicts.' },
      messages: { value: 'N', about: 'Number of messages. Default: 20.' },
      file: { value: 'FILE', about: 'Output file. Default: standard output.' },
      tenant: TENANT,
    },
    run: async (call) => {
      const { given } = call;
      const query = { by: given.text('by'), messages: given.text('messages'), tenant: given.text('tenant') };
      const { messages } = await call.ask<SuiteSample>('GET', withQuery(`${pathOfRun(call)}/sample`, query));
      const items = messages.flatMap(itemsOf);
      const text = items.map((item) => `${JSON.stringify(item)}\n`).join('');
      const path = given.text('file');
      if (path === null) return { value: { items }, text };
      await writeFile(path, text);
      return { value: { file: path, items: items.length }, text: `Wrote ${counted(items.length, 'item')} to ${path}.` };
    },
  },
  {
    name: 'suite assess',
    usage: '<suite> <run> <file>',
    writes: true,
    summary: 'Send the verdicts in a file written by suite sample, and show how much people agree.',
    about: 'Lines without a verdict are skipped; a later verdict on the same item replaces the earlier one.',
    options: { by: { value: 'NAME', about: 'Name of the assessor.' }, tenant: TENANT },
    run: async (call) => {
      const by = call.given.text('by');
      if (by === null) throw new UsageError('expected --by, the name of the assessor', 'suite assess');
      const assessments = await verdictsIn(call.given.words[2] ?? '');
      const path = ofTenant(`${pathOfRun(call)}/assessments`, call);
      const assessed = await call.ask<SuiteAssessments>('POST', path, { by, assessments });
      return { value: assessed, text: textOf(assessed) };
    },
  },
  {
    name: 'suite export',
    usage: '<name>',
    summary: 'Write a suite as a file for a repository: one case per line.',
    about: 'The file does not name users, but it contains what they said unless the suite was recorded with --mask.',
    options: { file: { value: 'FILE', about: 'Output file. Default: standard output.' }, tenant: TENANT },
    run: async (call) => {
      const { cases, ...head } = await call.ask<SuiteFile>(
        'GET',
        ofTenant(`/v1/suites/${pathWord(call)}/export`, call),
      );
      const text = `${[head, ...cases].map((line) => JSON.stringify(line)).join('\n')}\n`;
      const path = call.given.text('file');
      if (path === null) return { value: { ...head, cases }, text };
      await writeFile(path, text);
      return { value: { file: path, cases: cases.length }, text: `Wrote ${counted(cases.length, 'case')} to ${path}.` };
    },
  },
  {
    name: 'suite import',
    usage: '<file>',
    writes: true,
    summary: 'Import a suite from a file written by suite export or by hand.',
    about: 'docs/suites.md describes the file.',
    options: {
      name: { value: 'NAME', about: 'Name of the suite. Default: the name of the file.' },
      replace: { value: null, about: 'Replace an existing suite with this name.' },
      tenant: TENANT,
    },
    run: async (call) => {
      const suite = await imported(call, call.given.flag('replace'));
      return {
        value: suite,
        text: `Imported the suite ${suite.name} of ${counted(suite.estimate.cases, 'case')}. ${takes(suite.estimate)}`,
      };
    },
  },
  {
    name: 'suite ci',
    usage: '<file>',
    on: 'server',
    writes: true,
    summary: 'For CI: import a suite from a file, run it, and exit with 1 if it is blocked.',
    about: `Same as suite import --replace and suite run --yes. With --baseline the suite is run without changes first, so that
both runs use the same model server and have the same noise.`,
    options: {
      ...RUN_OPTIONS,
      name: { value: 'NAME', about: 'Name of the suite. Default: the name of the file.' },
      baseline: { value: null, about: 'Run it without changes first.' },
    },
    run: async (call) => {
      reportsIn(call);
      const { name } = await imported(call, true);
      if (call.given.flag('baseline')) await followed(call, await started(call, name, {}));
      return run(call, { name, yes: true });
    },
  },
];

async function imported(call: Call, replaces: boolean): Promise<SuiteView> {
  const [path = ''] = call.given.words;
  const file = await jsonIn(path);
  const name = call.given.text('name') ?? nameOfFile(path);
  if (replaces) await removed(call, name);
  return call.ask<SuiteView>('POST', ofTenant('/v1/suites', call), { name, file });
}

const nameOfFile = (path: string): string => (path.split('/').at(-1) ?? '').replace(/(?:\.suite)?\.jsonl?$/u, '');

async function removed(call: Call, name: string): Promise<void> {
  try {
    await call.ask('DELETE', ofTenant(`/v1/suites/${encodeURIComponent(name)}`, call));
  } catch (error) {
    if (!(error instanceof CommandError) || error.exitCode !== EXIT.notFound) throw error;
  }
}

/** As a whole, or as its head with one case per line. */
async function jsonIn(path: string): Promise<object> {
  const text = await textIn(path);
  try {
    return JSON.parse(text);
  } catch (error) {
    const [head = '', ...cases] = text.split('\n').filter((line) => line.trim() !== '');
    try {
      return { ...JSON.parse(head), cases: cases.map((line) => JSON.parse(line)) };
    } catch {
      throw new CommandError(
        `expected JSON in ${path}, as a whole or per line: ${(error as Error).message}`,
        EXIT.failed,
      );
    }
  }
}

const textIn = (path: string): Promise<string> =>
  readFile(path, 'utf8').catch((cause: Error) => {
    throw new CommandError(`could not read the file: ${cause.message}`, EXIT.notFound);
  });

type Suite = Omit<SuiteView, 'estimate'>;
const SUITES: Columns<Suite> = {
  name: 'name',
  from: 'origin',
  masked: ({ masked }) => (masked ? 'yes' : 'no'),
  created: 'created_at',
};

type RunSummary = Omit<SuiteRunView, 'batches' | 'report'>;
const RUNS: Columns<RunSummary> = {
  run: 'id',
  created: 'created_at',
  state: 'state',
  passed: ({ passed }) => (passed === null ? null : passed ? 'yes' : 'no'),
  tokens: 'spent_tokens',
  changes: ({ changes }) => JSON.stringify(changes),
};

async function run(call: Call, { name, yes }: { readonly name: string; readonly yes: boolean }): Promise<Outcome> {
  const { given } = call;
  const reports = reportsIn(call);
  const changes = await changesOf(call);
  const path = ofTenant(`/v1/suites/${encodeURIComponent(name)}/runs`, call);
  const estimate = await call.ask<SuiteRunEstimate>('POST', path, { ...changes, dry_run: true });
  const budget =
    given.text('budget') === null ? estimate.budget_tokens : countOf(given, 'budget', { usual: 1, max: 1_000_000_000 });
  const said = `${takes(estimate)} It will use at most ${budget} tokens.`;
  if (!yes) return { value: { ...estimate, budget_tokens: budget }, text: `${said}\nStart it with --yes.` };
  call.out.say(said);
  const done = await followed(call, await started(call, name, { ...changes, budget_tokens: budget }));
  for (const { format, path } of reports)
    await writeFile(path, `${await reportAs(call, { suite: name, id: done.id }, format)}\n`);
  return reported(call, { suite: name, id: done.id });
}

const takes = ({ cases, calls, tokens, spread }: SuiteView['estimate']): string =>
  `A run of ${counted(cases, 'case')} takes about ${calls} calls and ${tokens} ± ${spread} tokens.`;

async function changesOf({ given }: Call): Promise<Record<string, unknown>> {
  const [prompts, settings] = [given.text('prompts'), given.text('settings')];
  return present({
    model: given.text('model'),
    embedder: given.text('embedder'),
    prompts: prompts === null ? null : await jsonIn(prompts),
    settings: settings === null ? null : ((await jsonIn(settings)) as SettingsView),
  });
}

const started = (call: Call, name: string, body: object): Promise<SuiteRunView> =>
  call.ask<SuiteRunView>('POST', ofTenant(`/v1/suites/${encodeURIComponent(name)}/runs`, call), body);

const POLL_MS = 500;
const OVER: readonly SuiteRunView['state'][] = ['done', 'failed', 'discarding', 'discarded'];

const followed = (call: Call, begun: SuiteRunView): Promise<SuiteRunView> =>
  tracked(call.out, { title: `suite ${begun.suite}`, unit: 'batches' }, async ({ update }) => {
    const path = ofTenant(`/v1/suites/${encodeURIComponent(begun.suite)}/runs/${begun.id}`, call);
    for (let one = begun; ; ) {
      update(one.batches.done, one.batches.total, one.state);
      if (OVER.includes(one.state)) return one;
      await sleep(POLL_MS, null, { signal: call.cancel });
      one = await call.ask<SuiteRunView>('GET', path);
    }
  });

const FORMATS = ['text', 'json', 'markdown', 'junit'];

/** Looked at before anything is run. */
const reportsIn = ({ given }: Call): readonly { readonly format: string; readonly path: string }[] =>
  (given.text('report') ?? '')
    .split(',')
    .filter((one) => one !== '')
    .map((report) => {
      const [format = '', path = ''] = report.split(/=(.*)/su);
      if (FORMATS.includes(format) && path !== '') return { format, path };
      const expected = `expected a list like junit=FILE of ${FORMATS.join(', ')}, got "${report}"`;
      throw new UsageError(`--report: ${expected}`, 'suite run');
    });

interface RunName {
  readonly suite: string;
  readonly id: string;
}

async function reportAs(call: Call, { suite, id }: RunName, format: string): Promise<string> {
  const path = `/v1/suites/${encodeURIComponent(suite)}/runs/${encodeURIComponent(id)}`;
  const body = await call.get(withQuery(path, { format, tenant: call.given.text('tenant') }));
  return typeof body === 'string' ? body : JSON.stringify(body, null, 2);
}

async function reported(call: Call, named: RunName): Promise<Outcome> {
  const path = `/v1/suites/${encodeURIComponent(named.suite)}/runs/${encodeURIComponent(named.id)}`;
  const value = await call.ask<SuiteRunView>('GET', ofTenant(path, call));
  const text = await reportAs(call, named, 'text');
  return { value, text, exit: value.passed === true || !OVER.includes(value.state) ? EXIT.done : EXIT.failed };
}

/** A message or a fact of a sample, as it stands on its line of the file that a person fills in. */
type Item = {
  readonly item: string;
  /** Of a message: complete or missing. Of a fact: agree or wrong. null: not said yet. */
  readonly verdict: string | null;
} & (
  | { readonly message: string; readonly before: string | null }
  | { readonly fact: string; readonly outcome: string; readonly replaced: string | null }
);

function pathOfRun({ given }: Call): string {
  const [suite = '', run = ''] = given.words.map(encodeURIComponent);
  return `/v1/suites/${suite}/runs/${run}`;
}

const itemsOf = ({ id, verdict, content, before, facts }: SuiteSample['messages'][number]): readonly Item[] => [
  { item: id, verdict, message: content, before },
  ...facts.map(({ text, outcome, replaced, ...fact }) => ({
    ...{ item: fact.id, verdict: fact.verdict, fact: text, outcome, replaced },
  })),
];

async function verdictsIn(path: string): Promise<readonly Pick<Item, 'item' | 'verdict'>[]> {
  const lines = (await textIn(path)).split('\n').filter((line) => line.trim() !== '');
  const given = lines.flatMap((line, i) => {
    const { item, verdict } = itemIn(line, `line ${i + 1} of ${path}`);
    return verdict === null || verdict === undefined ? [] : [{ item, verdict }];
  });
  if (given.length > 0) return given;
  throw new CommandError(`expected a verdict on at least one line of ${path}, got none`, EXIT.failed);
}

function itemIn(line: string, where: string): Partial<Item> & Pick<Item, 'item'> {
  try {
    return JSON.parse(line);
  } catch (error) {
    throw new CommandError(`expected JSON in ${where}: ${(error as Error).message}`, EXIT.failed);
  }
}

function textOf({ assessors, pairs }: SuiteAssessments): string {
  const people = table(
    {
      by: 'by',
      'facts right': ({ right }) => shareOf(right),
      'messages complete': ({ complete }) => shareOf(complete),
    },
    assessors,
  );
  const agreeing = table(
    {
      'two people': ({ by }) => by.join(', '),
      'the same of facts': ({ facts }) => agreementOf(facts),
      'the same of messages': ({ messages }) => agreementOf(messages),
    },
    pairs,
  );
  return pairs.length === 0 ? people : `${people}\n\n${agreeing}`;
}

const shareOf = (share: SuiteAssessments['assessors'][number]['right']): string | null =>
  share === null
    ? null
    : `${share.value.toFixed(3)} (${share.low.toFixed(3)} to ${share.high.toFixed(3)}) of ${share.of}`;

const agreementOf = (agreement: SuiteAssessments['pairs'][number]['facts']): string | null =>
  agreement === null
    ? null
    : `${agreement.same} of ${agreement.of}${agreement.kappa === null ? '' : `, kappa ${agreement.kappa.toFixed(2)}`}`;
