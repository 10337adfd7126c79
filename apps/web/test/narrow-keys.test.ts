import type { Slowwave } from '@slowwave/sdk';
import { createSlowwave } from '@slowwave/sdk';
import { beforeAll, describe, expect, it, vi } from 'vitest';
import { consoleForTests, WITHIN_MS } from './browsing.ts';

const within = { timeout: WITHIN_MS };
/** As long as a page needs to draw what was answered, and to ask for what follows from it. */
const QUIET_MS = 150;
const OPERATOR = 'a-key-of-enough-letters';

/** What only some may read. Each word is said once, and stands in no address that a test opens. */
const SECRETS = {
  /** Said by ana in the app shop, and by her in the app health. */
  shop: 'Valletta',
  health: 'Zanzibar',
  /** Said by another user of the same tenant, and that user's own id is not in any address either. */
  bob: 'Reykjavik',
  hidden: 'quiet-neighbour',
  /** Of another tenant. */
  eve: 'Montevideo',
  abroad: 'foreign-neighbour',
} as const;
type Secret = keyof typeof SECRETS;

const KEYS = {
  'for one user': { given: { user_id: 'ana', scopes: ['ingest', 'search', 'manage'] }, knows: ['shop', 'health'] },
  'for one app': { given: { app_id: 'shop', scopes: ['ingest', 'search', 'manage'] }, knows: ['shop'] },
  'that only reads': { given: { scopes: ['search'] }, knows: ['shop', 'health', 'bob', 'hidden'] },
  'without the right to administer': {
    given: { scopes: ['ingest', 'search', 'manage'] },
    knows: ['shop', 'health', 'bob', 'hidden'],
  },
  'for posting alone': { given: { scopes: ['ingest'] }, knows: ['shop', 'health', 'bob', 'hidden'] },
  'of the person themself': { given: { user_id: 'ana', scopes: ['subject'] }, knows: ['shop', 'health'] },
  'of another tenant': { given: { tenant: 'abroad', scopes: ['admin'] }, knows: ['eve', 'abroad'] },
} as const satisfies Record<string, { given: object; knows: readonly Secret[] }>;
type KeyName = keyof typeof KEYS;
const NAMES = Object.keys(KEYS) as KeyName[];

/** Of bob and of ana: what addresses are made of. */
interface Ids {
  readonly memories: string;
  readonly batches: string;
  readonly consolidations: string;
  readonly messages: string;
  readonly receipts: string;
  readonly replays: string;
  readonly runs: string;
  readonly relations: string;
  readonly entities: string;
  readonly undos: string;
}

