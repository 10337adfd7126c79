import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { BODY_LIMITS } from '@slowwave/http';
import { answerCheck, type Description, type ModelServer, startModelServer } from '@slowwave/testkit';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Existing, REQUESTS, type Sent } from './limits/requests.ts';
import { limits } from './limits/table.ts';
import { lint } from './openapi/lint.ts';
import { NEEDS, type Needed } from './openapi/needs.ts';
import { bodyOf, countExamples, type Example, examplesOf, type Named, operationsOf } from './openapi/operations.ts';
import { type World, world } from './openapi/world.ts';
import { type Setup, standalone } from './setups.ts';

const KEY = 'the-key-of-the-operator';
const HOUR_MS = 3_600_000;
/** Hundreds of requests in one test: half a minute of a machine that has nothing else to do. */
const WITHIN_MS = 600_000;

const receiver = createServer((_request, response) => response.writeHead(204).end());
/** The index can be moved to it. */
let nextModel: ModelServer;
let setup: Setup;
let there: World;

beforeAll(async () => {
  await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve));
  const { port } = receiver.address() as AddressInfo;
  nextModel = await startModelServer({ dimensions: 64 });
  setup = await standalone({
    SLOWWAVE_API_KEY: KEY,
    SLOWWAVE_CELL: 'one',
    SLOWWAVE_ALLOW_PRIVATE_URLS: '127.0.0.1',
    SLOWWAVE_NEXT_EMBEDDING_BASE_URL: nextModel.baseUrl,
    SLOWWAVE_NEXT_EMBEDDING_MODEL: 'next-model',
    SLOWWAVE_COLD_DAYS: '0',
  });
  there = world(setup.ingest, { key: KEY, receiver: `http://127.0.0.1:${port}/hook`, dataDir: setup.dataDir });
});
afterAll(async () => {
  receiver.close();
  await setup.close();
  await nextModel.close();
});

describe('the description of the API', { timeout: WITHIN_MS }, () => {
  let description: Description;
  /** Settings last: they change what the others do. */
  let operations: Named[];

  beforeAll(async () => {
    description = await there.done('GET /openapi.json');
    operations = operationsOf(description).sort((a, b) => Number(isSettings(a)) - Number(isSettings(b)));
  });

  it('has nothing a linter would mend', async () => {
    expect(await lint(description)).toEqual([]);
  });

  it('names every operation, and shows at least one body wherever one is taken', () => {
    const unnamed = operations.filter(({ operation }) => operation.operationId === undefined);
    expect(names(unnamed), 'add an operationId to the schemas of their routes').toEqual([]);
    const bodies = operations.map((named) => ({ named, body: bodyOf(description, named.operation) }));
    const unshown = bodies.filter(({ body }) => body !== null && (body.examples ?? []).length === 0);
    expect(names(unshown.map(({ named }) => named)), 'add examples to their bodies in packages/contracts').toEqual([]);
  });

  it('says in openapi/needs.ts which ids its paths need, and of no other operations', () => {
    const ids = operations.map(({ id }) => id);
    expect(Object.keys(NEEDS).filter((id) => !ids.includes(id))).toEqual([]);
    const needy = operations.filter(({ id, path }) => path.includes('{') && NEEDS[id] === undefined);
    expect(names(needy), 'say in openapi/needs.ts which ids stand in their paths').toEqual([]);
  });

  it('shows examples that are answered with success, and as it says', async () => {
    const check = answerCheck(description);
    let shown = 0;
    for (const named of operations) {
      const examples = examplesOf(description, named);
      shown += examples.length;
      for (const example of examples.length === 0 ? [NO_EXAMPLE] : examples) {
        const needed = (await NEEDS[named.id]?.(there)) ?? {};
        const answer = await tried(named, example, needed);
        const what = `${named.id} ${JSON.stringify(example)}`;
        expect(answer.status, `${what}: ${answer.text}; say in openapi/needs.ts what it needs`).toBeLessThan(300);
        expect(check(named.operation, answer), what).toBeNull();
        await needed.after?.(JSON.parse(answer.text));
      }
    }
    expect(shown + (await triedFilters()) + inAnswers(), 'every example is tried').toBe(countExamples(description));
  });

  const tried = async ({ method, path }: Named, { query, body }: Example, needed: Needed) => {
    const at = path.replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(needed.params?.[name] ?? name));
    const made = body === undefined ? undefined : (needed.body ?? same)(body as object);
    const answer = await there.send(`${method} ${at}`, {
      query: { ...needed.query, ...query },
      body: made,
      key: needed.key,
    });
    const text = typeof answer.body === 'string' ? answer.body : JSON.stringify(answer.body);
    return { status: answer.status, type: answer.headers.get('content-type') ?? '', text };
  };

  /** Those of answers, which the linter compares with their schemas. */
  function inAnswers(): number {
    const { Filters, ...schemas } = description.components.schemas;
    const bodies = new Set(operations.map(({ operation }) => bodyOf(description, operation)));
    const answers = Object.values(schemas).filter((schema) => !bodies.has(schema));
    return answers.reduce((sum, { examples = [] }) => sum + examples.length, 0);
  }

  /** They stand for themselves: part of several bodies. */
  async function triedFilters(): Promise<number> {
    const examples = description.components.schemas.Filters?.examples ?? [];
    for (const filters of examples) await there.done('POST /v1/search', { user_id: 'ana', query: 'tea', filters });
    return examples.length;
  }
});

