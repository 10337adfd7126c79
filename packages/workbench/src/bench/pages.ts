import { startOwnServer } from '@slowwave/testkit';
import { type Browser, type Page, startBrowser } from '@slowwave/testkit/browser';
import { type Api, apiAt } from '../api.ts';
import { settled } from '../evaluate/course.ts';
import type { Bench, Progress } from './bench.ts';
import { median, type Verdict } from './report.ts';

/** Of its own work: scripts, styles and layout, in ms that its thread had the processor. What else the machine does is not counted. */
const WORK_TARGET_MS = 200;
/** Until something of the page is seen by somebody who has never been there, in ms. */
const PAINT_TARGET_MS = 1_000;
/** Of scripts before the first page shows what it is for, as they are after they are unpacked. */
const SCRIPT_TARGET_BYTES = 300_000;
const WITHIN_MS = 120_000;
const MESSAGES_OF_BATCH = 100;
const BUSIEST = 'many';
const KB = 1_000;
const SECOND_MS = 1_000;

/** What the pages of the console cost whoever looks at them. */
export const pages: Bench = {
  name: 'pages',
  what: 'What each page of the console costs the browser for a user with many memories, and when the first content appears.',
  draws: false,
  flags: {
    memories: { usual: '5000', help: 'Memories of the user.' },
    visits: { usual: '5', help: 'Visits of each page, each by a browser that has never been there.' },
  },
  run: async (given, progress) => {
    const sizes = { memories: given.number('memories', { max: 100_000 }), visits: given.number('visits', { min: 1 }) };
    const server = await startOwnServer({});
    const browser = await startBrowser();
    try {
      const at = await live(apiAt(server.url, null), sizes.memories, progress);
      return await measure({ browser, url: server.url, ...sizes }, at, progress);
    } finally {
      await browser.close();
      await server.close();
    }
  },
};

interface Lived {
  readonly memory: string;
  readonly consolidation: string;
}

/** A user of so many memories, and one decision. Word for word: what they say does not matter here. */
async function live(api: Api, count: number, progress: Progress): Promise<Lived> {
  const post = async (body: object): Promise<{ readonly consolidation_id: string }> => {
    const { batch_id: id } = await api.post<{ batch_id: string }>('/v1/batches', { flush: true, ...body });
    await settled({ api }, { id, deadline: Date.now() + WITHIN_MS });
    return api.get(`/v1/batches/${id}`);
  };
  for (let from = 0; from < count; from += MESSAGES_OF_BATCH) {
    progress(`${from} of ${count} memories`);
    const messages = Array.from({ length: Math.min(MESSAGES_OF_BATCH, count - from) }, (_, n) => ({
      role: 'user',
      content: `On shelf ${from + n} of the cellar I keep ${(from + n) * 7} jars of plum jam.`,
    }));
    await post({ user_id: BUSIEST, mode: 'verbatim', messages });
  }
  const said = { role: 'user', content: 'I live in Bergen now, and my dog is called Fado.' };
  const { consolidation_id: consolidation } = await post({ user_id: BUSIEST, messages: [said] });
  const { results } = await api.get<{ results: { id: string }[] }>(`/v1/memories?user_id=${BUSIEST}&limit=1`);
  return { memory: results[0]?.id ?? '', consolidation };
}

interface Stage {
  readonly browser: Browser;
  readonly url: string;
  readonly memories: number;
  readonly visits: number;
}

async function measure({ browser, url, memories, visits }: Stage, at: Lived, progress: Progress) {
  const paths: Readonly<Record<string, string>> = {
    overview: '/',
    users: '/users',
    'the user': `/users/user/${BUSIEST}`,
    'what a chat gets of the user': `/users/user/${BUSIEST}?show=context`,
    'a memory': `/memories/${at.memory}`,
    consolidations: '/consolidations',
    'a consolidation': `/consolidations/${at.consolidation}`,
    work: '/work',
    reviews: '/reviews',
    'the graph of the user': `/graph?user=${BUSIEST}`,
    playground: '/playground',
    settings: '/settings',
  };
  const found: Record<string, Visited> = {};
  for (const [name, path] of Object.entries(paths)) {
    progress(name);
    const all: Visited[] = [];
    for (let visit = 0; visit < visits; visit += 1) all.push(await visited(browser, `${url}${path}`));
    found[name] = typical(all);
  }
  const { scriptBytes = 0, sentBytes = 0 } = found.overview ?? {};
  return {
    title: `pages of the console, ${memories} memories of one user, medians of ${visits} first visits each`,
    figures: [
      ...Object.entries(found).map(([name, { workMs }]) => ({ what: `${name}: own work`, value: workMs, unit: 'ms' })),
      ...Object.entries(found).map(([name, { paintMs }]) => ({
        what: `${name}: first content`,
        value: paintMs,
        unit: 'ms',
      })),
      { what: 'scripts before the first page is there, as they are sent', value: sentBytes / KB, unit: 'KB' },
    ],
    verdicts: [
      within({ what: 'own work of a page', found, of: ({ workMs }) => workMs, target: WORK_TARGET_MS }),
      within({ what: 'first content', found, of: ({ paintMs }) => paintMs, target: PAINT_TARGET_MS }),
      {
        what: 'scripts before the first page is there',
        reached: `${Math.round(scriptBytes / KB)} KB`,
        target: `≤ ${SCRIPT_TARGET_BYTES / KB} KB`,
        passed: scriptBytes <= SCRIPT_TARGET_BYTES,
        misses: [],
      },
    ],
    remarks: [
      'Own work is the processor time of scripts, styles and layout on the thread of the page, until nothing is asked for any more.',
    ],
  };
}

