import { anyCharacter } from '@slowwave/engine-testing';
import { array, assert as check, constantFrom, property, string, uniqueArray } from 'fast-check';
import { describe, expect, test } from 'vitest';
import { containment, overlap, overlapsBy, remembering, termSet, terms, withoutFrame, wordsOf } from './terms.ts';

test('words of ASCII are those that the text has beside a word of another script', async () => {
  const part = constantFrom('a', 'B', '7', '.', '_', "'", '`', '+', '#', ' ', "n't", "'s", 'c++', '\n', '-');
  const ascii = array(part, { maxLength: 30 }).map((parts) => parts.join(''));
  await check(
    property(ascii, (text) => {
      expect([...wordsOf(text), { kind: 'unspaced', text: '京' }]).toEqual(wordsOf(`${text} 京`));
    }),
    { numRuns: 2_000 },
  );
});

test('terms overlap by so much if their overlap is as much', async () => {
  const any = uniqueArray(constantFrom(...'abcdefghijklm'), { maxLength: 12 }).map((terms) => new Set(terms));
  await check(
    property(any, any, constantFrom(0.5, 0.75, 0.9, 1), (a, b, least) => {
      expect(overlapsBy(least, a, b)).toBe(overlap(a, b) >= least);
    }),
    { numRuns: 2_000 },
  );
});

test('what was made of the last texts is remembered, and of no more', () => {
  let made = 0;
  const remembered = remembering<number>({ max: 10, length: 5 });
  const ask = (text: string): number =>
    remembered(text, () => {
      made += 1;
      return text.length;
    });
  for (let i = 0; i < 5; i += 1) expect([ask(`t${i}`), ask(`t${i}`)]).toEqual([2, 2]);
  expect(made).toBe(5);
  for (let i = 0; i < 5; i += 1) ask(`t${i}`);
  expect(made).toBe(5);
  for (let i = 0; i < 20; i += 1) ask(`u${i}`);
  ask('t0');
  expect(made).toBe(26);
  expect([ask('too long'), ask('too long')]).toEqual([8, 8]);
  expect(made).toBe(28);
});

describe('terms', () => {
  test.each([
    ['Ann works at the hospitals', ['ann', 'work', 'hospit']],
    ['She bought shelves and went to the children', ['bui', 'shelf', 'go', 'child']],
    ["it's John’s dog, isn't it?", ['john', 'dog']],
    ["O'Brien can't come", ['obrien', 'come']],
    ["l'École à Lyon", ['ecol', 'lyon']],
    ['Rogério, café, Straße', ['rogerio', 'cafe', 'strass']],
    ['C++ and C# and F#', ['c++', 'c#', 'f#']],
    ['node.js', ['node.js', 'node', 'js']],
    ['user_id', ['user_id', 'user', 'id']],
    ['the U.S. and Washington, D.C..', ['us', 'washington', 'dc']],
    ['3.14 on 2024-05-01', ['3.14', '2024', '05', '01']],
    ['well-known', ['well', 'know']],
    ['issue#5', ['issu', '5']],
    ['ＡＢＣ ﬁnd', ['abc', 'find']],
    ['Привет, мир!', ['привет', 'мир']],
    ['नमस्ते हिंदी', ['नमस्ते', 'हिंदी']],
    ['我爱北京', ['我', '爱', '北', '京', '我爱', '爱北', '北京']],
    ['北京。东京', ['北', '京', '北京', '东', '京', '东京']],
    ['GPT模型', ['gpt', '模', '型', '模型']],
    ['タワー', ['タ', 'ワ', 'ー', 'タワ', 'ワー']],
    ['한국', ['한', '국', '한국']],
    ['𠮷野', ['𠮷', '野', '𠮷野']],
    ['👍🏽 ❤️ 👨‍👩‍👧 🇩🇪', ['👍', '❤', '👨', '👩', '👧', '🇩🇪']],
    ['it is * " \' () -- not', []],
    ['', []],
  ])('%j has the terms %j', (text, expected) => {
    expect(terms(text)).toEqual(expected);
  });

  test.each([
    ['User lives in Oslo', ['live', 'oslo']],
    ["The user's dog is called Rex", ['dog', 'call', 'rex']],
    ['What does the user like?', ['like']],
    ['Nutzer wohnt in Halle', ['wohnt', 'hall']],
    ['用户住北京', ['住', '北', '京', '住北', '北京']],
    ['User manages the users table', ['manag', 'user', 'tabl']],
    ['users table', ['user', 'tabl']],
    ['user', ['user']],
  ])('the frame of %j has none: %j', (text, expected) => {
    expect(terms(text)).toEqual(expected);
  });

  test('repeats are kept, for they count', () => {
    expect(terms('tea, tea and more tea')).toEqual(['tea', 'tea', 'tea']);
  });

  test('accents typed as separate characters make no difference', () => {
    expect(terms('Rogério'.normalize('NFD'))).toEqual(terms('Rogério'));
  });

  test('an endless word is cut to a term of bearable length', () => {
    expect(terms('a'.repeat(100_000)).map((term) => term.length)).toEqual([64]);
  });

  test('a long run without spaces gives each character and each pair once per place', () => {
    expect(terms('哈'.repeat(50_000))).toHaveLength(99_999);
  });

  test.each(['a.', "a'", 'ab_', "'", '+', 'a#', '👨‍👩‍👧', '\ud800', 'e\u0301', '#'])(
    'a long run of %j is read without trouble',
    (unit) => {
      expect(terms(unit.repeat(50_000)).every((term) => term.length > 0)).toBe(true);
    },
  );

  test('no term has white space, capital letters or half characters', async () => {
    await check(
      property(string({ unit: anyCharacter }), (text) => {
        for (const term of terms(text)) {
          expect(term).not.toMatch(/\s/u);
          expect(term).toBe(term.toLowerCase().toWellFormed());
        }
      }),
    );
  });
});

