import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { between } from '@slowwave/testkit';
import { expect, test } from 'vitest';
import { ENVIRONMENT } from './environment.ts';
import {
  ArgumentError,
  refuseArguments,
  SETTINGS,
  type SettingNote,
  type SettingsGroup,
  settingsByHeading,
} from './settings-list.ts';

/**
 * Files that list the settings are compared with the settings. After a change of these, update them with
 * pnpm test:unit packages/adapters/src/config -u
 */
const ROOT = resolve(import.meta.dirname, '../../../..');
const pathOf = (name: string): string => resolve(ROOT, name);

/** Every setting, commented out, with its default. */
const envExample = (): string =>
  [
    '# All settings of Slowwave with their defaults. Copy this file to .env and uncomment what you change:',
    '# ./scripts/start and docker compose read it. The environment overrides the file, and options of ./scripts/start',
    '# override both.',
    ...SETTINGS.flatMap((setting) => ['', `# ${setting.about}`, `# ${setting.name}=${setting.byDefault ?? ''}`]),
    '',
  ].join('\n');

/** The settings as tables for people. */
const settingsTables = (): string => settingsByHeading().map(tableOf).join('\n\n');

const tableOf = ({ heading, settings }: SettingsGroup): string =>
  [`## ${heading}`, '', '| setting | default | |', '|---|---|---|', ...settings.map(rowOf)].join('\n');

const rowOf = ({ name, about, byDefault }: SettingNote): string =>
  `| \`${name}\` | ${byDefault === null ? '' : `\`${byDefault}\``} | ${about.replaceAll('|', '\\|')} |`;

/** What the image or docker-compose.yml itself decides, and what is not for servers. */
const DECIDED = [
  'SLOWWAVE_HOST',
  'SLOWWAVE_PORT',
  'SLOWWAVE_DATA_DIR',
  'SLOWWAVE_API_KEY',
  'SLOWWAVE_URL',
  'REDIS_URL',
  'QDRANT_URL',
  'DATABASE_URL',
];

/** The settings that docker-compose.yml hands on from the host to the containers; an empty one counts as not set. */
const composeEnvironment = (): string =>
  SETTINGS.filter(({ name }) => !DECIDED.includes(name))
    .map(({ name }) => `  ${name}: \${${name}:-}`)
    .join('\n');

test('.env.example has every setting with its default', async () => {
  await expect(envExample()).toMatchFileSnapshot(pathOf('.env.example'));
});

test('.env.example names no setting that does not exist, and sets none', () => {
  const lines = envExample().split('\n');
  const named = lines.flatMap((line) => /^# ([A-Z][A-Z0-9_]+)=/.exec(line)?.[1] ?? []);
  expect(named).toEqual(Object.keys(ENVIRONMENT.shape));
  expect(lines.filter((line) => line !== '' && !line.startsWith('#'))).toEqual([]);
});

const WRITTEN: readonly [string, readonly [string, string], () => string][] = [
  ['docs/settings.md', ['<!-- settings -->', '<!-- /settings -->'], () => `\n${settingsTables()}\n`],
  ['docker-compose.yml', ['  # Every other setting of the programs:', '  # End of the settings.'], composeEnvironment],
];

test.each(WRITTEN)('%s has every setting', async (name, lines, content) => {
  const text = await readFile(pathOf(name), 'utf8');
  await expect(between(text, lines, content())).toMatchFileSnapshot(pathOf(name));
});

test('a program without arguments is welcome', () => {
  expect(() => refuseArguments([])).not.toThrow();
});

test.each([
  [
    'options of settings',
    ['--data-dir', 'here', '--redis-url=redis://:secret@host'],
    'set SLOWWAVE_DATA_DIR, REDIS_URL',
  ],
  ['an option there is not', ['--dta-dir', 'here'], 'got --dta-dir: '],
  ['help', ['--help'], 'docs/settings.md'],
  ['words', ['secret', 'too'], 'got 2: '],
])('%s are refused with how they are said, and no value is repeated', (_what, args, said) => {
  const refused = () => refuseArguments(args);
  expect(refused).toThrow(ArgumentError);
  expect(refused).toThrow(said);
  expect(refused).not.toThrow(/secret|here/);
});
