import { mkdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { startOwnServer } from '@slowwave/testkit';
import { type Page, startBrowser } from '@slowwave/testkit/browser';
import { type Api, apiAt } from '../api.ts';
import { argumentsIn } from '../arguments.ts';
import { settled } from '../evaluate/course.ts';
import { EXIT } from '../evaluate/options.ts';
import { withExitCode } from '../evaluate/program.ts';
import { openTerminal } from '../terminal.ts';

const IMAGES = fileURLToPath(new URL('../../../../docs/images/', import.meta.url));

const HELP = `Usage: ./scripts/pictures [options]

Takes the pictures of the console that README and docs show, from a server of its own with a conversation in it, and
writes them to docs/images. Needs Chromium. Takes half a minute.

Options:
  --to FOLDER   Write them somewhere else.
  --help, -h    Show this.

Exit code: ${EXIT.passed} written, ${EXIT.usage} invalid usage, ${EXIT.server} the server did not finish.
`;

/** What the user of the pictures says, from new facts to changes of them. */
const SAID = [
  'I am Ana, and I moved from Lisbon to Oslo last month.',
  'I am allergic to peanuts. My sister Miriam works as a nurse.',
  'I live in Bergen now, and my dog is called Fado.',
];

interface Picture {
  readonly name: string;
  readonly path: string | ((api: Api) => Promise<string>);
  /** What somebody does before the picture is taken. */
  readonly act?: (page: Page) => Promise<void>;
}

const PICTURES: readonly Picture[] = [
  { name: 'playground', path: '/playground', act: playInPlayground },
  { name: 'consolidation', path: '/playground', act: askWhy },
  { name: 'overview', path: '/' },
  { name: 'own-page', path: linkForAna, act: askWhereFrom },
];

/** Says two things, of which the second changes the first. */
async function playInPlayground(page: Page): Promise<void> {
  await page.getByRole('button', { name: 'I am Ana' }).click();
  await page.getByText(/^Consolidated in/).waitFor();
  await page.getByRole('button', { name: 'I live in Bergen' }).click();
  await page.getByText('changed', { exact: true }).waitFor();
  await page
    .getByText(/^version [2-9]/)
    .first()
    .waitFor();
}

/** Changes something and looks at the decision. */
async function askWhy(page: Page): Promise<void> {
  await playInPlayground(page);
  await page.getByRole('link', { name: 'Why' }).last().click();
  await page.getByText('Facts and decisions').waitFor();
}

async function linkForAna(api: Api): Promise<string> {
  return (await api.post<{ path: string }>('/v1/users/ana/links', {})).path;
}

/** Looks at the message behind the first memory. */
async function askWhereFrom(page: Page): Promise<void> {
  await page.getByRole('button', { name: 'Where is this from?' }).first().click();
  await page.locator('mark').first().waitFor();
}

const WIDTH = 1_280;
const HEIGHT = 720;
/** Larger ones make the pages that show them slow. */
const LARGEST_BYTES = 200_000;
const WITHIN_MS = 60_000;

const outputs = openTerminal();
process.exitCode = await withExitCode({ outputs, command: './scripts/pictures' }, async () => {
  const { values } = argumentsIn(process.argv.slice(2), {
    to: { type: 'string' },
    help: { type: 'boolean', short: 'h' },
  });
  if (values.help === true) {
    outputs.result(HELP);
    return EXIT.passed;
  }
  const folder = values.to ?? IMAGES;
  await mkdir(folder, { recursive: true });
  const server = await startOwnServer({});
  try {
    const api = apiAt(server.url, null);
    await converse(api);
    for (const path of await take({ url: server.url, api, folder })) outputs.result(`${path}\n`);
  } finally {
    await server.close();
  }
  return EXIT.passed;
});

async function converse(api: Api): Promise<void> {
  for (const content of SAID) {
    const { batch_id: id } = await api.post<{ batch_id: string }>('/v1/batches', {
      user_id: 'ana',
      flush: true,
      messages: [{ role: 'user', content }],
    });
    await settled({ api }, { id, deadline: Date.now() + WITHIN_MS });
  }
}

interface Taking {
  readonly url: string;
  readonly api: Api;
  readonly folder: string;
}

/** Returns the paths of the pictures. */
async function take({ url, api, folder }: Taking): Promise<string[]> {
  const browser = await startBrowser();
  try {
    const page = await browser.newPage({ viewport: { width: WIDTH, height: HEIGHT } });
    const paths: string[] = [];
    for (const { name, path: at, act } of PICTURES) {
      await page.goto(`${url}${typeof at === 'string' ? at : await at(api)}`, { waitUntil: 'networkidle' });
      await act?.(page);
      const path = join(folder, `console-${name}.png`);
      await page.screenshot({ path });
      const { size } = await stat(path);
      if (size > LARGEST_BYTES)
        throw new Error(`expected ${path} to have at most ${LARGEST_BYTES} bytes, it has ${size}`);
      paths.push(path);
    }
    return paths;
  } finally {
    await browser.close();
  }
}
