import {
  answers,
  echoExtractor,
  keyedDecider,
  type ModelServer,
  type OwnServer,
  startModelServer,
  startOwnServer,
} from '@slowwave/testkit';
import { type Host, type Kind, overHttp, overStdio, tryTo, use } from '@slowwave/testkit/mcp';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

/** What a model has found so far, and is to answer from. */
interface Found {
  readonly memories: readonly { readonly id: string; readonly text: string }[];
}

const SCRIPT = answers({
  extract_facts: echoExtractor(),
  decide_operations: keyedDecider((text) => (text.includes('live') ? 'home' : null)),
  recall_step: ({ memories }: Found) => ({ answer: memories[0]?.text ?? null, cites: memories.map(({ id }) => id) }),
});

let model: ModelServer;
let server: OwnServer;
beforeAll(async () => {
  model = await startModelServer({ script: SCRIPT });
  server = await startOwnServer({ OPENAI_BASE_URL: model.baseUrl });
});
afterAll(async () => {
  await server.close();
  await model.close();
});

/** A way to the memory: a transport, and a client. */
interface Way {
  readonly name: string;
  /** Whether the connection is for one user, so that calls need not name it. */
  readonly bound: boolean;
  open(user: string): Promise<Host>;
}

const http = (kind: Kind): Way => ({
  name: `${kind} over HTTP`,
  bound: false,
  open: () => overHttp(kind, server.url),
});

const stdio = (kind: Kind): Way => ({
  name: `${kind} over standard input and output`,
  bound: true,
  open: (user) => overStdio(kind, ['--server', server.url, '--user', user]),
});

const WAYS = [
  ...(['modern', 'auto', 'initialize', 'former'] as const).map(http),
  ...(['modern', 'initialize', 'former'] as const).map(stdio),
];

