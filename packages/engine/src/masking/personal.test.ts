import { engineBench, estimatingTokenizer, fakeChat, newBatch, newMessage, settings } from '@slowwave/engine-testing';
import { describe, expect, it, test } from 'vitest';
import { pendingItems, worthShowing } from '../context/items.ts';
import { pointsOfBatch } from '../projection/make-points.ts';
import { toSummarize } from '../turns/take-turn.ts';
import type { Message } from '../words.ts';
import { maskPersonal, withPolicy } from './personal.ts';

describe('what is personal is masked where it stands', () => {
  it.each([
    ['Write to ann.lee+news@mail.example.co.uk, please', 'Write to [email], please'],
    ['我的邮箱是zhang_wei@example.cn谢谢', '我的邮箱是[email]谢谢'],
    ['邮箱：ａｎｎ＠ｅｘａｍｐｌｅ．ｃｏｍ', '邮箱：[email]'],
    ['call +49 151 1234 5678 today', 'call [phone] today'],
    ['+1 (555) 010-4477.', '[phone].'],
    ['(555) 010-4477 or 555-010-4477', '[phone] or [phone]'],
    ['my phone is 030 1234567', 'my phone is [phone]'],
    ['手机号13812345678，谢谢', '手机号[phone]，谢谢'],
    ['打 138-1234-5678 或 010-62345678', '打 [phone] 或 [phone]'],
    ['card 4242 4242 4242 4242 12/26', 'card [card number] 12/26'],
    ['IBAN DE89 3704 0044 0532 0130 00 PLEASE', 'IBAN [IBAN] PLEASE'],
    ['GB82WEST12345698765432', '[IBAN]'],
    ['SSN 078-05-1120', 'SSN [ID number]'],
    ['NI number AB 12 34 56 C', 'NI number [ID number]'],
    ['身份证号11010519491231002X。', '身份证号[ID number]。'],
    ['from 203.0.113.9, then 2001:db8::8a2e:370:7334', 'from [IP address], then [IP address]'],
    ['fe80:0:0:0:1ff:fe23:4567:890a', '[IP address]'],
    ['ann@example.com 和 bob@example.com', '[email] 和 [email]'],
  ])('%s', (text, masked) => {
    expect(maskPersonal(text).text).toBe(masked);
    expect(maskPersonal(masked), 'once more').toEqual({ text: masked, kinds: [] });
  });
});

describe('what only looks like it stays', () => {
  it.each([
    'Order 4242 4242 4242 4241 has shipped',
    'order number 100200300 and 2026-000123',
    'on 2026-03-09 at 10:30:45, 2026-03-09T10:30:00Z',
    '2026年3月9日 下午3点',
    'version 1.2.3.4, v10.0.0.1, 版本 1.2.3.4, node 24.1.0',
    'ratio 3:4:5 and std::vector<int>, a::b, ::',
    'I paid 1,234,567.89 EUR for 12 of 500',
    'room 101-202, pages 100-200, score 3-2',
    'π is 3.14159265358979',
    'ISBN 978-3-16-148410-0',
    'IBAN DE89 3704 0044 0532 0130 01 is wrong',
    '999.1.1.1 is no address',
    '身份证号110105194912310021',
    'reach me @ann, or a@b',
    'id 550e8400-e29b-41d4-a716-446655440000, commit 9f1c2d3e4b5a69788776655443322110ffeeddcc',
    'timestamp 1772355600000, mem_01m7yeh6rfbk1',
    'Flight LH 1234 at gate B12 with 2 bags, 23 kg each',
    '我三月九日去上海，住12楼1203室',
  ])('%s', (text) => {
    expect(maskPersonal(text)).toEqual({ text, kinds: [] });
  });
});

it('tells what it masked, in order', () => {
  expect(maskPersonal('a@example.com, 10.0.0.1').kinds).toEqual(['email', 'IP address']);
});

it.each([
  'a',
  'a@',
  'a@a.',
  'a.',
  '+1',
  '1 ',
  '1-',
  '(1',
  'phone',
  'phone ',
  '电话',
  'AB12 ',
  'AB12',
  ':',
  'a:',
  '1.',
  '１',
  '1[3-9]',
  '138',
])('comes to an end on 100,000 times %j', (unit) => {
  expect(maskPersonal(unit.repeat(100_000)).text).not.toBe('');
});

const bench = await engineBench({ chat: fakeChat({ extract_facts: () => ({ facts: [] }) }) });
const PARTS = [
  { type: 'text', text: 'look, bob@example.com' },
  { type: 'image_url', image_url: { url: 'https://pictures.example.com/a@b.example.png' } },
] as const;
const contents = ['I live in Oslo', 'My mail is ann@example.com, +49 151 1234567', PARTS];
const batch = newBatch(bench.tools, { messages: contents.map((content) => newMessage(bench.tools, { content })) });
const kept = (policy: 'off' | 'mask' | 'drop') => withPolicy(batch, policy).messages.map(({ content }) => content);

