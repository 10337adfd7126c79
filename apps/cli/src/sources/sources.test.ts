import { expect, test } from 'vitest';
import { readChatgpt, readClaude } from './chats.ts';
import type { Found } from './found.ts';
import { readHindsight, readLangmem, readLetta, readZep } from './readers.ts';

const file = (name: string, value: unknown) => new Map([[name, value]]);

/** What is said of facts, as far as a test looks at it. */
const told = ({ facts }: Found) => facts.map(({ ids, text, at }) => [Object.values(ids).join('/'), text, at]);

test('a graph of Zep or Graphiti becomes facts with the time they hold from, and relations with their end', () => {
  const nodes = [
    {
      uuid: 'n1',
      name: 'Ana',
      labels: ['Entity'],
      group_id: 'ana',
      summary: 'Ana lives in Oslo',
      created_at: '2025-01-01T00:00:00Z',
    },
    { uuid: 'n2', name: 'Oslo', labels: ['Entity'], group_id: 'ana', summary: '', created_at: '2025-01-01T00:00:00Z' },
    {
      uuid: 'n3',
      name: 'Lisbon',
      labels: ['Entity'],
      group_id: 'ana',
      summary: '',
      created_at: '2025-01-01T00:00:00Z',
    },
  ];
  const edge = {
    name: 'LIVES_IN',
    group_id: 'ana',
    source_node_uuid: 'n1',
    episodes: ['p1'],
    created_at: '2025-03-02T00:00:00Z',
  };
  const edges = [
    {
      ...edge,
      uuid: 'e1',
      target_node_uuid: 'n2',
      fact: 'Ana lives in Oslo',
      valid_at: '2025-03-01T00:00:00Z',
      invalid_at: null,
    },
    {
      ...edge,
      uuid: 'e2',
      target_node_uuid: 'n3',
      fact: 'Ana lives in Lisbon',
      valid_at: '2024-01-01T00:00:00Z',
      invalid_at: '2025-03-01T00:00:00Z',
    },
  ];
  const episodes = [
    {
      uuid: 'p1',
      group_id: 'ana',
      source: 'message',
      content: 'Ana: I moved to Oslo',
      valid_at: '2025-03-01T00:00:00Z',
    },
    {
      uuid: 'p2',
      group_id: 'ana',
      source: 'message',
      content: 'Assistant: Welcome!',
      valid_at: '2025-03-01T00:00:01Z',
    },
    { uuid: 'p3', group_id: 'ana', source: 'json', content: '{}', valid_at: '2025-03-01T00:00:02Z' },
  ];
  const found = readZep(file('graph.json', { nodes, edges, episodes }), null);
  expect(told(found)).toEqual([['ana', 'Ana lives in Oslo', '2025-03-01T00:00:00.000Z']]);
  expect(found.relations).toMatchObject([
    { source: 'Ana', relationship: 'lives_in', destination: 'Oslo', until: null },
    { destination: 'Lisbon', from: '2024-01-01T00:00:00.000Z', until: '2025-03-01T00:00:00.000Z' },
  ]);
  expect(found.talks).toMatchObject([
    {
      messages: [
        { role: 'user', text: 'I moved to Oslo' },
        { role: 'assistant', text: 'Welcome!' },
      ],
    },
  ]);
  expect(found.left.map(({ count, what }) => `${count} ${what}`)).toEqual([
    '1 memories of facts that have ended',
    '1 summaries of nodes',
  ]);
  const apart = new Map<string, unknown>([
    ['edges.json', edges.slice(0, 1)],
    ['nodes.json', nodes],
  ]);
  expect(told(readZep(apart, 'bo'))).toEqual([['bo', 'Ana lives in Oslo', '2025-03-01T00:00:00.000Z']]);
  expect(() => readZep(file('x.json', {}), 'ana')).toThrow(/expected nodes, edges or episodes/);
});

