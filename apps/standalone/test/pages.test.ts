import {
  type BrowserPage,
  COMPILE_CACHE,
  freePort,
  keepWarm,
  spawnService,
  startBrowser,
  tempDir,
  warmFolder,
} from '@slowwave/testkit';
import { expect, it } from 'vitest';

const KEY = 'a-key-of-enough-letters';
const WITHIN_MS = 120_000;

/** Types a key and signs in with it, as somebody does. */
const signIn = (page: BrowserPage, key: string): Promise<void> =>
  page.follow(`document.querySelector('#key').value = '${key}'; document.querySelector('button').click()`);

const textOf = (page: BrowserPage): Promise<string> => page.read('document.body.innerText');

it(
  'in a browser somebody signs in, sees queues and documentation, and signs out; nobody else is told',
  async ({ onTestFinished }) => {
    const folder = await tempDir();
    onTestFinished(() => folder.remove());
    await warmFolder(folder.path);
    const port = await freePort();
    const at = `http://127.0.0.1:${port}`;
    const env = {
      ...COMPILE_CACHE,
      SLOWWAVE_PORT: String(port),
      SLOWWAVE_DATA_DIR: folder.path,
      SLOWWAVE_API_KEY: KEY,
    };
    const main = new URL('../src/main.ts', import.meta.url);
    const service = await spawnService({ main, env, ready: { url: `${at}/readyz` }, readyWithinMs: WITHIN_MS });
    onTestFinished(async () => void (await service.stop()));
    await keepWarm(folder.path);
    const browser = await startBrowser();
    onTestFinished(() => browser.close());
    const page = await browser.page();
    await page.open(`${at}/queues`);
    expect(await page.read('location.pathname + location.search')).toBe('/login?next=%2Fqueues');
    await signIn(page, 'not-the-key');
    expect(await page.read('document.querySelector("[role=alert]").innerText')).not.toBe('');
    expect(await page.cookies()).toEqual([]);
    await signIn(page, KEY);
    expect(await page.read('location.pathname')).toBe('/queues');
    await expect.poll(() => textOf(page), { timeout: WITHIN_MS }).toContain('consolidate');
    expect(await page.cookies()).toMatchObject([{ name: 'slowwave_session', httpOnly: true, sameSite: 'Strict' }]);
    expect(await page.read('document.cookie')).toBe('');
    await page.open(`${at}/`);
    expect(await page.read('location.pathname')).toBe('/docs/');
    await expect.poll(() => textOf(page), { timeout: WITHIN_MS }).toContain('/v1/batches');
    // Words of the page's own policy: whatever else it would have liked to load or to run.
    expect(page.complaints.filter((text) => /policy|refused/i.test(text))).toEqual([]);
    await page.open(`${at}/login`);
    await page.follow(`document.querySelector('form[action="/logout"] button').click()`);
    expect(await page.cookies()).toEqual([]);
    await page.open(`${at}/queues`);
    expect(await page.read('location.pathname')).toBe('/login');
    const foreign = page.requests.filter((url) => !url.startsWith(at) && !url.startsWith('data:'));
    expect(foreign).toEqual([]);
  },
  WITHIN_MS * 2,
);
