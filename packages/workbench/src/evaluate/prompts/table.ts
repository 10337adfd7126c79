import { EXTRACT } from '@slowwave/engine';
import type { Answered, Measured } from './measure.ts';

const HEAD = [
  'model',
  'prompt',
  'examples',
  'sentences',
  'facts',
  'grounded',
  'copied',
  'invented',
  'missed',
  'unusable answers',
  'prompt tokens',
  'answer tokens',
];

/** The rows of one model, as they stand in docs/prompts.md. */
export const rowsOf = (model: string, measured: readonly Measured[]): readonly string[] =>
  measured.map(({ variant, answers }) => {
    const count = (of: (answer: Answered) => number): number => answers.reduce((sum, answer) => sum + of(answer), 0);
    const from = (origin: string): number =>
      count(({ facts }) => facts.filter((fact) => fact.origin === origin).length);
    const each = (of: (answer: Answered) => number): string =>
      Math.round(count(of) / answers.length).toLocaleString('en');
    return row([
      model,
      `version ${EXTRACT.version}`,
      variant,
      String(answers.length),
      String(count(({ facts }) => facts.length)),
      ...[from('grounded'), from('copied'), from('invented')].map(String),
      `${count(({ missed }) => missed)} of ${count(({ told }) => told)}`,
      String(count(({ isUnusable }) => Number(isUnusable))),
      each(({ promptTokens }) => promptTokens),
      each(({ answerTokens }) => answerTokens),
    ]);
  });

const row = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`;

export const tableOf = (rows: readonly string[]): string =>
  `${[row(HEAD), row(HEAD.map(() => '---')), ...rows].join('\n')}\n`;

/** The page with the rows of a model in place of those it had, or behind all others. */
export function withRows(page: string, { model, rows }: { model: string; rows: readonly string[] }): string {
  const lines = page.split('\n');
  const head = lines.indexOf(row(HEAD));
  if (head < 0) throw new Error(`expected the table ${row(HEAD)} in docs/prompts.md, found none`);
  const end = lines.findIndex((line, i) => i > head && !line.startsWith('|'));
  const others = lines.slice(head + 2, end).filter((line) => !line.startsWith(`| ${model} |`));
  return [...lines.slice(0, head + 2), ...others, ...rows, ...lines.slice(end)].join('\n');
}