test('the blocks, passages and messages of an agent file come over, of a new and of an old release', () => {
  const block = (id: string, label: string, value: string) => ({ id, label, value, limit: 5_000, description: null });
  const text = (words: string) => [{ type: 'text', text: words }];
  const agent = {
    ...{ id: 'agent-0', name: 'sam', block_ids: ['block-0', 'block-1'], agent_type: 'letta_v1_agent' },
    passages: [{ id: 'passage-1', text: 'Chad sails on Sundays', created_at: '2025-05-01T00:00:00Z', tags: ['sport'] }],
    messages: [
      { id: 'message-0', role: 'system', content: text('You are Sam') },
      { id: 'message-1', role: 'user', content: text('I like ramen'), created_at: '2025-10-31T22:56:56Z' },
      { id: 'message-2', role: 'assistant', content: text('Noted.'), created_at: '2025-10-31T22:56:58Z' },
    ],
  };
  const blocks = [
    block('block-0', 'human', 'What I know:\n\nFirst name: Chad\nLast name: ?\n- Likes sailing'),
    block('block-1', 'persona', 'I am Sam.'),
  ];
  const found = readLetta(file('sam.af', { agents: [agent], blocks, tools: [{ id: 'tool-0' }] }), 'chad');
  expect(told(found)).toEqual([
    ['chad/sam', 'First name: Chad', null],
    ['chad/sam', 'Likes sailing', null],
    ['sam', 'I am Sam.', null],
    ['chad/sam', 'Chad sails on Sundays', '2025-05-01T00:00:00.000Z'],
  ]);
  expect(found.talks).toMatchObject([
    {
      messages: [
        { role: 'user', text: 'I like ramen' },
        { role: 'assistant', text: 'Noted.' },
      ],
    },
  ]);
  expect(found.left).toMatchObject([
    { what: 'messages', count: 1 },
    { what: 'tools', count: 1 },
  ]);
  const old = {
    ...{
      agent_type: 'memgpt_agent',
      name: 'sam',
      core_memory: [{ label: 'human', value: 'Likes tea', created_at: '2024-01-01T00:00:00Z' }],
    },
    messages: [
      {
        role: 'user',
        text: '{"type": "user_message", "message": "hi there", "time": "now"}',
        created_at: '2024-01-02T00:00:00Z',
      },
      { role: 'user', text: '{"type": "heartbeat", "reason": "none"}', created_at: '2024-01-02T00:00:01Z' },
    ],
  };
  const before = readLetta(file('old.af', old), null);
  expect(told(before)).toEqual([['sam', 'Likes tea', '2024-01-01T00:00:00.000Z']]);
  expect(before.talks).toMatchObject([{ messages: [{ text: 'hi there' }] }]);
});

test('items of a LangGraph store belong to whom the end of their namespace names', () => {
  const at = { created_at: '2025-01-01T00:00:00+00:00', updated_at: '2025-02-01T00:00:00+00:00' };
  const items = [
    {
      namespace: ['memories', 'ana'],
      key: 'a',
      value: { kind: 'Memory', content: { content: 'Likes dark mode' } },
      ...at,
    },
    { namespace: ['memories', 'ana'], key: 'b', value: { content: 'Has a dog' }, ...at },
    {
      namespace: ['profiles', 'bo'],
      key: 'c',
      value: { kind: 'Profile', content: { first_name: 'Bo', age: 7 } },
      ...at,
    },
    { namespace: ['memories', 'ana'], key: 'd', value: {}, ...at },
  ];
  const found = readLangmem(file('store.json', items), null);
  expect(told(found)).toEqual([
    ['ana', 'Likes dark mode', '2025-02-01T00:00:00.000Z'],
    ['ana', 'Has a dog', '2025-02-01T00:00:00.000Z'],
    ['bo', 'first name: Bo; age: 7', '2025-02-01T00:00:00.000Z'],
  ]);
  expect(found.left).toMatchObject([{ what: 'items', count: 1 }]);
});

test('facts and observations of Hindsight come over with when they occurred', () => {
  const document = {
    ...{ id: 'doc', original_text: 'I moved', tags: [], chunks: [{ chunk_index: 0, chunk_text: 'I moved' }] },
    facts: [
      {
        text: 'Ana moved to Oslo',
        fact_type: 'world',
        occurred_start: '2025-03-01T00:00:00Z',
        mentioned_at: '2025-03-05T00:00:00Z',
        entities: ['Oslo'],
        causal_relations: [{ relation_type: 'causes', target_fact_index: 0 }],
      },
      { text: 'Ana works', fact_type: 'experience', mentioned_at: '2025-03-05T00:00:00Z', tags: ['job'] },
    ],
  };
  const files = new Map<string, unknown>([
    ['manifest.json', { schema_version: 1, source_bank_id: 'ana', archive_type: 'bank' }],
    ['documents/000000.json', document],
    ['observations.json', [{ text: 'Ana settles in Oslo', proof_count: 2, mentioned_at: '2025-04-01T00:00:00Z' }]],
  ]);
  const found = readHindsight(files, null);
  expect(told(found)).toEqual([
    ['ana', 'Ana moved to Oslo', '2025-03-01T00:00:00.000Z'],
    ['ana', 'Ana works', '2025-03-05T00:00:00.000Z'],
    ['ana', 'Ana settles in Oslo', '2025-04-01T00:00:00.000Z'],
  ]);
  expect(found.facts[0]?.metadata).toMatchObject({ fact_type: 'world', entities: ['Oslo'] });
  expect(found.left).toMatchObject([
    { what: 'documents', count: 1 },
    { what: 'causal relations', count: 1 },
  ]);
});