test('a text has the same terms each time, however many others were asked for in between', () => {
  const text = 'Ana runs along the river; she ran yesterday, too. 她住在北京';
  const first = termSet(text);
  expect([...first]).toEqual([...new Set(terms(text))]);
  expect(termSet(text)).toBe(first);
  for (let i = 0; i < 11_000; i += 1) termSet(`text ${i}`);
  expect(termSet(text)).not.toBe(first);
  expect(termSet(text)).toEqual(first);
});

describe('overlap', () => {
  test('the same in other words of the same stems is 1', () => {
    expect(overlap('Ann likes the teas', 'Ann liked tea!')).toBe(1);
  });

  test('nothing shared is 0', () => {
    expect(overlap('Ann likes tea', 'Bob plays chess')).toBe(0);
  });

  test('it is the shared part of all terms, whichever text comes first', () => {
    expect(overlap('Ann likes tea', 'Ann likes coffee')).toBe(0.5);
    expect(overlap('Ann likes coffee', 'Ann likes tea')).toBe(0.5);
  });

  test('prepared terms give the same answer as the text', () => {
    expect(overlap(termSet('Ann likes tea'), 'Ann likes coffee')).toBe(0.5);
  });

  test('texts without terms are alike only if they are equal', () => {
    expect(overlap('not me!', 'Not me')).toBe(1);
    expect(overlap('??', '!!')).toBe(0);
    expect(overlap('', 'tea')).toBe(0);
  });
});

describe('containment', () => {
  test('a fact inside a longer message is contained in full', () => {
    expect(containment('likes green tea', 'Well, I really like drinking green tea at night')).toBe(1);
    expect(containment('Well, I really like drinking green tea at night', 'likes green tea')).toBeLessThan(1);
  });

  test('it is the part of the first that the second says', () => {
    expect(containment('Ann likes tea milk', 'milk and tea')).toBe(0.5);
  });
});

describe('withoutFrame', () => {
  test.each([
    ['User lives in Oslo', 'lives in Oslo'],
    ["User's dog is called Rex", 'dog is called Rex'],
    ['The user’s dog is called Rex', 'dog is called Rex'],
    ['the user, who is 34, likes tea', ', who is 34, likes tea'],
    ['"User likes tea"', 'likes tea"'],
    ['Nutzer wohnt in Halle', 'wohnt in Halle'],
    ['Die Nutzerin wohnt in Halle', 'wohnt in Halle'],
    ['El usuario vuela a Nukualofa', 'vuela a Nukualofa'],
    ['Al usuario le gusta el té', 'le gusta el té'],
    ["L'utilisateur habite à Nantes", 'habite à Nantes'],
    ['L’utente abita a Roma', 'abita a Roma'],
    ['O usuário mora em Lisboa', 'mora em Lisboa'],
    ['У пользователя есть кошка', 'есть кошка'],
    ['De gebruiker woont in Gent', 'woont in Gent'],
    ['用户住在北京', '住在北京'],
    ['用户的猫走丢了', '猫走丢了'],
    ['用户名叫安娜', '名叫安娜'],
    ['ユーザーは京都に住んでいる', '京都に住んでいる'],
    ['사용자는 서울에 산다', '서울에 산다'],
  ])('of %j it is %j', (text, left) => {
    expect(withoutFrame(text).trim()).toBe(left);
  });

  test.each([
    ['What does the user like?', 'What does like?'],
    ["what is the user's name", 'what is name'],
    ['does the user have a dog', 'does have a dog'],
    ['I cook tonight. What is the user allergic to?', 'I cook tonight. What is allergic to?'],
    ['Was trinkt der Nutzer?', 'Was trinkt ?'],
    ['¿Qué le gusta al usuario?', '¿Qué le gusta ?'],
    ["Où habite l'utilisateur ?", 'Où habite ?'],
    ['你知道用户喜欢什么吗？', '你知道 喜欢什么吗？'],
  ])('nobody is asked for in %j: %j', (question, left) => {
    expect(withoutFrame(question).replace(/ +/g, ' ')).toBe(left);
  });

  test.each([
    'Ann lives in Oslo',
    'Users of the library pay nothing',
    'users table',
    'A user of the library pays nothing',
    'Can a user pay by card?',
    'User interfaces are what Ann draws',
    'user_id is the key of the table',
    'user@example.org is the address',
    'User-friendly software is rare',
    'Which user groups are there?',
    'What do users say?',
    'Coriander tastes awful to the user',
    'Username and password are kept apart',
    '用户们喜欢它',
    '用户名是anna',
    'ユーザーインターフェースを作る',
    'user',
    'The user',
    '用户',
    'User?',
    '',
  ])('%j has none, or is nothing else', (text) => {
    expect(withoutFrame(text)).toBe(text);
  });

  test('only the beginning is one', () => {
    expect(withoutFrame('User manages the users table of the user database').trim()).toBe(
      'manages the users table of the user database',
    );
  });
});
