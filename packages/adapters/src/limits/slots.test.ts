import type { ChatAnswer, ChatCall, ChatModel } from '@slowwave/engine';
import { expect, test } from 'vitest';
import { slots, slotsOfEach, slottedChat } from './limited.ts';

const CALL: ChatCall = { name: 'extract_facts', system: '', user: '{}', schema: {} };
const ANSWER: ChatAnswer = {
  text: '{}',
  model: 'm',
  usage: { promptTokens: 0, completionTokens: 0 },
  truncated: false,
};
const never = new AbortController().signal;

/** A model that answers when it is told to, in the order in which it was asked. */
function slowModel() {
  const asked: PromiseWithResolvers<ChatAnswer>[] = [];
  const chat: ChatModel = {
    name: 'm',
    ask: () => {
      const answer = Promise.withResolvers<ChatAnswer>();
      asked.push(answer);
      return answer.promise;
    },
  };
  return { chat, asked };
}
const settled = (): Promise<void> => new Promise((resolve) => void setImmediate(resolve));

test('no more calls go out at a time than there are places, and each that ends lets the next one go', async () => {
  const { chat, asked } = slowModel();
  const held = slottedChat(chat, slots(2));
  const answers = [1, 2, 3, 4].map(() => held.ask(CALL, never));
  await settled();
  expect(asked).toHaveLength(2);
  asked[1]?.resolve(ANSWER);
  await settled();
  expect(asked).toHaveLength(3);
  for (const call of asked) call.resolve(ANSWER);
  await settled();
  for (const call of asked) call.resolve(ANSWER);
  expect(await Promise.all(answers)).toHaveLength(4);
});

test('a call that fails gives its place back', async () => {
  const { chat, asked } = slowModel();
  const held = slottedChat(chat, slots(1));
  const [first, second] = [held.ask(CALL, never), held.ask(CALL, never)];
  await settled();
  asked[0]?.reject(new Error('broken'));
  await expect(first).rejects.toThrow('broken');
  await settled();
  asked[1]?.resolve(ANSWER);
  expect(await second).toEqual(ANSWER);
});

test('who is cancelled while waiting leaves the line without a failed try, and nobody loses a place by it', async () => {
  const { chat, asked } = slowModel();
  const held = slottedChat(chat, slots(1));
  const first = held.ask(CALL, never);
  const stop = new AbortController();
  const second = held.ask(CALL, stop.signal);
  const third = held.ask(CALL, never);
  stop.abort();
  await expect(second).rejects.toMatchObject({ code: 'cancelled', countsAsTry: false });
  await expect(held.ask(CALL, stop.signal)).rejects.toMatchObject({ code: 'cancelled' });
  asked[0]?.resolve(ANSWER);
  await first;
  await settled();
  expect(asked).toHaveLength(2);
  asked[1]?.resolve(ANSWER);
  expect(await third).toEqual(ANSWER);
});

test('work of one name waits for its own kind alone, and who is cancelled in the line is not worked for', async () => {
  const inPlace = slotsOfEach(1);
  const first = Promise.withResolvers<string>();
  const begun: string[] = [];
  const work =
    (name: string, of: Promise<string> | string = name) =>
    async () => {
      begun.push(name);
      return of;
    };
  const stop = new AbortController();
  const [a1, a2, a3] = [
    inPlace('a', never, work('a1', first.promise)),
    inPlace('a', stop.signal, work('a2')),
    inPlace('a', never, work('a3')),
  ];
  expect(await inPlace('b', never, work('b1'))).toBe('b1');
  stop.abort();
  await expect(a2).rejects.toMatchObject({ code: 'cancelled' });
  first.reject(new Error('broken'));
  await expect(a1).rejects.toThrow('broken');
  expect(await a3).toBe('a3');
  expect(await inPlace('a', never, work('a4'))).toBe('a4');
  expect(begun).toEqual(['a1', 'b1', 'a3', 'a4']);
});
