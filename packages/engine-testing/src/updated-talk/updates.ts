import type { GroundedFact } from '../grounded-talk.ts';
import { CHINESE } from './chinese.ts';
import { ENGLISH } from './english.ts';
import { FRENCH } from './french.ts';
import { GERMAN } from './german.ts';
import { SPANISH } from './spanish.ts';
import { TRANSLATED } from './translated.ts';

/** Each line: a question where one was asked, what was said with the quote in brackets, and what a good model writes of it. */
const TALK: Readonly<Record<string, string>> = {
  ...{ English: ENGLISH, German: GERMAN, Spanish: SPANISH, French: FRENCH, Chinese: CHINESE, translated: TRANSLATED },
};

/** What people say when something has changed or ended, was said wrongly or is asked for, and what is remembered of it. */
export const updatedFacts = (): readonly GroundedFact[] =>
  Object.entries(TALK).flatMap(([kind, lines]) =>
    lines
      .trim()
      .split('\n')
      .map((line) => read(kind, line)),
  );

const LINE = /^(?:(?<asked>.+) > )?(?<before>.*)\[(?<quote>.+)\](?<after>.*) = (?<text>.+)$/u;

function read(kind: string, line: string): GroundedFact {
  const { asked, before = '', quote = '', after = '', text = '' } = LINE.exec(line)?.groups ?? {};
  const told = { role: 'user' as const, content: `${before}${quote}${after}` };
  const said = asked === undefined ? [told] : [{ role: 'assistant' as const, content: asked }, told];
  return { said, at: said.length - 1, text, quote, kind };
}