describe.each(WAYS)('a client: $name', ({ name, bound, open }) => {
  const user = `50 % ${name}`;
  const whose = bound ? {} : { user_id: user };
  const called = new Set<string>();
  let host: Host;
  const call = (tool: string, args: object = {}) => {
    called.add(tool);
    return use(host, tool, { ...args });
  };

  beforeAll(async () => {
    host = await open(user);
  });
  afterAll(() => host.close());

  test('saves, finds, corrects, explains and forgets', async () => {
    const added = await call('add_memory', { text: 'I live in Oslo', wait_seconds: 45, ...whose });
    expect(added.data).toMatchObject({ state: 'consolidated', events: [{ event: 'ADD', memory: 'I live in Oslo' }] });
    const id = added.data.events[0].memory_id;
    expect((await call('search_memories', { query: 'live in Oslo', ...whose })).data.results[0]).toMatchObject({ id });
    expect((await call('get_context', { query: 'Oslo', ...whose })).text).toContain('I live in Oslo');
    expect((await call('get_memories', whose)).data).toMatchObject({ results: [{ id }], next_cursor: null });
    expect((await call('get_memory', { memory_id: id })).data.memory).toMatchObject({ id, version: 1 });

    const messages = [{ role: 'user', content: 'I live in Bergen' }];
    await call('add_memory', { messages, wait_seconds: 45, ...whose });
    const history = (await call('memory_history', { memory_id: id })).data.results;
    expect(history).toMatchObject([{ memory: 'I live in Oslo' }, { memory: 'I live in Bergen' }]);
    const back = { id, before: 'I live in Bergen', after: 'I live in Oslo' };
    expect((await call('undo_last', whose)).data.memories).toEqual([back]);
    expect((await call('update_memory', { memory_id: id, text: 'I live in Rome' })).data.memory).toMatchObject({
      memory: 'I live in Rome',
    });
    const asked = await call('recall', { query: 'Where do I live?', ...whose });
    expect(asked.data).toMatchObject({ answer: 'I live in Rome', citations: [{ kind: 'memory', id }] });
    expect((await call('delete_memory', { memory_id: id })).data).toMatchObject({ deleted: 1 });
    expect((await call('search_memories', { query: 'live in Rome', ...whose })).data.results).toEqual([]);

    await call('add_memory', { text: 'I like tea', infer: false, wait_seconds: 45, ...whose });
    expect((await call('delete_all_memories', whose)).data).toMatchObject({ deleted: 0, count: 1 });
    expect((await call('delete_all_memories', { ...whose, confirm: true })).data).toMatchObject({ deleted: 1 });
    expect((await call('get_memories', whose)).data.results).toEqual([]);
  });

  test('sees whose memories there are, and how things are related', async () => {
    const relation = { source: { self: true }, relationship: 'works_at', destination: { name: 'Acme' } };
    const body = JSON.stringify({ user_id: user, ...relation });
    await fetch(`${server.url}/v1/relations`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body,
    });
    const found = (await call('graph_neighbourhood', { entity: 'acme', ...whose })).data;
    expect(found).toMatchObject({ entity: 'Acme', relations: [{ relationship: 'works_at', destination: 'Acme' }] });
    expect((await call('graph_neighbourhood', whose)).data).toMatchObject({ entity: null, relations: [{}] });
    const owners = (await call('list_entities')).data.results;
    expect(owners).toContainEqual(expect.objectContaining({ kind: 'user', id: user }));
  });

  test('reads the profile of a user, and is given prompts for the beginning and the end', async () => {
    await call('add_memory', { text: 'I like cocoa', infer: false, wait_seconds: 45, ...whose });
    const { resourceTemplates } = await host.listResourceTemplates();
    expect(resourceTemplates).toMatchObject([{ uriTemplate: 'slowwave://users/{user_id}/profile' }]);
    const uri = `slowwave://users/${encodeURIComponent(user)}/profile`;
    expect((await host.listResources()).resources.map((one) => one.uri)).toEqual(bound ? [uri] : []);
    expect((await host.readResource({ uri })).contents).toMatchObject([
      { uri, text: expect.stringContaining('cocoa') },
    ]);
    await expect(host.readResource({ uri: 'slowwave://users/%/profile' })).rejects.toThrow('percent-encoded');
    expect((await host.listPrompts()).prompts.map((one) => one.name)).toEqual(['load_memory', 'save_memory']);
    const loaded = await host.getPrompt({ name: 'load_memory', arguments: { topic: 'cocoa', ...whose } });
    expect(JSON.stringify(loaded.messages)).toContain('I like cocoa');
    expect(JSON.stringify(await host.getPrompt({ name: 'save_memory' }))).toContain('add_memory');
    expect(host.getInstructions()).toContain('search_memories');
  });

  test('is told what each tool does and returns, and has called each of them', async () => {
    const { tools } = await host.listTools();
    for (const { name, description, inputSchema, outputSchema, annotations } of tools) {
      expect([name, description, outputSchema]).toEqual([name, expect.stringMatching(/.{40}/), expect.anything()]);
      expect([name, inputSchema.additionalProperties]).toEqual([name, false]);
      const { readOnlyHint, destructiveHint } = annotations ?? {};
      expect([name, readOnlyHint, destructiveHint]).toEqual([name, READING.has(name), DELETING.has(name)]);
    }
    expect(tools.map(({ name }) => name).sort()).toEqual([...called].sort());
  });

  test('is told in a sentence how to mend a call', async () => {
    const other = bound ? { user_id: 'somebody else' } : {};
    const refused: readonly [string, object, string][] = [
      ['search_memories', { query: 'Oslo', ...other }, 'user_id'],
      ['search_memories', { query: 'Oslo', colour: 'red', ...whose }, 'colour'],
      ['search_memories', { query: 'Oslo', limit: 1_000, ...whose }, 'limit'],
      ['search_memories', { query: 'Oslo', filters: { nothing: 1 }, ...whose }, 'filter'],
      ['get_memory', { memory_id: 'mem_nothing' }, 'there is no memory'],
      ['add_memory', whose, 'either text or messages'],
      ['add_memory', { text: 'I', messages: [{ role: 'user', content: 'I' }], ...whose }, 'either text or messages'],
      ['graph_neighbourhood', { entity: 'Nobody', ...whose }, 'Nobody'],
      ['delete_all_memories', { confirm: true, ...other }, 'user_id'],
    ];
    for (const [tool, args, sentence] of refused) {
      const { isError, text } = await tryTo(host, tool, { ...args });
      expect([tool, isError, text]).toEqual([tool, true, expect.stringContaining(sentence)]);
    }
  });
});

const READING = new Set([
  ...['search_memories', 'get_context', 'get_memories', 'get_memory', 'list_entities', 'memory_history'],
  ...['graph_neighbourhood', 'recall'],
]);
const DELETING = new Set(['update_memory', 'delete_memory', 'delete_all_memories', 'undo_last']);
