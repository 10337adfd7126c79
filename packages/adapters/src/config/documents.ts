import { SETTINGS, type SettingNote, type SettingsGroup, settingsByHeading } from './settings-list.ts';

/** Every setting, commented out, with its default. */
export const envExample = (): string =>
  [
    '# All settings of Slowwave with their defaults. Copy this file to .env and uncomment what you change:',
    '# ./scripts/start and docker compose read it. The environment overrides the file, and options of ./scripts/start',
    '# override both.',
    ...SETTINGS.flatMap((setting) => ['', `# ${setting.about}`, `# ${setting.name}=${setting.byDefault ?? ''}`]),
    '',
  ].join('\n');

/** The settings as tables for people. */
export const settingsTables = (): string => settingsByHeading().map(tableOf).join('\n\n');

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
export const composeEnvironment = (): string =>
  SETTINGS.filter(({ name }) => !DECIDED.includes(name))
    .map(({ name }) => `  ${name}: \${${name}:-}`)
    .join('\n');

/** The text with what stands between two lines replaced. */
export function between(text: string, [first, last]: readonly [string, string], content: string): string {
  const start = text.indexOf(`${first}\n`);
  const end = text.indexOf(last, start);
  if (start < 0 || end < 0)
    throw new Error(`expected the lines "${first}" and "${last}", found them not; put them back`);
  return `${text.slice(0, start + first.length)}\n${content}\n${text.slice(end)}`;
}
