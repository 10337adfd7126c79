import { MemoryClient } from '@slowwave/testkit/mem0';
import { expect } from 'vitest';

/** What an application does with mem0's own client, from the first call to the last; only the host is another one. */
export async function everythingAClientDoes(host: string): Promise<void> {
  const client = new MemoryClient({ apiKey: 'any', host });
  await client.ping();
  await addsAndReads(client);
  await changes(client);
  await seesEntities(client);
  await managesProject(client);
  await managesWebhooks(client);
  await exportsMemories(client);
  await isToldMistakes(client);
  await deletes(client);
}

const ANA = { user_id: 'ana' };
const SETTLE_MS = 30_000;
const LOOK_AGAIN_MS = 100;

async function addsAndReads(client: MemoryClient): Promise<void> {
  const messages = [
    { role: 'user' as const, content: 'I live in Oslo' },
    { role: 'assistant' as const, content: 'A fine city.' },
  ];
  const queued = raw(await client.add(messages, { userId: 'ana', metadata: { source: 'chat', camelCase: 1 } }));
  expect(queued).toMatchObject({ status: 'PENDING', eventId: expect.any(String) });
  expect(await settled(client, String(queued.eventId))).toMatchObject({
    status: 'SUCCEEDED',
    results: [{ event: 'ADD', data: { memory: 'User lives in Oslo' } }],
  });
  const { results } = await client.search('where does she live?', { filters: ANA, topK: 3 });
  expect(results[0]).toMatchObject({
    memory: 'User lives in Oslo',
    userId: 'ana',
    metadata: { source: 'chat', camelCase: 1 },
    score: expect.any(Number),
  });
  const both = { filters: { AND: [{ userId: 'ana' }, { metadata: { source: 'chat' } }] } };
  expect((await client.search('home', both)).results).toHaveLength(1);
  const none = { filters: { AND: [{ user_id: 'ana' }, { metadata: { source: 'letter' } }] } };
  expect((await client.search('home', none)).results).toEqual([]);
  const verbatim = raw(
    await client.add([{ role: 'user', content: 'Ana has two cats.' }], { userId: 'ana', infer: false }),
  );
  expect(verbatim).toMatchObject({
    status: 'SUCCEEDED',
    results: [{ id: expect.any(String), event: 'ADD', data: { memory: 'Ana has two cats.' } }],
  });
  const page = await client.getAll({ filters: ANA, page: 1, pageSize: 1 });
  expect(page).toMatchObject({ count: 2, next: expect.stringContaining('page=2'), previous: null });
  expect(page.results).toHaveLength(1);
}

async function changes(client: MemoryClient): Promise<void> {
  const id = await idOf(client, 'cats');
  await client.update(id, { text: 'Ana has three cats.', metadata: { source: 'letter' } });
  expect(await client.get(id)).toMatchObject({ id, memory: 'Ana has three cats.', metadata: { source: 'letter' } });
  expect(await client.history(id)).toMatchObject([
    { event: 'ADD', newMemory: 'Ana has two cats.' },
    { event: 'UPDATE', oldMemory: 'Ana has two cats.', newMemory: 'Ana has three cats.' },
  ]);
  await client.feedback({ memoryId: id, feedback: 'POSITIVE' as never, feedbackReason: 'true' });
  expect((await client.get(id)).metadata).toEqual({ source: 'letter' });
  expect(await client.history(id)).toHaveLength(2);
  const [one, other] = [await idOf(client, 'cats'), await idOf(client, 'Oslo')];
  await client.batchUpdate([
    { memoryId: one, text: 'Ana has four cats.' },
    { memoryId: other, text: 'Ana lives in Bergen' },
  ]);
  expect((await texts(client)).sort()).toEqual(['Ana has four cats.', 'Ana lives in Bergen']);
  await client.batchDelete([one]);
  expect(await texts(client)).toEqual(['Ana lives in Bergen']);
  await client.delete(other);
  expect(await texts(client)).toEqual([]);
}

async function seesEntities(client: MemoryClient): Promise<void> {
  await client.add([{ role: 'user', content: 'Bob plays chess.' }], { userId: 'bob', infer: false });
  const { results } = await client.users();
  expect(results).toContainEqual(expect.objectContaining({ name: 'bob', type: 'user', totalMemories: 1 }));
}