describe('the console with a key', () => {
  const at = consoleForTests({ SLOWWAVE_API_KEY: OPERATOR });
  const secrets = new Map<KeyName, string>();
  /** A neighbour of the same tenant, and one of another. */
  const somebody: About[] = [];

  const say = async (api: Slowwave, ids: { user_id: string; app_id?: string }, content: string) => {
    const { batch_id: id } = await api.batches.post({
      ...ids,
      graph: true,
      flush: true,
      messages: [{ role: 'user', content }],
    });
    return api.batches.settled(id);
  };

  /** Everything that can be about somebody, so that each address leads to something. */
  async function live(api: Slowwave, user: string, city: string): Promise<Ids> {
    const batch = await say(api, { user_id: user }, `I live in ${city}. My brother Jonas works at ${city} Airport.`);
    const [event] = batch.events;
    const consolidation = batch.consolidation_id ?? '';
    const relations = async () => (await api.graph.get({ user_id: user })).relations;
    await vi.waitUntil(async () => (await relations()).length > 0, within);
    const [relation] = await relations();
    const receipts = async () => {
      await api.memories.search({ user_id: user, query: `Who lives in ${city}?` });
      return (await api.receipts.ofMemory(event?.memory_id ?? '')).results;
    };
    await vi.waitUntil(async () => (await receipts()).length > 0, within);
    const [receipt] = await receipts();
    const replay = await api.replays.start({ filter: { batch_ids: [batch.id] }, shadow: true });
    await api.runs.put('trip', { owner: { user_id: user }, body: { goal: `Move to ${city}` } });
    const undone = await say(api, { user_id: user }, `My sister lives in ${city}.`);
    const undo = await api.consolidations.undo(undone.consolidation_id ?? '', {});
    return {
      ...{ memories: event?.memory_id ?? '', batches: batch.id, consolidations: consolidation },
      ...{ messages: event?.id ?? '', receipts: receipt?.id ?? '', replays: 'id' in replay ? replay.id : '' },
      runs: 'trip',
      ...{ relations: relation?.id ?? '', entities: relation?.source.id ?? '', undos: undo.undo?.id ?? '' },
    };
  }

  beforeAll(async () => {
    const abroad = createSlowwave({
      url: at.at,
      apiKey: (await at.api.keys.make({ name: 'all', tenant: 'abroad', scopes: ['admin'] })).secret,
    });
    for (const app of ['shop', 'health'] as const)
      await say(at.api, { user_id: 'ana', app_id: app }, `In ${app} I am registered in ${SECRETS[app]}.`);
    somebody.push({ user: 'bob', ids: await live(at.api, 'bob', SECRETS.bob) });
    await at.api.memories.add({ user_id: SECRETS.hidden, memory: `Lives in ${SECRETS.bob}` });
    somebody.push({ user: 'eve', ids: await live(abroad, 'eve', SECRETS.eve) });
    await abroad.memories.add({ user_id: SECRETS.abroad, memory: `Lives in ${SECRETS.eve}` });
    for (const name of NAMES)
      secrets.set(
        name,
        (await at.api.keys.make({ name, ...KEYS[name].given, scopes: [...KEYS[name].given.scopes] })).secret,
      );
  }, 2 * WITHIN_MS);

  /** Opens a browser and notes every byte that the server sends to it. */
  async function watch(name: KeyName) {
    const { page, ...visit } = await at.visit({ key: secrets.get(name) ?? '' });
    const answered: Promise<string>[] = [];
    const open = new Set<unknown>();
    page.on('request', (request) => open.add(request));
    page.on('requestfinished', (request) => open.delete(request));
    page.on('requestfailed', (request) => open.delete(request));
    page.on('response', (response) => {
      if (new URL(response.url()).pathname.startsWith('/assets/')) return;
      const body = response.text().catch(() => '');
      answered.push(body.then((text) => `${response.url()} ${text}`));
    });
    /** Goes to a page as a link does, and waits until whatever it reads is answered and shown. */
    const go = async (path: string) => {
      await page.evaluate(`history.pushState(null, '', ${JSON.stringify(path)})`);
      await vi.waitUntil(
        async () => {
          await page.waitForTimeout(QUIET_MS);
          return open.size === 0;
        },
        { ...within, interval: 0 },
      );
    };
    const seen = async () => [...(await Promise.all(answered)), await page.content()];
    await visit.open('/');
    return { ...visit, page, go, seen };
  }

  const GENERAL = [
    ...[
      '/',
      '/users',
      '/graph',
      '/consolidations',
      '/work',
      '/nights',
      '/suites',
      '/reviews',
      '/canaries',
      '/playground',
      '/costs',
      '/settings',
    ],
    ...['review', 'retention', 'budgets', 'keys', 'webhooks', 'audit', 'models', 'health'].map((p) => `/settings/${p}`),
  ];
  const pagesOf = ({ user, ids: { memories, consolidations, replays } }: About): readonly string[] => [
    ...[`/users/user/${user}`, `/users/user/${user}?show=context`, `/graph?user=${user}`],
    ...[`/consolidations?user=${user}`, `/work?user=${user}`, `/reviews?user=${user}`, `/nights?user=${user}`],
    ...[`/memories/${memories}`, `/consolidations/${consolidations}`, `/work/replays/${replays}`],
  ];

  it.each(NAMES)(
    '%s shows on no page what it may not know, and is offered only pages that it can use',
    async (name) => {
      const { page, go, seen, expectQuiet } = await watch(name);
      const links = await page.getByRole('navigation', { name: 'Console' }).getByRole('link').all();
      const offered = new Set(await Promise.all(links.map((link) => link.getAttribute('href'))));
      // Those that are offered first: after them the browser complains of what is refused.
      for (const path of new Set([...offered, ...GENERAL, ...somebody.flatMap(pagesOf)])) {
        if (path === null || path === '/docs/') continue;
        await go(path);
        if (!offered.has(path)) continue;
        expect([path, await page.getByRole('alert').allTextContents()]).toEqual([path, []]);
        // That everybody can use a page is tested in the file of that page.
        expectQuiet();
      }
      expectNothingForeign(name, await seen());
    },
  );

  it.each(NAMES)('%s is answered by no route with what it may not know', async (name) => {
    const asked = await signedIn(name);
    const seen: string[] = [];
    for (const path of await routes()) {
      const answers = await Promise.all(somebody.flatMap((about) => requestsOf(path, about)).map(asked));
      // Each is asked as it should be: something else than its form or its haste is refused.
      expect([path, answers.some(({ status }) => status !== 400 && status !== 429)]).toEqual([path, true]);
      seen.push(...answers.map(({ text }) => text));
    }
    expectNothingForeign(name, seen);
  });

  function expectNothingForeign(name: KeyName, seen: readonly string[]): void {
    const knows: readonly Secret[] = KEYS[name].knows;
    const foreign = (Object.keys(SECRETS) as Secret[]).filter((secret) => !knows.includes(secret));
    expect(seen.length).toBeGreaterThan(1);
    for (const secret of foreign)
      expect([secret, seen.flatMap((text) => around(text, SECRETS[secret]))]).toEqual([secret, []]);
  }

  /** Asks as scripts of our pages do, in a session with a key; a browser would take twice as long. */
  async function signedIn(name: KeyName) {
    const ours = { 'sec-fetch-site': 'same-origin' };
    const form = new URLSearchParams({ key: secrets.get(name) ?? '' });
    const answer = await fetch(`${at.at}/login`, { method: 'POST', redirect: 'manual', headers: ours, body: form });
    const cookie = answer.headers.getSetCookie().map((set) => set.split(';', 1)[0]);
    expect([answer.status, cookie.length]).toEqual([303, 1]);
    return async ({ path, body }: Request): Promise<{ status: number; text: string }> => {
      const type = body !== null && { 'content-type': 'application/json' };
      const headers = { ...ours, 'x-slowwave-console': '1', cookie: cookie.join('; '), ...type };
      const asked = await fetch(`${at.at}${path}`, { headers, ...(body !== null && { method: 'POST', body }) });
      return { status: asked.status, text: `${path} ${await asked.text()}` };
    };
  }

  /** Every route that reads, as the server itself describes them. */
  async function routes(): Promise<readonly string[]> {
    const answer = await fetch(`${at.at}/openapi.json`, { headers: { authorization: `Bearer ${OPERATOR}` } });
    const { paths } = (await answer.json()) as { paths: Record<string, Record<string, unknown>> };
    const reads = Object.entries(paths).flatMap(([path, methods]) =>
      Object.keys(methods).flatMap((method) => (method === 'get' || READING.includes(path) ? [path] : [])),
    );
    return [...new Set(reads)].filter((path) => path.startsWith('/v1/'));
  }
});