const NO_EXAMPLE: Example = { query: {}, body: undefined };
const same = (body: object): object => body;
const isSettings = ({ id }: Named): boolean => id === 'putSettings';
const names = (operations: readonly Named[]): string[] => operations.map(({ name }) => name);

describe('limits', { timeout: WITHIN_MS }, () => {
  let existing: Existing;

  beforeAll(async () => {
    // What is posted waits, so that nothing changes but by what is sent.
    const due = { tokens: 1_000_000, idle_ms: HOUR_MS, max_age_ms: HOUR_MS };
    await there.done('PUT /v1/settings', {});
    const { batch, memory } = await there.consolidated();
    existing = { batch, memory, key: await there.key() };
    await there.done('PUT /v1/settings', { due });
    await there.quiet();
  });

  it('are those that docs/limits.md tells', () => {
    expect(limits().map(({ what }) => what)).toEqual(Object.keys(REQUESTS));
  });

  it('refuse one more than they allow, say what was expected and got, and leave no trace of it', async () => {
    const before = await everything();
    for (const { what, most, status, code } of limits()) {
      const { detail, ...told } = await sent(what, most + 1);
      expect(told, `${what}: ${detail}`).toEqual({ status, code });
      expect(detail, what).toMatch(SENTENCE);
    }
    expect(await everything()).toEqual(before);
  });

  it('let pass what is just within', async () => {
    for (const { what, most } of limits()) {
      const { status, code, detail } = await sent(what, most);
      expect(status < 400 || LOOKED_UP.includes(code), `${what}: ${status} ${detail}`).toBe(true);
    }
  });

  it.each(Object.entries(BODY_LIMITS))('%s takes a body of %i bytes and no more', async (route, most) => {
    const [method = '', path = ''] = route.split(' ');
    const type = most === FORM_BYTES ? 'application/x-www-form-urlencoded' : 'application/json';
    const headers = { authorization: `Bearer ${KEY}`, 'content-type': type, 'sec-fetch-site': 'same-origin' };
    const url = `${setup.ingest}${path.replaceAll(/:\w+/g, 'x')}`;
    const answers = [most, most + 1].map((bytes) =>
      fetch(url, { method, headers, redirect: 'manual', body: '?'.repeat(bytes) }),
    );
    const [taken, refused] = await Promise.all(answers);
    expect(taken?.status).toBe(path === '/logout' ? 303 : 400);
    expect(refused?.status).toBe(413);
    expect(await refused?.text()).toContain(`at most ${most} bytes`);
  });

  /** The answer to a request with so many of what a limit is about. */
  async function sent(what: string, count: number): Promise<{ status: number; code: string; detail: string }> {
    const { line, body, text, headers } = REQUESTS[what]?.(count, existing) ?? NO_REQUEST;
    const [method = '', path] = line.split(' ');
    const payload = text ?? (body === undefined ? undefined : JSON.stringify(body));
    const answer = await fetch(`${setup.ingest}${path}`, {
      method,
      headers: { authorization: `Bearer ${KEY}`, 'content-type': 'application/json', ...headers },
      redirect: 'manual',
      ...(payload !== undefined && { body: payload }),
    });
    const { code = '', detail = '' } = JSON.parse((await answer.text()) || '{}') as { code?: string; detail?: string };
    return { status: answer.status, code, detail };
  }

  /** All that could show a trace. */
  async function everything(): Promise<unknown[]> {
    const lists = ['stats', 'batches', 'users', 'consolidations', 'settings', 'keys', 'webhooks', 'replays', 'reviews'];
    return Promise.all(lists.map((name) => there.done(`GET /v1/${name}`)));
  }
});

const NO_REQUEST: Sent = { line: 'GET /v1/stats' };
const FORM_BYTES = 4_096;
/** Got as far as being looked up. */
const LOOKED_UP = ['not_found', 'invalid_cursor'];
const SENTENCE = /(expected|must) .+ got |larger than 16 KiB/;