async function managesProject(client: MemoryClient): Promise<void> {
  await client.updateProject({
    customInstructions: 'Remember hobbies.',
    customCategories: [{ hobbies: 'What they do' }],
  });
  const fields = ['custom_instructions', 'custom_categories'];
  expect(await client.getProject({ fields })).toMatchObject({
    customInstructions: 'Remember hobbies.',
    customCategories: [{ hobbies: expect.any(String) }],
  });
}

async function managesWebhooks(client: MemoryClient): Promise<void> {
  const projectId = String(raw(client).projectId);
  const eventTypes = ['memory_add', 'memory_delete'] as never;
  const hook = { name: 'crm', url: 'https://receiver.example/hook', eventTypes };
  const made = raw(await client.createWebhook({ ...hook, projectId } as never));
  expect(made).toMatchObject({ webhookId: expect.any(String), name: 'crm', isActive: true, eventTypes });
  const webhookId = String(made.webhookId);
  const changed = { webhookId, url: 'https://other.example/', eventTypes: ['memory_update'] };
  expect(await client.updateWebhook(changed as never)).toMatchObject({ message: expect.any(String) });
  expect(await client.getWebhooks({ projectId })).toMatchObject([{ ...changed, name: 'crm' }]);
  await expect(client.createWebhook({ ...hook, url: 'http://10.0.0.1/' } as never)).rejects.toThrow(/public internet/);
  expect(await client.deleteWebhook({ webhookId })).toMatchObject({ message: expect.any(String) });
  expect(await client.getWebhooks({ projectId })).toEqual([]);
}

async function exportsMemories(client: MemoryClient): Promise<void> {
  const { id } = await client.createMemoryExport({ schema: { type: 'object' }, filters: { user_id: 'bob' } });
  const made = raw(await client.getMemoryExport({ memoryExportId: id }));
  expect(made).toMatchObject({ memories: [{ memory: 'Bob plays chess.' }] });
}

async function isToldMistakes(client: MemoryClient): Promise<void> {
  await expect(client.get('mem_nobody')).rejects.toMatchObject({ name: 'MemoryNotFoundError' });
  await expect(client.search('home', { filters: { memory: { contains: 'shop' } } })).rejects.toThrow(
    /name the owner of the memories/,
  );
  await expect(client.search('home', { filters: { user_id: 'bob', nope: 1 } })).rejects.toThrow(/nope/);
  await expect(client.deleteAll({})).rejects.toThrow(/user_id/);
}

async function deletes(client: MemoryClient): Promise<void> {
  await client.add([{ role: 'user', content: 'Cyd sings.' }], { userId: 'cyd', infer: false });
  await client.deleteAll({ userId: 'cyd' });
  expect((await client.getAll({ filters: { user_id: 'cyd' } })).results).toEqual([]);
  await client.deleteUsers({ userId: 'bob' });
  expect((await client.getAll({ filters: { user_id: 'bob' } })).results).toEqual([]);
  expect((await client.search('chess', { filters: { user_id: 'bob' } })).results).toEqual([]);
}

/** Its types say less than its answers have. */
const raw = (answer: unknown): Record<string, unknown> => answer as Record<string, unknown>;

async function texts(client: MemoryClient): Promise<(string | undefined)[]> {
  const { results } = await client.getAll({ filters: ANA });
  return results.map(({ memory }) => memory);
}

async function idOf(client: MemoryClient, word: string): Promise<string> {
  const { results } = await client.getAll({ filters: ANA });
  return results.find(({ memory }) => memory?.includes(word))?.id ?? expect.unreachable(`no memory about ${word}`);
}

/** The client has no method for events: its users poll the route. */
async function settled(client: MemoryClient, id: string): Promise<unknown> {
  const deadline = Date.now() + SETTLE_MS;
  for (;;) {
    const answer = await fetch(`${client.host}/v1/event/${id}/`, { headers: client.headers });
    const event = (await answer.json()) as { status: string };
    if (!['PENDING', 'RUNNING'].includes(event.status) || Date.now() > deadline) return event;
    await new Promise((resolve) => setTimeout(resolve, LOOK_AGAIN_MS));
  }
}
