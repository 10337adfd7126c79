import { SETTINGS, type SettingNote } from './settings-list.ts';

/** Every setting, commented out, with what usually holds. */
export const envExample = (): string =>
  [
    '# All settings of Slowwave, with what holds when they are not set. Copy this file to .env and uncomment what you',
    '# change: ./scripts/start and docker compose read it. The environment wins over the file, options of ./scripts/start',
    '# over both. A setting that no program of this release honours is refused.',
    ...SETTINGS.flatMap((setting) => ['', `# ${setting.about}`, `# ${setting.name}=${setting.usual ?? ''}`]),
    '',
  ].join('\n');

/** The settings as a table for people. */
export const settingsTable = (): string =>
  ['| setting | usually | |', '|---|---|---|', ...SETTINGS.map(rowOf)].join('\n');

const rowOf = ({ name, about, usual }: SettingNote): string =>
  `| \`${name}\` | ${usual === null ? '' : `\`${usual}\``} | ${about.replaceAll('|', '\\|')} |`;

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
