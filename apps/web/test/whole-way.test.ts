import { describe, expect, it } from 'vitest';
import { consoleForTests, type Visit, WITHIN_MS } from './browsing.ts';

const KEY = 'a-key-of-enough-letters';
const within = { timeout: WITHIN_MS };

/** More stops than any page of these has. */
const STOPS_MAX = 150;

describe('the whole way from a question to what was decided', () => {
  const at = consoleForTests({ SLOWWAVE_API_KEY: KEY });

  const remembered = async (user: string) =>
    (await at.api.memories.list({ user_id: user })).results.map(({ memory }) => memory).sort();

  it('is gone by keyboard alone, and the focus is always seen', async () => {
    await at.say('ana', 'Hello there. I live in Oslo, since you ask.', 'I play tennis every Sunday.');
    const { page } = await at.visit();
    const { press, type, to } = keyboardOf(page);
    await page.goto(`${at.at}/users`);
    await page.waitForURL(/\/login/, within);
    await to('Key');
    await type(KEY);
    await press('Enter');
    await page.waitForURL(/\/users$/, within);
    await page.getByRole('link', { name: 'ana' }).waitFor(within);
    await to('ana');
    await press('Enter');
    await page.getByRole('heading', { name: 'ana' }).waitFor(within);
    await to('Search memories');
    await type('where do I live?');
    const results = page.getByRole('region', { name: 'Search results' });
    const found = results.getByRole('button', { name: /lives in Oslo/ });
    await found.waitFor(within);
    // From here on each press of Enter is a click: the answer, and the message behind it is there.
    await to((await found.textContent()) ?? '');
    await press('Enter');
    await results.locator('mark', { hasText: 'I live in Oslo' }).waitFor(within);
    await to(/^History of: .*Oslo/);
    await press('Enter');
    await page.getByRole('heading', { name: 'Memory' }).waitFor(within);
    await to('by a consolidation');
    await press('Enter');
    await page.getByRole('heading', { name: 'Consolidation', exact: true }).waitFor(within);
    await to('Undo …');
    await press('Enter');
    const dialog = page.getByRole('dialog');
    await dialog.getByText('No later changes depend on it.').waitFor(within);
    for (let stop = 0; stop < 5; stop += 1) {
      await press('Tab');
      const isInside = "document.activeElement === document.body || document.activeElement.closest('dialog') !== null";
      await expect.poll(() => page.evaluate(isInside)).toBe(true);
    }
    await press('Escape');
    // Not by its role: what is closed and still there has none.
    await page.locator('dialog').waitFor({ ...within, state: 'detached' });
    await expect.poll(() => page.evaluate('document.activeElement.textContent')).toBe('Undo …');
    expect(await remembered('ana')).toHaveLength(2);
    await press('Enter');
    await dialog.getByText('No later changes depend on it.').waitFor(within);
    await to('Undo');
    await press('Enter');
    await page.getByRole('button', { name: 'Redo …' }).waitFor(within);
    expect(await remembered('ana')).toEqual([]);
  });

  it('is gone on a telephone', async () => {
    await at.say('ben', 'I live in Bergen.');
    const { page, open, expectClean } = await at.visit({
      key: KEY,
      viewport: { width: 390, height: 844 },
      hasTouch: true,
    });
    await open('/users');
    await page.getByRole('link', { name: 'ben' }).tap(within);
    await page.getByLabel('Search memories').fill('where do I live?');
    const results = page.getByRole('region', { name: 'Search results' });
    await results.getByRole('button', { name: /lives in Bergen/ }).tap(within);
    await results.locator('mark', { hasText: 'I live in Bergen' }).waitFor(within);
    await expectClean();
    await results.getByRole('link', { name: /^History of/ }).tap(within);
    await page.getByRole('link', { name: 'by a consolidation' }).tap(within);
    await page.getByRole('region', { name: 'Models' }).waitFor(within);
    await expectClean();
    await page.getByRole('button', { name: 'Undo …' }).tap(within);
    await page.getByRole('dialog').getByText('No later changes depend on it.').waitFor(within);
    await expectClean();
    await page.getByRole('dialog').getByRole('button', { name: 'Undo' }).tap(within);
    await page.getByRole('button', { name: 'Redo …' }).waitFor(within);
    expect(await remembered('ben')).toEqual([]);
  });
});

/** Nothing but keys. Wherever they lead, it can be seen where the keyboard is. */
function keyboardOf(page: Visit['page']) {
  const press = (key: string) => page.keyboard.press(key);
  return {
    press,
    type: (text: string) => page.keyboard.type(text),
    /** Goes on with the tab key until something of this name has the focus. */
    to: async (name: string | RegExp) => {
      const passed: string[] = [];
      for (let stop = 0; stop < STOPS_MAX; stop += 1) {
        await press('Tab');
        const focused = (await page.evaluate(FOCUSED)) as { name: string; isSeen: boolean };
        expect(focused).toMatchObject({ isSeen: true });
        if (typeof name === 'string' ? focused.name === name : name.test(focused.name)) return;
        passed.push(focused.name);
      }
      throw new Error(`expected the tab key to come to ${name}, got ${passed.slice(0, 40).join(' | ')}`);
    },
  };
}

/** What has the focus, by its name, and whether an outline in view shows that. */
const FOCUSED = `(() => {
  const element = document.activeElement;
  if (element === document.body) return { name: '', isSeen: true };
  const label = element.labels?.[0] ?? null;
  const name = (element.getAttribute('aria-label') ?? (label ?? element).textContent).trim();
  const { outlineStyle, outlineWidth } = getComputedStyle(element);
  const box = element.getBoundingClientRect();
  const isInView = box.bottom > 0 && box.top < innerHeight && box.right > 0 && box.left < innerWidth;
  return { name, isSeen: outlineStyle !== 'none' && parseFloat(outlineWidth) > 0 && isInView };
})()`;
