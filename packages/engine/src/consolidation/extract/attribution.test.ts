import { saidFacts } from '@slowwave/engine-testing';
import { describe, expect, it } from 'vitest';
import { type Spoken, spokenOf } from '../../messages/reading.ts';
import type { Message, Role } from '../../words.ts';
import { attributing, attribution } from './admit.ts';

const say = (content: string, seq: number, role: Role = 'user'): Spoken =>
  spokenOf({ id: `m${seq}`, role, content, saidAt: { at: 0, seq } } as Message);

function rankOf(window: readonly Spoken[], text: string, at: number): number {
  return attribution(window)({ text, quote: null }, window).indexOf(window[at] as Spoken);
}

describe('a fact that names no source', () => {
  it('is attributed to the right message: first in 85 of 100, among the first three in 96', () => {
    const ranks = Array.from({ length: 100 }, (_, seed) => saidFacts(seed)).flatMap(({ messages, facts }) => {
      const window = messages.map((content, i) => say(content, i));
      return facts.map(({ fact, at }) => rankOf(window, fact, at));
    });
    const within = (places: number): number => ranks.filter((rank) => rank < places).length / ranks.length;
    expect(within(1)).toBeGreaterThanOrEqual(0.85);
    expect(within(3)).toBeGreaterThanOrEqual(0.96);
  });

  it('goes to where its quote stands', () => {
    const window = [say('I moved to Oslo, Oslo, Oslo', 0), say('yes, since March', 1)];
    const [first] = attribution(window)({ text: 'User lives in Oslo', quote: 'since March' }, window);
    expect(first).toBe(window[1]);
  });

  it('goes to the answer, not to another message, where the words are those of the question', () => {
    const window = [
      say('I like hats', 0),
      say('Do you live in Oslo?', 1, 'assistant'),
      say('yes', 2),
      say('what now?', 3),
    ];
    const users = window.filter(({ message }) => message.role === 'user');
    expect(attribution(window)({ text: 'User lives in Oslo', quote: null }, users)[0]).toBe(window[2]);
  });

  it('goes to the last of messages that say the same', () => {
    const window = [say('I live in Oslo', 0), say('I live in Oslo', 1)];
    expect(attribution(window)({ text: 'User lives in Oslo', quote: null }, window)[0]).toBe(window[1]);
  });

  it('leaves room to others at every message of the window', () => {
    const window = Array.from({ length: 200 }, (_, i) => say(`place number ${i}`, i));
    expect([...attributing(window)].length).toBeGreaterThanOrEqual(window.length);
  });
});
