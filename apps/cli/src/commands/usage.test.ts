import { readFile } from 'node:fs/promises';
import { ASKED, BYTES, BYTES_ASLEEP, BYTES_IN_QDRANT, MEASURES } from '@slowwave/engine';
import { between } from '@slowwave/testkit';
import { expect, test } from 'vitest';

test('docs/scale.md has the figures that plans are made from', async () => {
  const path = new URL('../../../../docs/scale.md', import.meta.url);
  const text = await readFile(path, 'utf8');
  const content = `\n${figureTables()}\n`;
  await expect(between(text, ['<!-- figures -->', '<!-- /figures -->'], content)).toMatchFileSnapshot(path.pathname);
});

const row = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`;
const number = (value: number): string => value.toLocaleString('en-US', { maximumFractionDigits: 3 });

/** All of it as tables of docs/scale.md. */
function figureTables(): string {
  const figures = Object.values(MEASURES).map(({ about, value, unit, from }) =>
    row([about, `${number(value)} ${unit}`.trim(), from]),
  );
  const stores = Object.entries(BYTES).map(([store, { ledger, index }]) =>
    row([store, ...[ledger, index].map(({ base, perDimension }) => `${number(base)} + ${perDimension} × dimensions`)]),
  );
  const qdrant = `${number(BYTES_IN_QDRANT.base)} + ${BYTES_IN_QDRANT.perDimension} × dimensions`;
  const asked = ASKED.map(({ gap, calls, promptTokens }) =>
    row([Number.isFinite(gap) ? `up to ${gap} s` : 'longer', number(calls), number(promptTokens)]),
  );
  return [
    row(['figure', 'value', 'from']),
    '|---|---|---|',
    ...figures,
    '',
    'Bytes on disk for each exchange that is consolidated alone, with raw messages searchable. Measured with `./scripts/bench bytes`: SQLite at 384 and 1,536',
    'dimensions (`--dimensions`), PostgreSQL at 384 (`--stores postgres`), while its tables grow. The growth of PostgreSQL with the dimensions is estimated, and so are the figures for Qdrant.',
    '',
    row(['store', 'ledger', 'index']),
    '|---|---|---|',
    ...stores,
    row(['qdrant', '–', qdrant]),
    '',
    `For an owner that [sleeps](cold.md): ${number(BYTES_ASLEEP.base)} + ${BYTES_ASLEEP.perDimension} × dimensions in its segment, measured with \`./scripts/bench cold\` at 384 dimensions; the growth with the dimensions is`,
    'estimated.',
    '',
    'Calls of the chat model and prompt tokens for each message, measured with `./scripts/bench cost`:',
    '',
    row(['between exchanges', 'calls', 'prompt tokens']),
    '|---|---|---|',
    ...asked,
  ].join('\n');
}