test('of ChatGPT’s conversations the branch that was shown last is read, without what tools and the system said', () => {
  const message = (id: string, [role, create_time]: [string, number | null], ...parts: unknown[]) => ({
    ...{
      id,
      author: { role, name: null, metadata: {} },
      create_time,
      content: { content_type: 'text', parts },
      metadata: {},
    },
  });
  const mapping = {
    root: { id: 'root', message: null, parent: null, children: ['s'] },
    s: { id: 's', message: message('s', ['system', null], ''), parent: 'root', children: ['a'] },
    a: {
      id: 'a',
      message: message('a', ['user', 1_740_000_000.5], 'I live in Oslo'),
      parent: 's',
      children: ['b', 'c'],
    },
    b: { id: 'b', message: message('b', ['assistant', 1_740_000_001], 'Old answer'), parent: 'a', children: [] },
    c: {
      id: 'c',
      message: message('c', ['assistant', 1_740_000_002], 'Nice!', { content_type: 'image_asset_pointer' }),
      parent: 'a',
      children: ['t'],
    },
    t: { id: 't', message: message('t', ['tool', 1_740_000_003], '42'), parent: 'c', children: [] },
  };
  const conversation = {
    title: 'Home',
    conversation_id: 'c1',
    create_time: 1,
    update_time: 2,
    current_node: 't',
    mapping,
  };
  const found = readChatgpt(file('conversations.json', [conversation]), 'ana');
  expect(found.talks).toEqual([
    {
      ...{ id: 'c1', ids: { user_id: 'ana' }, title: 'Home' },
      messages: [
        { id: 'a', role: 'user', text: 'I live in Oslo', at: '2025-02-19T21:20:00.500Z' },
        { id: 'c', role: 'assistant', text: 'Nice!', at: '2025-02-19T21:20:02.000Z' },
      ],
    },
  ]);
  expect(found.left.map(({ count, what }) => `${count} ${what}`)).toEqual([
    '1 messages',
    '1 images and files',
    '1 messages',
  ]);
  expect(() => readChatgpt(file('conversations.json', [conversation]), null)).toThrow(/--user/);
});

test('Claude’s conversations and what it wrote down of its user come over', () => {
  const said = (uuid: string, sender: string, text: string) => ({
    uuid,
    sender,
    text,
    content: [{ type: 'text', text }],
    created_at: '2025-06-01T10:00:00.000000Z',
    attachments: [],
    files: [],
  });
  const conversations = [
    {
      uuid: 'k1',
      name: 'Trip',
      account: { uuid: 'x' },
      chat_messages: [said('m1', 'human', 'I go to Rome'), said('m2', 'assistant', 'Enjoy!')],
    },
    { uuid: 'k2', name: '', account: { uuid: 'x' }, chat_messages: [] },
  ];
  const memories = [
    {
      conversations_memory: '**Work context**\n\nAna is a nurse.\n- Prefers short answers',
      project_memories: { p1: 'Plans a trip.' },
      account_uuid: 'x',
    },
  ];
  const found = readClaude(
    new Map<string, unknown>([
      ['conversations.json', conversations],
      ['memories.json', memories],
    ]),
    'ana',
  );
  expect(told(found)).toEqual([
    ['ana', 'Ana is a nurse.', null],
    ['ana', 'Prefers short answers', null],
    ['ana', 'Plans a trip.', null],
  ]);
  expect(found.talks).toMatchObject([
    { id: 'k1', messages: [{ role: 'user', text: 'I go to Rome' }, { role: 'assistant' }] },
  ]);
  expect(found.left).toMatchObject([{ what: 'conversations', count: 1 }]);
  expect(() => readClaude(file('users.json', [{ uuid: 'x' }]), 'ana')).toThrow(/expected conversations.json/);
});
