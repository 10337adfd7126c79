import { freePort, programFile, spawnService, tempDir } from '@slowwave/testkit';
import { type Page, startBrowser } from '@slowwave/testkit/browser';
import { expect, it } from 'vitest';

const KEY = 'a-key-of-enough-letters';
const WITHIN_MS = 120_000;

/** Types a key and signs in with it, as somebody does; what was wrong is shown on a page of its own. */
async function signIn(page: Page, key: string): Promise<void> {
  await page.fill('#key', key);
  await Promise.all([page.waitForEvent('load'), page.click('button')]);
}

const addressOf = (page: Page): string => {
  const { pathname, search } = new URL(page.url());
  return pathname + search;
};

it(
  'in a browser somebody signs in, sees queues and documentation, and signs out; nobody else is told',
  async ({ onTestFinished }) => {
    const folder = await tempDir();
    onTestFinished(() => folder.remove());
    const port = await freePort();
    const at = `http://127.0.0.1:${port}`;
    const env = {
      SLOWWAVE_PORT: String(port),
      SLOWWAVE_DATA_DIR: folder.path,
      SLOWWAVE_API_KEY: KEY,
    };
    const main = programFile('standalone');
    const service = await spawnService({ main, env, ready: { url: `${at}/readyz` }, readyWithinMs: WITHIN_MS });
    onTestFinished(async () => void (await service.stop()));
    const browser = await startBrowser();
    onTestFinished(() => browser.close());
    const context = await browser.newContext();
    const page = await context.newPage();
    const [asked, complaints]: [string[], string[]] = [[], []];
    page.on('request', (request) => asked.push(request.url()));
    page.on('console', (message) => complaints.push(message.text()));
    page.on('pageerror', (error) => complaints.push(error.message));
    await page.goto(`${at}/queues`);
    expect(addressOf(page)).toBe('/login?next=%2Fqueues');
    await signIn(page, 'not-the-key');
    expect(await page.locator('[role=alert]').isVisible()).toBe(true);
    expect(await context.cookies()).toEqual([]);
    await signIn(page, KEY);
    expect(addressOf(page)).toBe('/queues');
    await page.getByText('consolidate').first().waitFor({ timeout: WITHIN_MS });
    expect(await context.cookies()).toMatchObject([{ name: 'slowwave_session', httpOnly: true, sameSite: 'Strict' }]);
    expect(await page.evaluate('document.cookie')).toBe('');
    await page.goto(`${at}/docs/`);
    await page.getByText('/v1/batches').first().waitFor({ timeout: WITHIN_MS });
    // Words of the page's own policy: whatever else it would have liked to load or to run.
    expect(complaints.filter((text) => /policy|refused/i.test(text))).toEqual([]);
    await page.goto(`${at}/login`);
    await Promise.all([page.waitForEvent('load'), page.click('form[action="/logout"] button')]);
    expect(await context.cookies()).toEqual([]);
    await page.goto(`${at}/queues`);
    expect(addressOf(page)).toBe('/login?next=%2Fqueues');
    expect(asked.filter((url) => !url.startsWith(at) && !url.startsWith('data:'))).toEqual([]);
  },
  WITHIN_MS * 2,
);
