import { createSlowwave, type Slowwave } from '@slowwave/sdk';
import { startOwnServer } from '@slowwave/testkit';
import {
  type Browser,
  type BrowserContext,
  type BrowserContextOptions,
  type Page,
  startBrowser,
} from '@slowwave/testkit/browser';
import axe from 'axe-core';
import { afterAll, beforeAll, expect, onTestFinished } from 'vitest';

/** On a machine that does other things too. */
export const WITHIN_MS = 60_000;
const START_MS = 180_000;

/** What somebody sees, in a browser of their own. */
export interface Visit {
  readonly page: Page;
  /** Opens a page of the console and waits until it has what it shows. */
  open(path: string): Promise<void>;
  /** Fails if the browser complained about anything, or something was loaded from elsewhere. */
  expectQuiet(): void;
  /** The same, and if the page is hard to use for somebody, which takes a browser as long as to draw it. */
  expectClean(): Promise<void>;
}

interface Console {
  readonly at: string;
  /** The API, with the rights of the operator. */
  readonly api: Slowwave;
  /** Posts messages of a user as one batch, and waits until they are consolidated. */
  say(user: string, ...messages: readonly string[]): Promise<void>;
  visit(options?: BrowserContextOptions & { readonly key?: string }): Promise<Visit>;
}

/** One for all files that a worker of the test runner takes, and gone with it: each visit has cookies and a cache of its own. */
let browser: Promise<Browser> | null = null;

async function openBrowser(): Promise<Browser> {
  const open = await browser?.catch(() => null);
  if (open?.isConnected() === true) return open;
  browser = startBrowser();
  return browser;
}

interface Served {
  readonly url: string;
  close(): Promise<void>;
}

/** A server with the console, or what stands in front of it, for all tests of a file, and a browser. */
export function consoleForTests(
  env: Readonly<Record<string, string>> = {},
  start: (env: Readonly<Record<string, string>>) => Promise<Served> = startOwnServer,
): Console {
  let close = async (): Promise<void> => {};
  const found: { at: string; api: Slowwave | null; browser: Browser | null } = { at: '', api: null, browser: null };
  beforeAll(async () => {
    const starting = start(env).then((server) => {
      close = server.close;
      return server;
    });
    const [server, shown] = await Promise.all([starting, openBrowser()]);
    found.at = server.url;
    found.api = createSlowwave({ url: found.at, apiKey: env.SLOWWAVE_API_KEY });
    found.browser = shown;
  }, START_MS);
  afterAll(() => close(), START_MS);
  const api = (): Slowwave => {
    if (found.api === null) throw new Error('expected the server to be started before it is asked');
    return found.api;
  };
  return {
    get at() {
      return found.at;
    },
    get api() {
      return api();
    },
    say: async (user, ...messages) => {
      const said = messages.map((content) => ({ role: 'user', content }) as const);
      const { batch_id: id } = await api().batches.post({ user_id: user, flush: true, messages: said });
      await api().batches.settled(id);
    },
    visit: async ({ key, ...options } = {}) => {
      // Colours are judged as they are, not halfway between two.
      const context = await found.browser?.newContext({ reducedMotion: 'reduce', ...options });
      if (context === undefined) throw new Error('expected the browser to be started before it is used');
      context.setDefaultTimeout(WITHIN_MS);
      onTestFinished(() => context.close()); // an open page keeps asking, and takes time from the tests after it
      if (key !== undefined) await signIn(context, found.at, key);
      return visitOf(await context.newPage(), found.at);
    },
  };
}

/** As somebody does it: types the key and presses the button. */
async function signIn(context: BrowserContext, at: string, key: string): Promise<void> {
  const page = await context.newPage();
  await page.goto(`${at}/login`);
  await page.fill('#key', key);
  await Promise.all([page.waitForURL((url) => url.pathname !== '/login'), page.click('main button')]);
  await page.close();
}

function visitOf(page: Page, at: string): Visit {
  const complaints: string[] = [];
  page.on('console', (message) => {
    if (['error', 'warning'].includes(message.type())) complaints.push(message.text());
  });
  page.on('pageerror', (error) => complaints.push(error.message));
  page.on('request', (request) => {
    const url = request.url();
    if (!url.startsWith(at) && !/^(data|blob):/.test(url)) complaints.push(`loaded from elsewhere: ${url}`);
  });
  const expectQuiet = (): void => expect(complaints).toEqual([]);
  return {
    page,
    open: async (path) => {
      await page.goto(`${at}${path}`);
      await page.locator('h1').first().waitFor({ timeout: WITHIN_MS });
    },
    expectQuiet,
    expectClean: async () => {
      expectQuiet();
      expect(await seriousIn(page)).toEqual([]);
      const sideways = 'document.documentElement.scrollWidth - document.documentElement.clientWidth';
      expect(await page.evaluate(sideways)).toBeLessThanOrEqual(0);
    },
  };
}

interface Violation {
  readonly id: string;
  readonly impact: string;
  readonly nodes: readonly { readonly html: string }[];
}

/** What keeps people from using the page: what axe calls serious or critical. */
async function seriousIn(page: Page): Promise<string[]> {
  // Into the page's own world, past its policy, which refuses every script that is not a file of ours.
  if (!(await page.evaluate('"axe" in window'))) await page.evaluate(axe.source);
  const found = (await page.evaluate('axe.run(document, { resultTypes: ["violations"] })')) as {
    violations: Violation[];
  };
  const serious = found.violations.filter(({ impact }) => impact === 'serious' || impact === 'critical');
  return serious.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(' ')}`);
}
