import { describe, expect, it } from 'vitest';
import { decided, remembered } from './testing/ask.ts';

type Row = readonly [fact: string, memory: string, operations: readonly string[]];

const ROWS: readonly Row[] = [
  ['User lives in Bergen', 'User lives in Oslo (moved from Lisbon)', ['f0 UPDATE 0']],
  ['User lives in Oslo', 'User lives in Oslo (moved from Lisbon)', ['f0 NONE 0']],
  ['User lives in Oslo, Norway', 'User lives in Oslo', ['f0 UPDATE 0']],
  ['User lives in Bergen', 'Lives in Oslo', ['f0 UPDATE 0']],
  ['User lives in Bergen', "User's sister lives in Oslo", ['f0 ADD']],
  ['User lives in Bergen', 'User used to live in Rome', ['f0 ADD']],
  ['User lives in Bergen', 'User no longer lives in Oslo', ['f0 UPDATE 0']],
  ['User no longer lives in Oslo', 'User lives in Oslo', ['f0 DELETE 0', 'f0 ADD']],
  ['User no longer lives in Oslo', 'User lives in Bergen', ['f0 ADD']],
  ["User's name is Anna", "User's name is Ana", ['f0 UPDATE 0']],
  ["User's name is Ana", "User's name is Ana Silva", ['f0 NONE 0']],
  ['User is 35 years old', 'User is 34 years old', ['f0 UPDATE 0']],
  ['User works at Bmart as a doctor', 'User works at Acme as a nurse', ['f0 UPDATE 0']],
  ['User works at Acme', 'User works at Acme as a nurse', ['f0 NONE 0']],
  ['User works at Acme as a nurse', 'User works at Acme', ['f0 UPDATE 0']],
  ['User works as a nurse', 'User works at Acme', ['f0 ADD']],
  ['User no longer works at Acme', 'User works at Acme as a nurse', ['f0 DELETE 0', 'f0 ADD']],
  ['User left Acme', 'User works at Acme as a nurse', ['f0 DELETE 0', 'f0 ADD']],
  ['User left Oslo', 'User lives in Bergen', ['f0 ADD']],
  ["User's brother is getting married", "User's brother is a chef", ['f0 ADD']],
  ["User's email is a@b.c", "User's email is x@y.z", ['f0 UPDATE 0']],
  ['老婆是素食者', '老婆是老师', ['f0 ADD']],
  ["User's favourite colour is red", "User's favorite colour is blue", ['f0 UPDATE 0']],
  ["User's favourite food is pizza", "User's favourite colour is blue", ['f0 ADD']],
  ['User is married to Tom', 'User is single', ['f0 UPDATE 0']],
  ['User likes tea', 'User likes coffee', ['f0 ADD']],
  ['User loves coffee', 'User likes coffee', ['f0 NONE 0']],
  ['User no longer likes coffee', 'User loves coffee', ['f0 DELETE 0', 'f0 ADD']],
  ['User hates coffee', 'User likes coffee', ['f0 DELETE 0', 'f0 ADD']],
  ['User likes coffee', 'User does not like coffee', ['f0 DELETE 0', 'f0 ADD']],
  ['User is allergic to eggs', 'User is allergic to peanuts', ['f0 ADD']],
  ['User is allergic to peanuts', 'User is allergic to peanuts.', ['f0 NONE 0']],
  ['User is not allergic to peanuts', 'User is allergic to peanuts', ['f0 DELETE 0', 'f0 ADD']],
  ['User has a cat', 'User has a dog named Rex', ['f0 ADD']],
  ['User has a dog named Rex', 'User has a dog', ['f0 UPDATE 0']],
  ['User has three kids', 'User has two kids', ['f0 UPDATE 0']],
  ['User speaks Spanish', 'User speaks English', ['f0 ADD']],
  ['User wants it forgotten: User lives in Oslo', 'User lives in Oslo', ['f0 DELETE 0 forget']],
  ["User wants it forgotten: User's birthday", "User's birthday is 3 May", ['f0 DELETE 0 forget']],
  ["User wants it forgotten: User's birthday", 'User lives in Oslo', ['f0 DELETE forget']],
  ['住在北京', '住在上海', ['f0 UPDATE 0']],
  ['住在北京（从上海搬来）', '住在上海', ['f0 UPDATE 0']],
  ['住在北京', '妈妈住在成都', ['f0 ADD']],
  ['User lives in Bergen', '住在上海', ['f0 UPDATE 0']],
  ['不再喜欢咖啡', '喜欢咖啡', ['f0 DELETE 0', 'f0 ADD']],
  ['讨厌咖啡', '喜欢咖啡', ['f0 DELETE 0', 'f0 ADD']],
  ['喜欢茶', '喜欢咖啡', ['f0 ADD']],
  ['不再在腾讯工作', '在腾讯工作', ['f0 DELETE 0', 'f0 ADD']],
  ['在阿里巴巴工作', '在腾讯工作', ['f0 UPDATE 0']],
  ['对花生不过敏', '对花生过敏', ['f0 DELETE 0', 'f0 ADD']],
  ['今年29岁', '今年28岁', ['f0 UPDATE 0']],
  ['用户希望忘记：对花生过敏', '对花生过敏', ['f0 DELETE 0 forget']],
];

