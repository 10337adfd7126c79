import { type GroundedFact, groundedFacts, INVENTED } from '@slowwave/engine-testing';
import { describe, expect, it } from 'vitest';
import { admit } from '../consolidation/extract/admit.ts';
import { asksForLanguage, UNSAID } from '../consolidation/extract/grounding.ts';
import { type Spoken, spokenOf } from '../messages/messages.ts';
import { factsIn } from '../models/parse/listed.ts';
import { EXTRACT } from '../models/prompts/extract.ts';
import type { Role } from '../words.ts';

const AT = 1_773_050_400_000; // 2026-03-09T10:00:00Z

const spoken = (role: Role, content: string, seq: number): Spoken =>
  spokenOf({
    ...{ id: `msg_${seq}`, batchId: 'bat_1', clientId: null, role, name: null, resent: false, content },
    saidAt: { at: AT, seq },
  });

type Written = Pick<GroundedFact, 'text' | 'quote' | 'said' | 'at'>;

/** What becomes of a fact that a model has written: null where it is taken, else why not. */
function refusedFor({ text, quote, said, at }: Written, isTranslated = false): string | null {
  const shown = new Map(said.map(({ role, content }, seq) => [`m${seq}`, spoken(role, content, seq)]));
  const read = factsIn({ facts: [{ text, quote, source_ids: [`m${at}`], about: 'user' }] });
  const found = [{ raw: read?.items ?? [], shown }];
  const admission = { inferred: true, agent: false, categories: ['misc'], ownOnly: false, before: [], isTranslated };
  const { facts, discards } = admit(found, admission);
  return facts.length === 1 ? null : (discards[0]?.reason ?? 'nothing');
}

describe('G21: what was said is remembered', () => {
  const kinds = Map.groupBy(groundedFacts(), ({ kind }) => kind);

  it.each([...kinds])('%s: at most 1 % of what a good model writes is discarded', (kind, facts) => {
    const lost = facts.flatMap((fact) => {
      const reason = refusedFor(fact, kind === 'translated');
      return reason === null ? [] : [`${fact.text} (${reason})`];
    });
    expect(lost.slice(Math.floor(facts.length / 100))).toEqual([]);
  });

  it.each(['Write all facts in English.', 'Translate everything', '请用中文记录', 'Antworte auf Deutsch'])(
    'settings that say %j ask for another language',
    (text) => {
      expect(asksForLanguage([null, text])).toBe(true);
    },
  );

  it('settings that speak of something else do not', () => {
    expect(asksForLanguage([null, 'Remember what users like. Write short facts, in the words of the message.'])).toBe(
      false,
    );
  });
});

describe('G21: what nobody said is not', () => {
  const reasons: readonly string[] = Object.values(UNSAID);

  it.each(INVENTED)('$why: $text', ({ said, text, quote }) => {
    expect(reasons).toContain(refusedFor({ said: [{ role: 'user', content: said }], at: 0, text, quote }));
  });

  it('no fact of the examples of the prompt becomes a memory of who spoke of something else', () => {
    const answers = [...EXTRACT.system.matchAll(/ gives (\{"facts":.*\})$/gmu)].map(([, json = '']) =>
      JSON.parse(json),
    );
    const facts = answers.flatMap(({ facts }: { facts: Written[] }) => facts);
    expect(facts.length).toBeGreaterThanOrEqual(3);
    for (const { text, quote } of facts) {
      const said = [{ role: 'user' as const, content: 'My daughter starts school on Monday' }];
      expect(reasons).toContain(refusedFor({ said, at: 0, text, quote }));
    }
  });

  it('no fact of one conversation is taken for another, in any language', () => {
    const facts = groundedFacts().filter(({ kind, said }) => kind !== 'translated' && said.length === 1);
    const own = ({ text }: GroundedFact): string => text.replaceAll(/[^\p{Lu}\p{N}]/gu, '');
    const taken = facts.flatMap((fact) => {
      const others = facts.filter(
        (other) => other.kind === fact.kind && own(other) !== own(fact) && other.said !== fact.said,
      );
      return others
        .filter(({ said }) => !said.some(({ content }) => detailsOf(fact).every((detail) => content.includes(detail))))
        .filter(({ said, at }) => refusedFor({ ...fact, said, at }) === null)
        .map(({ said }) => `${fact.text} of ${said[0]?.content}`);
    });
    expect(taken).toEqual([]);
  });
});

/** What makes a fact one of its own: what differs in it from other facts of its form. */
const detailsOf = ({ text }: GroundedFact): readonly string[] => {
  const names = text.match(/(?<=\s)(?:\p{Lu}[\p{L}'-]+|[\d.,]+|[a-z0-9]+$)/gu) ?? [];
  return names.length > 0 ? names : [text.slice(-2)];
};
