import {
  ARRANGED,
  engineBench,
  fakeChat,
  type GroundedFact,
  groundedFacts,
  INVENTED,
  MISARRANGED,
  processorMs,
  updatedFacts,
} from '@slowwave/engine-testing';
import { describe, expect, it } from 'vitest';
import { admit } from '../consolidation/extract/admit.ts';
import { asksForLanguage, UNSAID } from '../consolidation/extract/grounding.ts';
import { MISARRANGED as MISARRANGED_FOR } from '../consolidation/extract/said-so.ts';
import { type Spoken, spokenOf } from '../messages/messages.ts';
import { factsIn } from '../models/parse/listed.ts';
import { EXTRACT } from '../models/prompts/consolidation.ts';
import type { Role } from '../words.ts';

const AT = 1_773_050_400_000; // 2026-03-09T10:00:00Z

const spoken = (role: Role, content: string, seq: number): Spoken =>
  spokenOf({
    ...{ id: `msg_${seq}`, batchId: 'bat_1', clientId: null, role, name: null, resent: false, content },
    saidAt: { at: AT, seq },
  });

interface Written extends Pick<GroundedFact, 'text' | 'quote' | 'at'> {
  readonly said: readonly { readonly role: Role; readonly content: string }[];
}

interface Became {
  /** Why it is not remembered as the model wrote it; null where it is. */
  readonly reason: string | null;
  /** What is remembered; null where nothing is. */
  readonly text: string | null;
}

/** What becomes of a fact that a model has written. */
function becameOf({ text, quote, said, at }: Written, isTranslated = false): Became {
  const shown = new Map(said.map(({ role, content }, seq) => [`m${seq}`, spoken(role, content, seq)]));
  const read = factsIn({ facts: [{ text, quote, source_ids: [`m${at}`], about: 'user' }] });
  const found = [{ raw: read?.items ?? [], shown }];
  const admission = { inferred: true, agent: false, categories: ['misc'], ownOnly: false, before: [], isTranslated };
  const { facts, discards, remarks } = admit(found, admission);
  const why = remarks[0]?.did.replace('repaired: used the words of its quote instead, because ', '');
  const reason = facts[0]?.text === text ? null : (discards[0]?.reason ?? why ?? 'nothing');
  return { reason, text: facts[0]?.text ?? null };
}

const refusedFor = (written: Written, isTranslated = false): string | null => becameOf(written, isTranslated).reason;

