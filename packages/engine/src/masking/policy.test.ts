import { engineBench, fakeChat, newBatch, newMessage } from '@slowwave/engine-testing';
import { expect, test } from 'vitest';
import { withPolicy } from './personal.ts';

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
  expect((await world.plan(id)).discards).toEqual([{ text: '', reason: 'not stored, it held personal data: email' }]);
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
