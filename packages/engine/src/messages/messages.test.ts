import { fixedTools, newBatch, newMessage } from '@slowwave/engine-testing';
import { expect, test } from 'vitest';
import type { Pause } from '../ports/ledger/lanes.ts';
import { heard, pausedAtOf, withPause } from './messages.ts';

/** The pauses after these, of which every second one goes on again. */
const after = (...times: readonly number[]): readonly Pause[] =>
  times.reduce<readonly Pause[]>((pauses, now, i) => withPause(pauses, { paused: i % 2 === 0, now }), []);

test('a pause goes on until somebody resumes, and begins and ends once', () => {
  expect(pausedAtOf([])).toBeNull();
  expect(pausedAtOf(after(5))).toBe(5);
  expect(withPause(after(5), { paused: true, now: 7 })).toEqual(after(5));
  expect(after(5, 9)).toEqual([{ from: 5, until: 9 }]);
  expect(withPause(after(5, 9), { paused: false, now: 11 })).toEqual(after(5, 9));
  expect(pausedAtOf(after(5, 9))).toBeNull();
});

test('a clock that was set back ends no pause before it began', () => {
  expect(after(5, 3)).toEqual([{ from: 5, until: 5 }]);
});

test('of very many pauses the oldest become one, which withholds more and never less', () => {
  const many = after(...Array.from({ length: 500 }, (_, i) => i * 10));
  expect(many).toHaveLength(100);
  const tools = fixedTools();
  for (let pause = 0; pause < 250; pause += 1) {
    const message = newMessage(tools, { at: pause * 20 });
    expect([pause, heard(newBatch(tools, { messages: [message] }), many).paused]).toEqual([pause, 'all']);
  }
});

test('a batch of which all is withheld keeps nothing but its place', () => {
  const tools = fixedTools();
  const messages = [newMessage(tools, { content: 'a secret', name: 'Ann', clientId: 'm1' })];
  const posted = newBatch(tools, { messages, metadata: { mood: 'bad' } });
  const { batch } = heard(posted, after(tools.now()));
  expect(JSON.stringify(batch)).not.toMatch(/secret|Ann|mood/);
  expect(batch.messages.map(({ id, clientId }) => [id, clientId])).toEqual([[messages[0]?.id, 'm1']]);
  expect(heard(posted, []).batch).toBe(posted);
  expect(heard(posted, after(1, 2)).batch).toBe(posted);
});