/** Where a text has a word, for whoever reads why a test failed. */
function around(text: string, word: string): readonly string[] {
  const at = text.indexOf(word);
  return at < 0 ? [] : [`${text.slice(0, 80)} … ${text.slice(Math.max(0, at - 80), at + 80)}`];
}

/** Questions that are too long for an address. */
const READING = ['/v1/search', '/v1/context', '/v1/recall', '/v1/graph/query'];

interface Request {
  readonly path: string;
  readonly body: string | null;
}

interface About {
  readonly user: string;
  readonly ids: Ids;
}

/** A route asked about somebody: by name, by id, and about nobody in particular. */
function requestsOf(path: string, { user, ids }: About): readonly Request[] {
  if (READING.includes(path)) {
    const question =
      path === '/v1/graph/query' ? { match: [{ source: '?who' }] } : { query: 'Where does somebody live?' };
    return [{ user_id: user }, { user_id: user, app_id: 'shop' }].map((who) => ({
      path,
      body: JSON.stringify({ ...who, ...question }),
    }));
  }
  const [, , kind = ''] = path.split('/');
  const named = { users: user, tenants: 'abroad', webhooks: 'none', erasures: 'none' }[kind] ?? ids[kind as keyof Ids];
  const place = path.replace('{id}', named ?? 'none');
  if (kind === 'runs' && place !== path) return [{ path: `${place}?user_id=${user}`, body: null }];
  const queries = place === path ? ['', `?user_id=${user}`, '?app_id=shop', `?around=${ids.messages}`] : [''];
  return queries.map((query) => ({ path: `${place}${query}`, body: null }));
}
