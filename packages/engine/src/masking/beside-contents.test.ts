import { engineBench, estimatingTokenizer, fakeChat, newBatch, newMessage, settings } from '@slowwave/engine-testing';
import { describe, expect, it, test } from 'vitest';
import { pendingItems, worthShowing } from '../context/items.ts';
import { pointsOfBatch } from '../projection/make-points.ts';
import { toSummarize } from '../turns/summarize.ts';
import type { Message } from '../words.ts';
import { withPolicy } from './personal.ts';

const bench = await engineBench({ chat: fakeChat({}) });
const MAIL = 'ann@example.com';

describe.each(['mask', 'drop'] as const)('under %s', (policy) => {
  const metadata = { to: MAIL, deep: [{ mail: `to ${MAIL}`, count: 3, none: null }], [MAIL]: true };
  const batch = withPolicy(
    newBatch(bench.tools, {
      metadata,
      settings: settings({ instructions: `Write to ${MAIL}`, includes: MAIL, excludes: 'money' }),
      messages: [newMessage(bench.tools, { content: 'I live in Oslo', name: MAIL, clientId: MAIL })],
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
  const said = messages.map((message) => ({ message, before: null }));
  const spoken = { counts: true, messages: said, scope: {}, metadata: {} } as unknown as Parameters<
    typeof pointsOfBatch
  >[0];
  const points = pointsOfBatch(spoken, { vectorOf: () => new Float32Array(1) });
  expect(points.map(({ text }) => text)).toEqual(['I live in Oslo']);
});