interface Held {
  readonly what: string;
  readonly found: Readonly<Record<string, Visited>>;
  readonly of: (visited: Visited) => number;
  readonly target: number;
}

function within({ what, found, of, target }: Held): Verdict {
  const values = Object.entries(found).map(([name, visited]) => ({ name, value: of(visited) }));
  const [slowest] = values.toSorted((a, b) => b.value - a.value);
  return {
    what,
    reached: slowest === undefined ? '–' : `at most ${Math.round(slowest.value)} ms (${slowest.name})`,
    target: `≤ ${target} ms`,
    passed: values.every(({ value }) => value <= target),
    misses: values.flatMap(({ name, value }) => (value > target ? [`${name}: ${Math.round(value)} ms`] : [])),
  };
}

interface Visited {
  readonly workMs: number;
  readonly paintMs: number;
  /** Of scripts that had come when the heading was there. */
  readonly scriptBytes: number;
  readonly sentBytes: number;
}

const typical = (all: readonly Visited[]): Visited => ({
  workMs: median(all.map(({ workMs }) => workMs)),
  paintMs: median(all.map(({ paintMs }) => paintMs)),
  scriptBytes: median(all.map(({ scriptBytes }) => scriptBytes)),
  sentBytes: median(all.map(({ sentBytes }) => sentBytes)),
});

/** One visit by somebody who has nothing of it yet. */
async function visited(browser: Browser, url: string): Promise<Visited> {
  const context = await browser.newContext();
  try {
    const page = await context.newPage();
    const work = await workOf(page);
    await page.addInitScript(NOTE_HEADING);
    await page.goto(url);
    await page.locator('h1').first().waitFor({ timeout: WITHIN_MS });
    const scripts = (await page.evaluate(SCRIPTS)) as Pick<Visited, 'scriptBytes' | 'sentBytes'>;
    await page.waitForLoadState('networkidle', { timeout: WITHIN_MS });
    const paintMs = (await page.evaluate(
      "performance.getEntriesByName('first-contentful-paint')[0].startTime",
    )) as number;
    return { ...scripts, paintMs, workMs: await work() };
  } finally {
    await context.close();
  }
}

/** When the page said what it is. Charts and the like come after that. */
const NOTE_HEADING = `new MutationObserver((_, watch) => {
  if (document.querySelector('h1') === null) return;
  window.headingAt = performance.now();
  watch.disconnect();
}).observe(document, { childList: true, subtree: true })`;

const SCRIPTS = `(() => {
  const scripts = performance
    .getEntriesByType('resource')
    .filter(({ name, responseEnd }) => name.endsWith('.js') && responseEnd <= window.headingAt);
  const sum = (of) => scripts.reduce((total, one) => total + one[of], 0);
  return { scriptBytes: sum('decodedBodySize'), sentBytes: sum('encodedBodySize') };
})()`;

/** What the browser counts of its own work for a page. */
const COUNTED = ['ScriptDuration', 'LayoutDuration', 'RecalcStyleDuration'];

async function workOf(page: Page): Promise<() => Promise<number>> {
  const devtools = await page.context().newCDPSession(page);
  await devtools.send('Performance.enable', { timeDomain: 'threadTicks' });
  return async () => {
    const { metrics } = await devtools.send('Performance.getMetrics');
    const seconds = metrics.reduce((sum, { name, value }) => sum + (COUNTED.includes(name) ? value : 0), 0);
    return seconds * SECOND_MS;
  };
}
