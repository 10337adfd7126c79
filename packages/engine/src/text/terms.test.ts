import { assert as check, property, string } from 'fast-check';
import { describe, expect, test } from 'vitest';
import { terms } from './terms.ts';

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
      property(string({ unit: 'binary' }), (text) => {
        for (const term of terms(text)) {
          expect(term).not.toMatch(/\s/u);
          expect(term).toBe(term.toLowerCase().toWellFormed());
        }
      }),
    );
  });
});
