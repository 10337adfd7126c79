import { type ModelServer, type OwnServer, type Reply, startModelServer, startOwnServer } from '@slowwave/testkit';
import { type Host, overHttp, tryTo } from '@slowwave/testkit/mcp';
import { afterAll, beforeAll, expect, test } from 'vitest';

interface Turn {
  readonly role: 'system' | 'user' | 'assistant' | 'tool';
  readonly content: string | null;
  readonly tool_calls?: readonly { id: string; function: { name: string; arguments: string } }[];
  readonly tool_call_id?: string;
}

let model: ModelServer;
let server: OwnServer;
beforeAll(async () => {
  model = await startModelServer({ script: ({ request }) => reply(request as unknown as Asked) });
  server = await startOwnServer({});
});
afterAll(async () => {
  await server.close();
  await model.close();
});

interface Asked {
  readonly messages: readonly Turn[];
  readonly tools: readonly { readonly function: { readonly name: string } }[];
}

/** A model that goes by simple rules: it saves statements, looks questions up, and forgets what it finds if asked to. */
function reply({ messages, tools }: Asked): Reply {
  const use = (name: string, args: object): Reply => {
    if (!tools.some((tool) => tool.function.name === name)) throw new Error(`there is no tool ${name}`);
    const call = { id: 'call_1', type: 'function', function: { name, arguments: JSON.stringify(args) } };
    return { status: 200, body: { choices: [{ message: { role: 'assistant', content: null, tool_calls: [call] } }] } };
  };
  const last = messages.at(-1);
  const said = messages.findLast(({ role }) => role === 'user')?.content ?? '';
  const isForgetting = said.startsWith('Forget ');
  if (last?.role === 'user') {
    if (isForgetting) return use('search_memories', { query: said.replace('Forget ', '') });
    if (said.endsWith('?')) return use('search_memories', { query: said });
    return use('add_memory', { messages: [{ role: 'user', content: said }], wait_seconds: 45 });
  }
  const found = /\[(mem_\w+)\]/.exec(last?.content ?? '')?.[1];
  if (isForgetting && found !== undefined) return use('delete_memory', { memory_id: found });
  return { text: last?.content ?? '' };
}

/** A conversation as a host leads it: it shows the model the tools, and calls those that the model asks for. */
async function converse(host: Host, said: string): Promise<{ answer: string; called: string[] }> {
  const { tools } = await host.listTools();
  const functions = tools.map(({ name, description, inputSchema: parameters }) => ({
    type: 'function',
    function: { name, description, parameters },
  }));
  const messages: Turn[] = [
    { role: 'system', content: host.getInstructions() ?? '' },
    { role: 'user', content: said },
  ];
  const called: string[] = [];
  for (;;) {
    const message = await completed({ model: 'scripted', messages, tools: functions });
    messages.push(message);
    if (message.tool_calls === undefined) return { answer: message.content ?? '', called };
    for (const { id, function: asked } of message.tool_calls) {
      called.push(asked.name);
      const { text } = await tryTo(host, asked.name, JSON.parse(asked.arguments));
      messages.push({ role: 'tool', tool_call_id: id, content: text });
    }
  }
}

async function completed(body: object): Promise<Turn> {
  const headers = { 'content-type': 'application/json' };
  const answer = await fetch(`${model.baseUrl}/chat/completions`, {
    method: 'POST',
    headers,
    body: JSON.stringify(body),
  });
  const { choices } = (await answer.json()) as { choices: [{ message: Turn }] };
  return choices[0].message;
}

/** Each in a conversation of its own: what is known in the next one was remembered. */
async function newConversation(said: string): Promise<{ answer: string; called: string[] }> {
  const host = await overHttp('modern', server.url, { 'x-slowwave-user': 'ana' });
  try {
    return await converse(host, said);
  } finally {
    await host.close();
  }
}

test('a model saves what it hears, finds it later, corrects it and forgets it', async () => {
  const saved = await newConversation('I am Ana and I live in Oslo.');
  expect(saved).toEqual({ answer: expect.stringMatching(/ADD .*Oslo/), called: ['add_memory'] });
  const found = await newConversation('Where do I live?');
  expect(found).toEqual({ answer: expect.stringContaining('Oslo'), called: ['search_memories'] });

  const corrected = await newConversation('Actually I live in Bergen now.');
  expect(corrected).toEqual({ answer: expect.stringMatching(/UPDATE .*Bergen/), called: ['add_memory'] });
  expect((await newConversation('Where do I live?')).answer).toMatch(/lives in Bergen/);

  const forgotten = await newConversation('Forget where I live');
  expect(forgotten.called).toEqual(['search_memories', 'delete_memory']);
  expect((await newConversation('Where do I live?')).answer).not.toMatch(/Bergen|Oslo/);
  expect((await newConversation('What is my name?')).answer).toContain('Ana');
});