test('without a policy everything is kept', () => {
  expect(kept('off')).toEqual(contents);
});

test('masking keeps everything else', () => {
  expect(kept('mask')).toEqual([
    'I live in Oslo',
    'My mail is [email], [phone]',
    [{ type: 'text', text: 'look, [email]' }, PARTS[1]],
  ]);
});

test('dropping keeps the place of a message, and why', () => {
  expect(kept('drop')).toEqual([
    'I live in Oslo',
    { withheld: 'personal_data', kinds: ['email', 'phone'] },
    { withheld: 'personal_data', kinds: ['email'] },
  ]);
});

test('a message that was dropped reaches no model, and the plan says why', async () => {
  const chat = fakeChat({ extract_facts: () => ({ facts: [] }) });
  const world = await engineBench({ chat });
  const id = await world.post(['I live in Oslo', { content: { withheld: 'personal_data', kinds: ['email'] } }]);
  await world.run();
  expect(JSON.stringify(chat.calls)).not.toMatch(/withheld|personal_data/u);
  expect((await world.plan(id)).discards).toEqual([
    { text: '', reason: 'not stored, because it contains personal data: email' },
  ]);
});

test.each(['[dropped: email]', '[removed by retention]', '{"withheld":"retention"}'])(
  'who says %s is heard like anybody else',
  async (content) => {
    const chat = fakeChat({ extract_facts: () => ({ facts: [] }) });
    const world = await engineBench({ chat });
    await world.post([content]);
    await world.run();
    expect(JSON.stringify(chat.calls.map(({ user }) => JSON.parse(user.slice(user.indexOf('{')))))).toContain(
      JSON.stringify(content).slice(1, -1),
    );
  },
);

const engine = await engineBench({ chat: fakeChat({}) });
const MAIL = 'ann@example.com';

describe.each(['mask', 'drop'] as const)('under %s', (policy) => {
  const metadata = { to: MAIL, deep: [{ mail: `to ${MAIL}`, count: 3, none: null }], [MAIL]: true };
  const batch = withPolicy(
    newBatch(engine.tools, {
      metadata,
      settings: settings({ instructions: `Write to ${MAIL}`, includes: MAIL, excludes: 'money' }),
      messages: [newMessage(engine.tools, { content: 'I live in Oslo', name: MAIL, clientId: MAIL })],
    }),
    policy,
  );

  it('names of speakers, values of metadata and instructions are masked, and the message stays', () => {
    expect(batch.messages).toMatchObject([{ content: 'I live in Oslo', name: '[email]' }]);
    expect(batch.metadata).toMatchObject({ to: '[email]', deep: [{ mail: 'to [email]', count: 3, none: null }] });
    expect(batch.settings).toMatchObject({ instructions: 'Write to [email]', includes: '[email]', excludes: 'money' });
  });

  it('ids and keys of metadata stay as they are', () => {
    expect(batch.messages[0]?.clientId).toBe(MAIL);
    expect(batch.metadata[MAIL]).toBe(true);
  });
});

test('what was not stored is shown nowhere as if it had been said', () => {
  const kept = (content: Message['content'], i: number) => ({
    ...{ id: `msg_${i}`, batchId: 'bat', clientId: null, role: 'user', name: null, content, resent: false },
    ...{ saidAt: { at: 1_000 + i, seq: i } },
  });
  const messages = [{ withheld: 'personal_data' } as const, 'I live in Oslo'].map(kept) as unknown as Message[];
  const pending = messages as unknown as Parameters<typeof worthShowing>[0];
  expect(worthShowing(pending, []).map(({ content }) => content)).toEqual(['I live in Oslo']);
  const room = { tokenizer: estimatingTokenizer, maxTokens: 1_000 };
  expect(pendingItems(room, worthShowing(pending, []), 'text').map(({ text }) => text)).toEqual(['I live in Oslo']);
  expect(toSummarize(messages).map(({ content }) => content)).toEqual(['I live in Oslo']);
  const said = messages.map((message) => ({ message, before: null, earlier: null, next: null }));
  const spoken = { counts: true, messages: said, scope: {}, metadata: {} } as unknown as Parameters<
    typeof pointsOfBatch
  >[0];
  const points = pointsOfBatch(spoken, { vectorOf: () => new Float32Array(1) });
  expect(points.map(({ text }) => text)).toEqual(['I live in Oslo']);
});