describe('deciding', () => {
  it.each(ROWS)('%s, knowing: %s', async (fact, memory, operations) => {
    expect(await decided([fact], [memory])).toEqual(operations);
  });

  it('adds what nothing is known of', async () => {
    expect(await decided(['User lives in Oslo', 'User likes tea'], [])).toEqual(['f0 ADD', 'f1 ADD']);
  });

  it('lets a later fact replace an earlier one of the same call', async () => {
    expect(await decided(['User lives in Oslo', 'User lives in Bergen'], [])).toEqual(['f0 ADD', 'f1 UPDATE f0']);
  });

  it('chains several changes of one memory', async () => {
    const facts = ['User lives in Oslo', 'User lives in Bergen'];
    expect(await decided(facts, ['User lives in Rome'])).toEqual(['f0 UPDATE 0', 'f1 UPDATE f0']);
  });

  it('leaves one home where there were two', async () => {
    const known = ['User lives in Rome', 'User lives in Oslo'];
    expect(await decided(['User lives in Bergen'], known)).toEqual(['f0 UPDATE 1', 'f0 DELETE 0']);
  });
});

describe('conversations', () => {
  it("keeps Ana's life straight", async () => {
    const posts = [
      "I'm Ana, I moved from Lisbon to Oslo last week and I'm allergic to peanuts",
      'I work as a nurse at Acme. I have a dog named Rex, and I love hiking and sushi.',
      "Actually I live in Bergen now. I don't like sushi any more.",
    ];
    expect(await remembered(posts)).toEqual([
      "User's name is Ana",
      'User is allergic to peanuts',
      'User works at Acme as a nurse',
      'User has a dog named Rex',
      'User loves hiking',
      'User lives in Bergen',
      'User no longer likes sushi',
    ]);
  });

  it('把小明的事记对', async () => {
    const posts = ['我叫小明，住在上海，喜欢吃辣的。', '我是医生，对花生过敏', '我搬到北京了，忘记我对花生过敏'];
    expect(await remembered(posts.slice(0, 2))).toEqual([
      '名字是小明',
      '住在上海',
      '喜欢吃辣的',
      '工作是医生',
      '对花生过敏',
    ]);
    expect(await remembered([...posts.slice(0, 2), '我搬到北京了。', '忘记我对花生过敏'])).toEqual([
      '名字是小明',
      '喜欢吃辣的',
      '工作是医生',
      '住在北京',
    ]);
  });

  it('adds nothing for what was said before', async () => {
    const once = ["I'm Ana and I live in Oslo."];
    expect(await remembered([...once, ...once])).toEqual(await remembered(once));
  });
});
