import { fixedTools, statementsBy } from '@slowwave/engine-testing';
import { describe, expect, it } from 'vitest';
import type { Statement } from '../graph/words.ts';
import { type Evidence, evidenceByMessage, hasFallen, leaningIn, shownOf } from './forgotten.ts';

const evidence = (text: string, quote: string | null, given: Partial<Evidence> = {}): Evidence => ({
  ...{ memoryId: text, messageIds: ['m'], text, quote, forgotten: false },
  ...given,
});
const gone = (text: string, quote: string | null): Evidence => evidence(text, quote, { forgotten: true });
const TEA = evidence('Likes tea', 'I like tea');

describe('what is shown of a message', () => {
  it('is all of it while nothing that came of it is forgotten', () => {
    expect(shownOf('I like tea. I owe Bo.', { evidence: [TEA], wishes: [] })).toBeNull();
  });

  it('leaves out the words of what is forgotten, however they are spaced, and wherever they stand', () => {
    const bo = gone('Owes Bo', 'I owe Bo');
    expect(shownOf('I  OWE\nBo. I like tea. i owe bo!', { evidence: [TEA, bo], wishes: [] })).toBe(
      '[forgotten]. I like tea. [forgotten]!',
    );
    const parts = [
      { type: 'text' as const, text: 'I owe Bo' },
      { type: 'image_url' as const, image_url: { url: 'https://x.example/a.png' } },
    ];
    expect(shownOf(parts, { evidence: [TEA, bo], wishes: [] })).toEqual([
      { type: 'text', text: '[forgotten]' },
      parts[1],
    ]);
  });

  it('leaves out the rest of a sentence that says more of it', () => {
    const ida = gone("User's sister Ida works at Fjord Robotics", 'Ida works at Fjord');
    expect(shownOf('My sister Ida works at Fjord Robotics. I like tea.', { evidence: [TEA, ida], wishes: [] })).toBe(
      '[forgotten] I like tea.',
    );
  });

  it('is nothing where the words are not found in it, or no other memory leans on it', () => {
    const nothing = { withheld: 'forgotten' };
    expect(shownOf('I like tea, and Bo', { evidence: [TEA, gone('Owes Bo', 'owing Bo')], wishes: [] })).toEqual(
      nothing,
    );
    expect(shownOf('I owe Bo. So what?', { evidence: [gone('Owes Bo', 'I owe Bo')], wishes: [] })).toEqual(nothing);
    expect(shownOf('Forget Bo', { evidence: [], wishes: ['Forget Bo'] })).toEqual(nothing);
  });

  it.each([
    ['no end of a sentence', `${'x'.repeat(250_000)} I owe Bo ${'y'.repeat(250_000)}`],
    ['the words again and again', 'I owe Bo '.repeat(50_000)],
    ['the words again and again, each in a sentence of its own', 'I owe Bo. '.repeat(50_000)],
    ['nearly the words again and again', `I owe Bo. ${'I owe B'.repeat(70_000)}`],
    ['spaces between the words', `I owe Bo. ${`I${' '.repeat(5_000)}`.repeat(100)}`],
  ])('comes to an end in a text of half a million characters with %s', (_how, text) => {
    const shown = shownOf(`${text} I like tea.`, { evidence: [TEA, gone('Owes Bo', 'I owe Bo')], wishes: [] });
    expect(JSON.stringify(shown)).not.toMatch(/owe bo/iu);
  });

  it('is nothing of a text in which what to hide cannot be told from the rest', () => {
    const long = `${'and so on '.repeat(300)}I owe Bo`;
    expect(shownOf(`${long}. I like tea.`, { evidence: [TEA, gone('Owes Bo', 'I owe Bo')], wishes: [] })).toBe(
      '[forgotten]',
    );
    const page = 'I owe Bo, '.repeat(200);
    expect(shownOf(`${page}. I like tea.`, { evidence: [TEA, gone('Owes Bo', page)], wishes: [] })).toEqual({
      withheld: 'forgotten',
    });
  });

  it('is read as a text, never as a pattern', () => {
    const odd = gone('Owes (some) $1 + x*', 'I owe (some) $1 + x*');
    expect(shownOf('I owe (some) $1 + x*. I like tea.', { evidence: [TEA, odd], wishes: [] })).toBe(
      '[forgotten]. I like tea.',
    );
  });
});

describe('a statement', () => {
  const { holds } = statementsBy(fixedTools());
  const nameOf = (id: string): string => id;
  const falls = (statement: Statement, told: readonly Evidence[]): boolean =>
    hasFallen(statement, evidenceByMessage(told)(statement.messageIds), nameOf);
  const works = holds('Ida works_at Fjord', { messageIds: ['m'] });
  const sister = holds('User has_sister Ida', { messageIds: ['m'] });

  it('falls with what says most of it, and with nothing of other messages', () => {
    const told = [gone('Ida works at Fjord', null), evidence("User's sister is Ida", null)];
    expect([works, sister].map((one) => falls(one, told))).toEqual([true, false]);
    const elsewhere = [gone('Ida works at Fjord', null)].map((one) => ({ ...one, messageIds: ['n'] }));
    expect(falls(works, elsewhere)).toBe(false);
  });

  it('falls where it names somebody whom only what is forgotten names', () => {
    const told = [gone('User met Ida', null), evidence('User has a sister who works', null)];
    expect(falls(sister, told)).toBe(true);
  });

  it('stays while another memory says the same', () => {
    const told = [gone('Ida works at Fjord', null), evidence('Ida works at Fjord', null, { memoryId: 'other' })];
    expect(falls(works, told)).toBe(false);
    const would = leaningIn('other', { messages: [], evidence: told, wishes: [], statements: [works], nameOf });
    expect(would.statements).toEqual([works]);
  });
});
