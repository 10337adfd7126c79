import { details } from '@slowwave/engine-testing';
import { describe, expect, it } from 'vitest';
import { NOT_KEPT } from '../ports/ledger/erasures.ts';
import type { SaidMessage, SpokenBatch } from '../ports/ledger/outbox.ts';
import { millisOf } from '../text/dates.ts';
import type { MemoryVersion, Message } from '../words.ts';
import { contextOf, pointsOfBatch } from './make-points.ts';

const DAY = millisOf('2023-05-07T10:00:00Z') ?? 0;
const HOUR = 3_600_000;

const message = (content: Message['content'], given: Partial<Message> = {}): Message => ({
  ...{ id: String(content), batchId: 'bat', clientId: null, role: 'user', content, name: null, resent: false },
  saidAt: { at: DAY, seq: 2 },
  ...given,
});
const said = (one: Message, before: Message | null = null): SaidMessage => ({ message: one, before });
const version = (sources: readonly SaidMessage[], given: Partial<MemoryVersion> = {}): MemoryVersion => ({
  ...{ number: 1, text: 'Went to a support group', saidAt: { at: DAY, seq: 2 }, validFrom: DAY },
  ...{ invalidAt: null, supersededBy: null, recordedAt: DAY },
  details: details({ sourceIds: sources.map(({ message: { id } }) => id) }),
  ...given,
});
const contextWith = (sources: readonly SaidMessage[], given: Partial<MemoryVersion> = {}) =>
  contextOf(version(sources, given), new Map(sources.map((one) => [one.message.id, one])));

describe('what a memory came from', () => {
  it('is found by the words of its message, of the message before, and by the day', () => {
    const before = message('Any therapists nearby?', { role: 'assistant', saidAt: { at: DAY - HOUR, seq: 1 } });
    const { contextTerms } = contextWith([said(message('Yesterday that crowd was powerful'), before)]);
    expect(contextTerms).toEqual(expect.arrayContaining(['crowd', 'therapist', '2023', 'mai', '7th', 'sundai']));
  });

  it('is found by the name of who said it', () => {
    const spoken = message('I bought a kite', { name: 'Caro Lind' });
    expect(contextWith([said(spoken)]).contextTerms).toEqual(expect.arrayContaining(['caro', 'lind']));
  });

  it('is found by the day it holds from, too', () => {
    const validFrom = millisOf('2022-12-24') ?? 0;
    expect(contextWith([], { validFrom }).contextTerms).toEqual(expect.arrayContaining(['decemb', '2022', 'mai']));
  });

  it('is not found by what was said long before, nor by what retention has removed', () => {
    const long = message('Therapists', { saidAt: { at: DAY - 25 * HOUR, seq: 1 } });
    const gone = message(NOT_KEPT, { id: 'gone' });
    const { contextTerms } = contextWith([said(message('Crowds'), long), said(gone, gone)]);
    expect(contextTerms).toContain('crowd');
    expect(contextTerms).not.toContain('therapist');
    expect(contextTerms).not.toContain('retent');
  });

  it('gives away no secret, and of a long text only its beginning', () => {
    const long = `my password is hunter22xyz and ${'filler '.repeat(400)} needle`;
    const { contextTerms } = contextWith([said(message(long))]);
    expect(contextTerms).not.toContain('hunter22xyz');
    expect(contextTerms).not.toContain('needl');
    expect(contextTerms.length).toBeLessThan(200);
  });

  it('names Chinese days in Chinese', () => {
    expect(contextWith([said(message('我们去了北京'))]).contextTerms).toEqual(
      expect.arrayContaining(['北京', '年', '星期']),
    );
    expect(contextWith([said(message('We went'))]).contextTerms).not.toContain('年');
  });

  it('was said by who told it: of the user a user, of the agent an assistant, else anybody with a name', () => {
    const ana = said(message('a', { name: 'Ana' }));
    const bot = said(message('b', { name: 'Bot', role: 'assistant' }));
    const about = details({ about: 'agent', sourceIds: ['b', 'a'] });
    expect(contextWith([bot, ana]).speaker).toBe('Ana');
    expect(contextWith([ana, bot], { details: about }).speaker).toBe('Bot');
    expect(contextWith([bot]).speaker).toBe('Bot');
    expect(contextWith([said(message('c'))]).speaker).toBeNull();
  });
});

describe('what a message stands in', () => {
  /** Messages of one batch, with what was said before the first. */
  const found = (messages: readonly Message[], first: Message | null = null): readonly (readonly string[])[] => {
    const spoken = messages.map((one, i) => {
      const [next = null] = messages.slice(i + 1).filter(({ role }) => role !== 'tool');
      const [before = null, earlier = null] = [first, ...messages.slice(0, i)]
        .filter((other) => other !== null && other.role !== 'tool')
        .reverse();
      return { message: one, before, earlier, next };
    });
    const batch = { counts: true, messages: spoken, scope: {}, metadata: {} } as unknown as SpokenBatch;
    return pointsOfBatch(batch, { vectorOf: () => new Float32Array(1) }).map(({ contextTerms }) => contextTerms);
  };
  const talk = ['Paris?', 'Lisbon', 'Madrid', 'Vienna', 'Prague'].map((text, i) =>
    message(text, { saidAt: { at: DAY + i * 1_000, seq: i } }),
  );

  it('is the two messages before it, the next one and the day, without its own words', () => {
    const earlier = message('Oslo', { saidAt: { at: DAY - HOUR, seq: 0 } });
    const [first = [], second = [], third = [], , last = []] = found(talk, earlier);
    expect(third).toEqual(expect.arrayContaining(['pari', 'lisbon', 'vienna', '2023', 'sundai']));
    expect(third).not.toContain('madrid');
    expect(third).not.toContain('pragu');
    expect(second).toEqual(expect.arrayContaining(['oslo', 'pari', 'madrid']));
    expect(first).toEqual(expect.arrayContaining(['oslo', 'lisbon']));
    expect(last).toEqual(expect.arrayContaining(['madrid', 'vienna']));
    expect(last).not.toContain('lisbon');
  });

  it('is not what was said a day apart, what tools print, or what is said no more', () => {
    const [lisbon, madrid] = [talk[1] as Message, talk[2] as Message];
    const later = message('Rome', { saidAt: { at: DAY + 48 * HOUR, seq: 9 } });
    expect(found([lisbon, later])[0]).not.toContain('rome');
    expect(found([lisbon, later])[1]).not.toContain('lisbon');
    expect(found([lisbon, message('Zurich', { role: 'tool' }), madrid]).flat()).not.toContain('zurich');
    expect(found([{ ...lisbon, content: NOT_KEPT }, madrid]).flat()).not.toContain('lisbon');
  });

  it('has the name of who said it', () => {
    expect(found([message('I bought a kite', { name: 'Caro Lind' })])[0]).toEqual(
      expect.arrayContaining(['caro', 'lind']),
    );
  });
});