describe('G21: what was said is remembered', () => {
  const kinds = Map.groupBy(groundedFacts(), ({ kind }) => kind);

  it.each([...kinds])('%s: at most 1% of what a good model writes is lost or put in other words', (kind, facts) => {
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

describe('G21: what has changed, ended, or was said wrongly is remembered', () => {
  const all = updatedFacts();
  const families = new Map([
    ...Map.groupBy(all, ({ kind }) => kind),
    ['answers to questions', all.filter(({ said }) => said.length > 1)],
    ['all', all],
  ]);

  it('as 500 facts of five languages tell, and translations', () => {
    expect(all.length).toBeGreaterThanOrEqual(500);
    expect(all.every(({ said, at, quote }) => said[at]?.content.includes(quote ?? '') === true)).toBe(true);
  });

  it.each([...families])('%s: at most 1% of what a good model writes is lost or put in other words', (_kind, facts) => {
    const lost = facts.flatMap((fact) => {
      const reason = refusedFor(fact, fact.kind === 'translated');
      return reason === null ? [] : [`${fact.text} (${reason})`];
    });
    expect(lost.length / facts.length, `of ${facts.length}: ${lost.join(', ')}`).toBeLessThanOrEqual(0.01);
  });

  const tongues = Map.groupBy(
    all.filter(({ kind, said }) => kind !== 'translated' && said.length === 1),
    ({ kind }) => kind,
  );

  it.each([...tongues])('%s: at most 1% of it is taken for what somebody else said', (_kind, own) => {
    const others = own.flatMap((fact, i) =>
      own.filter((other, at) => (at + i) % 12 === 0 && other !== fact).map((other) => ({ fact, other })),
    );
    const taken = others.filter(({ fact, other: { said } }) => {
      const quote = said[0]?.content ?? '';
      return refusedFor({ ...fact, said, quote }) === null;
    });
    const told = taken.map(({ fact, other }) => `${fact.text} of ${other.said[0]?.content}`);
    expect(taken.length, `of ${others.length}: ${told.join(', ')}`).toBeLessThanOrEqual(others.length / 100);
  });
});

describe('G21: what nobody said is not', () => {
  const reasons: readonly string[] = [...Object.values(UNSAID), MISARRANGED_FOR.loop];

  it.each(INVENTED)('$why: $text', ({ said, text, quote }) => {
    const became = becameOf({ said: [{ role: 'user', content: said }], at: 0, text, quote });
    expect(reasons).toContain(became.reason);
    expect([null, said]).toContain(became.text);
  });

  it('no fact of the examples of the prompt becomes a memory of who spoke of something else', () => {
    const answers = [...EXTRACT.system.matchAll(/ gives (\{"facts":.*\})$/gmu)].map(([, json = '']) =>
      JSON.parse(json),
    );
    const facts = answers.flatMap(({ facts }: { facts: Written[] }) => facts);
    expect(facts.length).toBeGreaterThanOrEqual(3);
    for (const { text, quote } of facts) {
      const said = [{ role: 'user' as const, content: 'My daughter starts school on Monday' }];
      const became = becameOf({ said, at: 0, text, quote });
      expect(reasons).toContain(became.reason);
      expect(became.text).toBeNull();
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

describe('G21: what was said is remembered as it was said', () => {
  const written = ({ said, text }: (typeof ARRANGED)[number]): Written => ({
    said: said.map(([role, content]) => ({ role, content })),
    ...{ at: said.length - 1, text, quote: said.at(-1)?.[1] ?? '' },
  });

  it.each(ARRANGED)('$text', (arranged) => {
    expect(refusedFor(written(arranged))).toBeNull();
    expect(refusedFor({ ...written(arranged), quote: null })).toBeNull();
  });

  it.each(MISARRANGED)('$why: not $text', ({ why: _why, ...arranged }) => {
    const { reason, text } = becameOf(written(arranged));
    expect(Object.values<string>(MISARRANGED_FOR)).toContain(reason);
    expect([null, ...arranged.said.map(([, content]) => content)]).toContain(text);
  });

  it.each([
    ['User has a cat. 2026-03-09T10:00:00.000Z', 'User has a cat.'],
    ['[2026-03-09T10:00:00.000Z] User has a cat', 'User has a cat'],
  ])('%s is remembered without the time of its message', (stamped, text) => {
    const said = [{ role: 'user' as const, content: 'I have a cat' }];
    expect(becameOf({ said, at: 0, text: stamped, quote: 'I have a cat' })).toEqual({
      reason: 'repaired: removed the time of the message from the text',
      text,
    });
  });

  it('a time of day is a number to be said, and no name', () => {
    const said = [{ role: 'user' as const, content: 'My flight to Oslo leaves on Thursday at 18:00' }];
    const text = "User's flight to Oslo leaves at 2026-03-12T18:00:00Z";
    const quote = 'leaves on Thursday at 18:00';
    expect(refusedFor({ said, at: 0, text, quote })).toBeNull();
  });
});

describe('G21: what users want forgotten is no fact', () => {
  const told = (content: string): Written['said'][number] => ({ role: 'user', content });
  const judged = (text: string, quote: string | null, ...said: readonly string[]): Became =>
    becameOf({ said: said.map(told), at: said.length - 1, text, quote });

  it.each([
    ['Please forget that I used to gamble.', "User's gamble is not allowed."],
    ['Please forget that I used to gamble.', 'User used to gamble'],
    ['Please forget that I used to gamble.', 'I used to gamble'],
    ['I want my gambling habit forgotten.', "User's gambling habit"],
    ['I moved to Ulm last week. Forget that I juggle on weekends!', 'User juggles on weekends'],
    ['Bitte vergiss, dass ich früher geraucht habe.', 'Nutzer hat früher geraucht'],
    ['Por favor, olvida que tengo un perro.', 'El usuario tiene un perro'],
    ["Oublie que j'ai un chien", "L'utilisateur a un chien"],
    ['请忘记我抽烟的事。', '用户抽烟'],
  ])('%s: not %s', (said, text) => {
    for (const quote of [said, null]) expect(judged(text, quote, said).text).toBeNull();
  });

  it('also where facts are written in another language', () => {
    const said = 'Bitte vergiss, dass ich früher geraucht habe. Ich wohne in Ulm.';
    const become = (text: string, quote: string): string | null =>
      becameOf({ said: [told(said)], at: 0, text, quote }, true).text;
    expect(become('User used to smoke', 'dass ich früher geraucht habe')).toBeNull();
    expect(become('User lives in Ulm', 'Ich wohne in Ulm')).toBe('User lives in Ulm');
  });

  it('also where it was said before', () => {
    const before = 'I gamble at weekends, mostly on horses.';
    expect(judged('User gambles on horses', 'I gamble on horses', before, 'Forget that I gamble on horses.')).toEqual({
      reason: UNSAID.wish,
      text: null,
    });
  });

  it.each([
    ['Forget tea, I drink coffee now', 'User drinks coffee'],
    ['Forget tea, I drink coffee now', 'User drinks coffee instead of tea'],
    ['Please forget my old address. I live in Bergen now.', 'User lives in Bergen'],
    ['Forget that I gamble. I like tea with milk.', 'User likes tea with milk'],
    ['Please forget that I juggle.', 'User wants it forgotten that they juggle'],
    ['My parents always forget my birthday', "User's parents always forget the user's birthday"],
    ['Vergiss den Tee, ich trinke jetzt Kaffee', 'Nutzer trinkt jetzt Kaffee'],
  ])('%s: but %s', (said, text) => {
    expect(judged(text, said, said)).toEqual({ reason: null, text });
  });
});

/** What people say, and what a good model makes of it. */
const EVERYDAY: readonly (readonly [said: string, text: string])[] = [
  ["I'm from the States originally", 'User is originally from the United States'],
  ['I moved to NYC last year', 'User moved to New York City in 2025'],
  ['I live in LA with my dog', 'User lives in Los Angeles with a dog'],
  ['I live in New York City with my dog', 'User lives in NYC with a dog'],
  ['My birthday is 3/4/1990', "User's birthday is March 4, 1990"],
  ['I have lived here since the 90s, in Graz', 'User has lived in Graz since the 1990s'],
  ['I earn 60k a year', 'User earns $60,000 a year'],
  ['I am 1m80 tall', 'User is 180 cm tall'],
  ["We got married on Valentine's Day 2020", 'User got married on February 14, 2020'],
  ['My flight is on Christmas Eve', "User's flight is on December 24, 2026"],
  ["I'm turning thirty next month", 'User turns 30 in April 2026'],
  ["I was born in '85", 'User was born in 1985'],
  ["I've been sober for a decade", 'User has been sober for 10 years'],
  ['I run half a dozen marathons a year', 'User runs 6 marathons a year'],
  ['My shift starts at quarter past 7 in the evening', "User's shift starts at 19:15"],
  ['My shift starts at a quarter to 8 in the evening', "User's shift starts at 19:45"],
  ['Mein Kurs beginnt abends um halb acht', 'Nutzer hat um 19:30 einen Kurs'],
  ['My shift starts at 7 in the evening', "User's shift starts at 7 PM"],
  ['ich wohne in München und arbeite bei Siemens', 'User lives in Munich'],
  ['我住在北京,在谷歌工作', 'User lives in Beijing and works at Google'],
  ['vivo en Londres', 'User lives in London'],
  ['I work for the UN in Geneva', 'User works for the United Nations in Geneva'],
  ['I got a job at MSFT', 'User got a job at Microsoft'],
  ['i use js and ts mostly', 'User mostly uses JavaScript and TypeScript'],
  ['I support man u', 'User supports Manchester United'],
  ['My brother is gonna visit in 2 weeks', "User's brother will visit around March 23, 2026"],
  ['I have 2 sons and 1 daughter', 'User has three children'],
  ['I paid twelve hundred for rent', 'User pays 1,200 for rent'],
  ['my dog is a gsd', 'User has a German Shepherd'],
  ['I drive a vw golf', 'User drives a Volkswagen Golf'],
  ['I have T2D', 'User has type 2 diabetes'],
  ['I am 5\'11" tall', 'User is 5 feet 11 inches tall'],
  ['I have adhd', 'User has ADHD (Attention Deficit Hyperactivity Disorder)'],
];

/** The same, with something in it that only those know who know the world. */
const WORLDLY: readonly (readonly [said: string, text: string])[] = [
  ['ich komme aus Köln', 'User is from Cologne, Germany'],
  ['Мой сын Иван учится в Москве', "User's son Ivan studies in Moscow"],
  ['I teach at the ETH since the summer', 'User teaches at the Swiss Federal Institute of Technology'],
  ['Nos casamos el día de la Mercè', 'User got married on September 24'],
];

describe('G21: what was said in other words', () => {
  const becameOfAll = (said: string, text: string, quote = said): Became =>
    becameOf({ said: [{ role: 'user', content: said }], at: 0, text, quote });

  it.each(EVERYDAY)('%s: %s', (said, text) => {
    expect(becameOfAll(said, text)).toEqual({ reason: null, text });
  });

  it('is found also without a quote', () => {
    const said = [{ role: 'user' as const, content: 'I live in SF' }];
    expect(refusedFor({ said, at: 0, text: 'User lives in San Francisco', quote: null })).toBeNull();
  });

  it.each(WORLDLY)('is remembered as it was said where the other words are unknown: %s', (said, text) => {
    expect(becameOfAll(said, text).text).toBe(said);
  });

  it('is remembered with the whole sentence of its quote, and no more', () => {
    const said = 'Hi again! I have never lived in Ulm before. Bye.\nSee you';
    const became = becameOfAll(said, 'User lived in Bergen', 'lived in Ulm before');
    expect(became.text).toBe('I have never lived in Ulm before.');
  });

  it.each([
    ['a question', 'Is it true that Ulm is nice?', 'User is from Bergen', 'that Ulm is nice'],
    ['a wish to forget', 'Please forget that I live in Ulm', 'User is from Bergen', 'that I live in Ulm'],
    ['too short', 'I have a dog', 'User is from Bergen', 'I have'],
    ['a greeting', 'Thank you so much!', 'User is from Bergen', 'Thank you so much'],
    ['nowhere', 'I have a dog', 'User is from Bergen', 'I come from Bergen'],
  ])('is not remembered in the words of a quote that is %s', (_what, ...[said, text, quote]) => {
    expect(becameOfAll(said, text, quote).text).toBeNull();
  });

  it('is not remembered in the words of a tool or an assistant', () => {
    for (const role of ['tool', 'assistant'] as const) {
      const said = [{ role, content: 'The customer moved to Porto in spring' }];
      const quote = 'moved to Porto in spring';
      expect(becameOf({ said, at: 0, text: 'User lives in Bergen', quote }).text).toBeNull();
    }
  });

  it.each([
    ['la casa de mi madre es grande', 'User lives in Los Angeles'],
    ['un perro y dos gatos viven conmigo', 'User works for the United Nations'],
  ])('small words are no abbreviations: %s', (said, text) => {
    expect(becameOfAll(said, text).text).toBe(said);
  });

  it('is noted in the plan where it is remembered in the words of its quote', async () => {
    const chat = fakeChat({
      extract_facts: () => ({
        facts: [{ text: 'User lives in Bergen', quote: 'We moved to Porto', source_ids: ['m0'], about: 'user' }],
      }),
    });
    const bench = await engineBench({ chat });
    const id = await bench.post(['We moved to Porto with two kids. It rains.']);
    await bench.run();
    expect(await bench.live()).toEqual(['We moved to Porto with two kids.']);
    expect((await bench.plan(id)).remarks).toEqual([
      {
        asked: 'User lives in Bergen',
        did: 'repaired: used the words of its quote instead, because it contains a name that nobody said',
      },
    ]);
  });
});

describe('G21: many facts held against many messages', () => {
  it('take about as long as few facts and few messages do together', () => {
    const MESSAGES = 1_500;
    const FACTS = 200;
    const taken = (messages: number, facts: number): number => {
      const shown = new Map(
        Array.from({ length: messages }, (_, i) => [
          `m${i}`,
          spoken('user', `Today I did thing ${i} and then slept`, i),
        ]),
      );
      const text = (i: number) => `User zork${i} blarg${i} ${'quux '.repeat(60)}and Vex${i.toString(36)}a`;
      const raw = Array.from({ length: facts }, (_, i) => ({ text: text(i), quote: `xxxxx${i}`, source_ids: ['m0'] }));
      const found = [{ raw: factsIn({ facts: raw })?.items ?? [], shown }];
      return processorMs(() => {
        const { discards } = admit(found, { inferred: true, agent: false, categories: [], ownOnly: false, before: [] });
        expect(discards).toHaveLength(facts);
      });
    };
    taken(10, 10);
    const apart = taken(MESSAGES, 1) + taken(1, FACTS);
    expect(taken(MESSAGES, FACTS) / apart).toBeLessThan(5);
  });

  it.each([
    ['a quote', 'moved to Porto we like'],
    ['a quote with an ellipsis', 'we moved … like figs'],
  ])('find %s in one message, not in two', (_what, quote) => {
    const said = [
      { role: 'user' as const, content: 'We moved to Porto' },
      { role: 'user' as const, content: 'We like figs' },
    ];
    const text = 'User bought a boat';
    expect(becameOf({ said, at: 0, text, quote })).toEqual({ reason: UNSAID.quote, text: null });
  });
});

/** What makes a fact one of its own: what differs in it from other facts of its form. */
const detailsOf = ({ text }: GroundedFact): readonly string[] => {
  const names = text.match(/(?<=\s)(?:\p{Lu}[\p{L}'-]+|[\d.,]+|[a-z0-9]+$)/gu) ?? [];
  return names.length > 0 ? names : [text.slice(-2)];
};
