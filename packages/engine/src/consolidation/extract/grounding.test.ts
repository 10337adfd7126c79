import { type GroundedFact, groundedFacts, INVENTED } from '@slowwave/engine-testing';
import { describe, expect, it } from 'vitest';
import { type Spoken, spokenOf } from '../../messages/messages.ts';
import { atOnce } from '../../ports/tools.ts';
import type { Role } from '../../words.ts';
import { groundingIn, lookingIn } from './grounding.ts';

interface Written extends Pick<GroundedFact, 'text' | 'quote' | 'at'> {
  readonly said: readonly { readonly role: Role; readonly content: string }[];
}

/** Whether a fact is plain, and why it was not said where it is held against everything. */
function judged({ text, quote, said, at }: Written) {
  const window = said.map(({ role, content }, seq) => spoken(role, content, seq));
  const looking = lookingIn(window, []);
  const grounding = groundingIn(
    { window, before: [], summary: null, instructions: null, isTranslated: false },
    looking,
  );
  const sources = window.slice(at, at + 1).map(({ message }) => message);
  const made = { raw: { text, quote }, sources, isExact: looking.saidIn(sources, quote ?? '') };
  return { isPlain: grounding.isPlain(made), why: atOnce(grounding.whyUnsaid(made)) };
}

const spoken = (role: Role, content: string, seq: number): Spoken =>
  spokenOf({
    ...{ id: `msg_${seq}`, batchId: 'bat_1', clientId: null, role, name: null, resent: false, content },
    saidAt: { at: 1_773_050_400_000, seq }, // 2026-03-09T10:00:00Z
  });

const by = (said: string, text: string): Written => ({
  ...{ said: [{ role: 'user', content: said }], at: 0 },
  ...{ text, quote: said },
});

/** What models write, and what they could have copied: each message, and every run of its words. */
const WRITTEN: readonly Written[] = [
  ...groundedFacts(),
  ...groundedFacts().flatMap(({ said, at }) =>
    runsOf(said[at]?.content ?? '').map((text) => by(said[at]?.content ?? '', text)),
  ),
  ...INVENTED.map(({ said, text, quote }) => ({ ...by(said, text), quote })),
  ...INVENTED.map(({ said, text }) => by(said, text)),
];

function runsOf(text: string): readonly string[] {
  const words = text.split(' ');
  return words.flatMap((_, from) =>
    words.slice(from).map((_word, more) => words.slice(from, from + more + 1).join(' ')),
  );
}

describe('a fact that is plain', () => {
  it('is one that holds against all that was said, too', () => {
    const plain = WRITTEN.map((written) => ({ ...written, ...judged(written) })).filter(({ isPlain }) => isPlain);
    expect(plain.length).toBeGreaterThan(WRITTEN.length / 2);
    expect(plain.filter(({ why }) => why !== null)).toEqual([]);
  });

  it.each([
    ['user-12 has reached level 4', 'user-12 has reached level 4'],
    ['Well, my dog Rex bit the postman!', 'my dog Rex bit the postman'],
    ['Ich wohne jetzt in Köln, am Rhein', 'Ich wohne jetzt in Köln'],
    ['我上周搬到上海了', '我上周搬到上海了'],
  ])('stands in a message word for word: %s', (said, text) => {
    expect(judged(by(said, text))).toEqual({ isPlain: true, why: null });
  });

  it.each([
    ['user-12 has reached level 41', 'user-12 has reached level 4'],
    ['We once met superuser-12 on level 4', 'user-12 on level 4'],
    ['Ich mag Nachtwächtermusik von früher', 'Nachtw'],
    ['My dog is called Rex', 'My cat is called Rex'],
    ['Tengo veinte gatos y cinco perros', 'Tengo veinte gatos y cinco perros'],
  ])('does not end within a word, say another one or have numbers in words: %s', (said, text) => {
    expect(judged(by(said, text)).isPlain).toBe(false);
  });
});
