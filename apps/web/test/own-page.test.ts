import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { freePort } from '@slowwave/testkit';
import type { Page } from '@slowwave/testkit/browser';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { consoleForTests, WITHIN_MS } from './browsing.ts';

const within = { timeout: WITHIN_MS };
const NARROW = { viewport: { width: 390, height: 844 } };
const KEY = 'a-key-of-enough-letters';

/** Sites of somebody else, each of which shows a page of ours in a frame: one may, one may not. */
const [ALLOWED, OTHER] = [await freePort(), await freePort()];
const siteOf = (port: number): string => `http://127.0.0.1:${port}`;

describe('people’s own page', () => {
  const at = consoleForTests({ SLOWWAVE_API_KEY: KEY, SLOWWAVE_FRAME_ANCESTORS: siteOf(ALLOWED) });

  const say = async (user: string, ...messages: string[]) => {
    const posted = await at.api.batches.post({
      user_id: user,
      flush: true,
      messages: messages.map((content) => ({ role: 'user', content })),
    });
    await at.api.batches.settled(posted.batch_id);
    return posted;
  };
  const linkFor = async (id: string): Promise<string> => (await at.api.users.link(id)).path;
  const texts = async (user_id: string): Promise<string[]> =>
    (await at.api.send('GET /v1/memories', { query: { user_id } })).results.map(({ memory }) => memory).sort();
  /** A person who has opened their link. */
  const visitAs = async (user: string, options?: Parameters<typeof at.visit>[0]) => {
    const visit = await at.visit(options);
    await visit.open(await linkFor(user));
    await visit.page.getByText('This is what is remembered').waitFor(within);
    return visit;
  };

  it('shows what is known and the words it comes from, and leaves no link in the address', async () => {
    await say('ana', 'Hello there. I live in Oslo, since you ask.');
    await say('bob', 'I live in Rome.');
    const { page, expectClean } = await visitAs('ana');
    await page.getByText(/lives in Oslo/).waitFor(within);
    expect(page.url()).toBe(`${at.at}/me`);
    await page.getByRole('button', { name: 'Where is this from?' }).click();
    await page.locator('mark', { hasText: 'I live in Oslo' }).waitFor(within);
    await page.getByText(/^You, /).waitFor(within);
    await page.getByLabel('Search').fill('where do I live?');
    await page.getByText('1 memory found').waitFor(within);
    expect(await page.content()).not.toContain('Rome');
    await expectClean();
  });

  it('corrects, shows what goes with what is forgotten, forgets it, and brings it back', async () => {
    await say('cleo', 'I have a cat called Mia.');
    const { page, expectClean } = await visitAs('cleo');
    await page.getByRole('button', { name: /^Correct: / }).click();
    await page.getByLabel('What should it say?').fill('User has a cat called Lia');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('User has a cat called Lia').waitFor(within);
    await page.getByRole('button', { name: /^Forget: / }).click();
    await page.getByText('What else changes:').waitFor(within);
    await page
      .getByRole('dialog')
      .getByText(/hidden/)
      .first()
      .waitFor(within);
    await expectClean();
    await page.getByRole('dialog').getByRole('button', { name: 'Forget' }).click();
    await page.getByText('Nothing is remembered about you.').waitFor(within);
    expect(await texts('cleo')).toEqual([]);
    await page.getByRole('button', { name: 'Undo' }).click();
    await page.getByRole('button', { name: /^Correct: User has a cat called Lia/ }).waitFor(within);
    expect(await texts('cleo')).toEqual(['User has a cat called Lia']);
    await expectClean();
  });

  it('pauses, so that nothing said then is ever remembered, and resumes', async () => {
    await say('dora', 'I live in Bergen.');
    const { page, expectClean } = await visitAs('dora');
    await page.getByRole('button', { name: 'Pause remembering' }).click();
    await page.getByText('Nothing you say is remembered.').waitFor(within);
    const during = await say('dora', 'I have a secret garden.');
    expect(during).toMatchObject({ paused: 'all' });
    await page.getByRole('button', { name: 'Resume remembering' }).click();
    await page.getByRole('button', { name: 'Pause remembering' }).waitFor(within);
    expect(await say('dora', 'I play tennis.')).not.toHaveProperty('paused');
    expect((await texts('dora')).join()).toMatch(/Bergen.*tennis/);
    const found = await at.api.memories.search({ user_id: 'dora', query: 'secret garden', include: ['sources'] });
    expect(JSON.stringify(found.results)).not.toContain('garden');
    await expectClean();
  });

  it('downloads everything', async () => {
    await say('emil', 'I live in Malmö.');
    const { page } = await visitAs('emil');
    const coming = page.waitForEvent('download', within);
    await page.getByRole('button', { name: 'Download everything' }).click();
    const lines = (await readFile(await (await coming).path(), 'utf8')).trim().split('\n');
    expect(JSON.parse(lines.at(-1) ?? '')).toMatchObject({ type: 'end' });
    expect(lines.join()).toContain('Malmö');
  });

  it('erases everything once that was typed, and then knows nobody any more', async () => {
    await say('fred', 'I live in Turku.');
    const { page, expectClean } = await visitAs('fred');
    const second = await visitAs('fred');
    await page.getByRole('button', { name: 'Erase everything …' }).click();
    const dialog = page.getByRole('dialog');
    await expect.poll(() => dialog.getByRole('button', { name: 'Erase everything' }).isDisabled()).toBe(true);
    await dialog.getByLabel(/to confirm/).fill('erase');
    await dialog.getByRole('button', { name: 'Erase everything' }).click();
    await page.getByRole('heading', { name: 'Everything about you is being erased' }).waitFor(within);
    await expectClean();
    expect(await page.content()).not.toContain('Turku');
    expect(await texts('fred')).toEqual([]);
    await expect
      .poll(
        async () => {
          const search = second.page.getByLabel('Search');
          if (await search.isVisible()) await search.fill(`who knows ${Date.now()}`);
          return second.page.getByRole('heading', { name: 'This link no longer works' }).isVisible();
          // Rarely enough that each search is sent: the page waits until somebody stops typing.
        },
        { ...within, interval: 1_000 },
      )
      .toBe(true);
    expect(await second.page.content()).not.toContain('Turku');
  });

  it('says plainly that a link was used, whoever tries it again', async () => {
    const link = await linkFor('gina');
    const first = await at.visit();
    await first.open(link);
    await first.page.getByText('Nothing is remembered about you.').waitFor(within);
    const again = await at.visit();
    await again.open(link);
    await again.page.getByRole('heading', { name: 'This link has already been used' }).waitFor(within);
    await expect.poll(() => again.page.evaluate('document.activeElement.tagName')).toBe('MAIN');
    await first.page.reload();
    await first.page.getByRole('heading', { name: 'You need a link to see this page' }).waitFor(within);
    await first.open(`/me#sw_lnk_none_${'a'.repeat(43)}`);
    await first.page.getByRole('heading', { name: 'This link no longer works' }).waitFor(within);
  });

  it('opens with a link that an operator makes in the console', async () => {
    await say('nora', 'I live in Ghent.');
    const operators = await at.visit({ key: KEY });
    await operators.open('/users/user/nora');
    await operators.page.getByRole('button', { name: 'Create a link' }).click();
    const link = (await operators.page.getByRole('dialog').locator('pre').textContent(within)) ?? '';
    await operators.expectClean();
    const { page, open } = await at.visit();
    await open(link.replace(at.at, ''));
    await page.getByText(/lives in Ghent/).waitFor(within);
  });

  it('loads at most 300 KB of script', async () => {
    const { page, open } = await at.visit();
    const scripts: Promise<number>[] = [];
    page.on('response', (answer) => {
      if (/\.js$/.test(answer.url())) scripts.push(answer.body().then(({ length }) => length));
    });
    await open(await linkFor('ole'));
    await page.getByText('Nothing is remembered about you.').waitFor(within);
    const sizes = await Promise.all(scripts);
    expect(sizes.length).toBeGreaterThan(0);
    expect(sizes.reduce((sum, size) => sum + size, 0)).toBeLessThanOrEqual(300_000);
  });

  it('takes a new link where it stands', async () => {
    await say('hugo', 'I live in Lund.');
    const { page, open } = await at.visit();
    await open('/me');
    await page.getByRole('heading', { name: 'You need a link' }).waitFor(within);
    await page.evaluate(`location.hash = '${(await linkFor('hugo')).replace('/me', '')}'`);
    await page.getByText(/lives in Lund/).waitFor(within);
  });

  it('is read and used with a keyboard alone, on a telephone, in the dark', async () => {
    await say('ines', 'I live in Porto.');
    const { page, expectClean } = await visitAs('ines', { ...NARROW, colorScheme: 'dark' });
    await page.getByText(/lives in Porto/).waitFor(within);
    await tabTo(page, 'Where is this from?');
    await page.keyboard.press('Enter');
    await page.locator('mark').waitFor(within);
    await tabTo(page, 'Correct: ');
    await page.keyboard.press('Enter');
    await page.getByRole('dialog').waitFor(within);
    await tabTo(page, 'What should it say?');
    await page.keyboard.press('Control+A');
    await page.keyboard.type('User lives in Braga');
    await expectClean();
    await tabTo(page, 'Save');
    await page.keyboard.press('Enter');
    await page.getByText('User lives in Braga').waitFor(within);
    await tabTo(page, 'Forget: ');
    await page.keyboard.press('Enter');
    await page.getByText(/Nothing else changes|What else changes/).waitFor(within);
    await page.keyboard.press('Escape');
    expect(await focused(page)).toContain('Forget: ');
    expect(await texts('ines')).toEqual(['User lives in Braga']);
    await expectClean();
  });

  it('is seen by whoever signs in with a key for one person, and by nobody with a key for more', async () => {
    await say('jan', 'I live in Gent.');
    const { secret } = await at.api.keys.make({ name: 'jan', scopes: ['subject'], user_id: 'jan' });
    const jans = await at.visit({ key: secret });
    // Whatever they open of the console: there is nothing else for them.
    await jans.open('/users');
    await jans.page.getByText(/lives in Gent/).waitFor(within);
    expect(jans.page.url()).toBe(`${at.at}/me`);
    await jans.page.getByRole('button', { name: 'Erase everything …' }).waitFor(within);
    await jans.expectClean();
    const operators = await at.visit({ key: KEY });
    await operators.open('/me');
    await operators.page.getByRole('heading', { name: 'This page is for one person' }).waitFor(within);
  });

  it('never sends the cookie of whoever is signed in besides', async () => {
    await say('kim', 'I live in Riga.');
    const visit = await at.visit({ key: KEY });
    const cookies: (string | undefined)[] = [];
    visit.page.on('request', async (request) => {
      if (request.url().includes('/v1/')) cookies.push((await request.allHeaders()).cookie);
    });
    await visit.open(await linkFor('kim'));
    await visit.page.getByText(/lives in Riga/).waitFor(within);
    expect(cookies.length).toBeGreaterThan(2);
    expect(cookies.filter((cookie) => cookie !== undefined)).toEqual([]);
  });

  describe('in a frame of another site', () => {
    const shown = { path: '/me' };
    const sites = [ALLOWED, OTHER].map((port) => ({
      port,
      server: createServer((_request, reply) => {
        reply.setHeader('content-type', 'text/html');
        reply.end(`<!doctype html><title>An app</title><iframe src="${at.at}${shown.path}" width="380" height="700">`);
      }),
    }));
    beforeAll(async () => {
      for (const { server, port } of sites) await new Promise<void>((done) => server.listen(port, '127.0.0.1', done));
    });
    afterAll(async () => {
      for (const { server } of sites) await new Promise((done) => server.close(done));
    });
    /** A page of ours, as a site shows it to whoever is signed in as the operator. */
    const framed = async (port: number, path: string) => {
      shown.path = path;
      const { page } = await at.visit({ key: KEY });
      await page.goto(siteOf(port));
      return page;
    };
    const inside = async (port: number, path: string) => (await framed(port, path)).frameLocator('iframe');

    it('it opens where the operator allows it', async () => {
      await say('lea', 'I live in Nice.');
      const frame = await inside(ALLOWED, await linkFor('lea'));
      await frame.getByText(/lives in Nice/).waitFor(within);
      await frame.getByRole('button', { name: 'Pause remembering' }).click();
      await frame.getByText('Nothing you say is remembered.').waitFor(within);
    });

    it('it is not shown elsewhere, and its link stays good', async () => {
      await say('mia', 'I live in Pau.');
      const link = await linkFor('mia');
      await expectRefused(await framed(OTHER, link));
      const { page, open } = await at.visit();
      await open(link);
      await page.getByText(/lives in Pau/).waitFor(within);
    });

    it('it asks nobody who is signed in besides, without a link', async () => {
      const frame = await inside(ALLOWED, '/me');
      await frame.getByRole('heading', { name: 'You need a link to see this page' }).waitFor(within);
    });

    it.each(['/', '/users', '/login', '/docs/', '/queues'])('%s is shown nowhere', async (path) => {
      await expectRefused(await framed(ALLOWED, path));
    });
  });
});

/** The browser shows a page of its own in its place. */
async function expectRefused(page: Page): Promise<void> {
  const addresses = () => page.frames().map((frame) => frame.url());
  await expect.poll(addresses, within).toEqual([page.url(), 'chrome-error://chromewebdata/']);
}

const focused = (page: Page): Promise<string> =>
  page.evaluate(`(() => {
    const { activeElement: at } = document;
    return at.getAttribute('aria-label') ?? at.labels?.[0]?.textContent ?? at.textContent;
  })()`) as Promise<string>;

/** Presses Tab until what is named has the focus. */
async function tabTo(page: Page, name: string): Promise<void> {
  for (let presses = 0; presses < 40; presses += 1) {
    if ((await focused(page)).startsWith(name)) return;
    await page.keyboard.press('Tab');
  }
  throw new Error(`expected to reach ${name} with Tab`);
}
