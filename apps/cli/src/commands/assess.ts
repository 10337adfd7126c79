import { writeFile } from 'node:fs/promises';
import { counted, type SuiteAssessments, type SuiteSample } from '@slowwave/contracts';
import { ofTenant, withQuery } from '../api.ts';
import { type Call, type Command, TENANT } from '../command.ts';
import { CommandError, EXIT, UsageError } from '../exit.ts';
import { table } from '../output.ts';
import { textIn } from './suites.ts';

/** A message or a fact of a sample, as it stands on its line of the file that a person fills in. */
type Item = {
  readonly item: string;
  /** Of a message: complete or missing. Of a fact: agree or wrong. null: not said yet. */
  readonly verdict: string | null;
} & (
  | { readonly message: string; readonly before: string | null }
  | { readonly fact: string; readonly outcome: string; readonly replaced: string | null }
);

export const sampleSuiteCommand: Command = {
  name: 'suite sample',
  usage: '<suite> <run>',
  summary: 'Write messages of a run with the facts found in them, for a person to assess.',
  about: `One message or fact a line, as JSON. Fill in "verdict": agree or wrong for a fact, complete or missing for
a message, and send the file with suite assess. Everybody gets the same messages.`,
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
};

export const assessSuiteCommand: Command = {
  name: 'suite assess',
  usage: '<suite> <run> <file>',
  writes: true,
  summary: 'Send the verdicts in a file written by suite sample, and show how much people agree.',
  about: 'Lines without a verdict are skipped; a later verdict on the same item replaces the earlier one.',
  options: { by: { value: 'NAME', about: 'Who says so.' }, tenant: TENANT },
  run: async (call) => {
    const by = call.given.text('by');
    if (by === null) throw new UsageError('expected --by, the name of the assessor', 'suite assess');
    const assessments = await verdictsIn(call.given.words[2] ?? '');
    const path = ofTenant(`${pathOfRun(call)}/assessments`, call);
    const assessed = await call.ask<SuiteAssessments>('POST', path, { by, assessments });
    return { value: assessed, text: textOf(assessed) };
  },
};

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
    [
      { name: 'by', of: ({ by }) => by },
      { name: 'facts right', of: ({ right }) => shareOf(right) },
      { name: 'messages complete', of: ({ complete }) => shareOf(complete) },
    ],
    assessors,
  );
  const agreeing = table(
    [
      { name: 'two people', of: ({ by }) => by.join(', ') },
      { name: 'the same of facts', of: ({ facts }) => agreementOf(facts) },
      { name: 'the same of messages', of: ({ messages }) => agreementOf(messages) },
    ],
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
