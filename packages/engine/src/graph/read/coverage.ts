import { terms } from '../../text/terms.ts';
import type { SeenRelation } from './seen.ts';

/** Terms of a question that are looked for on paths: a longer question is no chain of relationships. */
const WANTED_MAX = 64;
/** What it is worth when a relation has a term of the question: as its relationship, by its meaning, in a name, or nearly. */
const WORTH = { relationship: 1, same: 0.9, name: 0.7, near: 0.4 } as const;

/** How much of what a question wants a relation has: one number for each wanted term. */
export type Cover = readonly number[];

/** What a question asks for, without the names it begins at. */
export const wantedOf = (question: readonly string[], named: ReadonlySet<string>): readonly string[] =>
  [...new Set(question)].filter((term) => !named.has(term)).slice(0, WANTED_MAX);

/** The words of relations, each name and relationship taken apart once: the same come again and again. */
export interface Wording {
  /** The terms of a relation, as it reads. */
  terms(relation: SeenRelation): readonly string[];
  cover(relation: SeenRelation): Cover;
}

export function wordingFor(wanted: readonly string[]): Wording {
  const asked = wanted.map((term) => ({ term, meaning: meaningOf([term]) }));
  const byRelationship = once((relationship) => {
    const words = relationshipTerms(relationship);
    const meaning = meaningOf(words);
    return { words, worths: asked.map((one) => worthOf(one, { words, meaning })) };
  });
  const byName = once(terms);
  const coverNamed = once((name) => {
    const words = new Set(byName(name));
    return wanted.map((term) => (words.has(term) ? WORTH.name : 0));
  });
  return {
    terms: ({ sourceName, relationship, destinationName }) => [
      ...byName(sourceName),
      ...byRelationship(relationship).words,
      ...byName(destinationName),
    ],
    cover: ({ sourceName, relationship, destinationName }) =>
      joined(byRelationship(relationship).worths, joined(coverNamed(sourceName), coverNamed(destinationName))),
  };
}

interface Asked {
  readonly term: string;
  readonly meaning: ReturnType<typeof meaningOf>;
}

interface Has {
  readonly words: readonly string[];
  readonly meaning: ReturnType<typeof meaningOf>;
}

function worthOf({ term, meaning }: Asked, has: Has): number {
  if (has.words.includes(term)) return WORTH.relationship;
  if (meets(meaning.same, has.meaning.same)) return WORTH.same;
  return meets(meaning.near, has.meaning.near) ? WORTH.near : 0;
}

const meets = (a: ReadonlySet<number>, b: ReadonlySet<number>): boolean => [...a].some((one) => b.has(one));

function once<T>(make: (text: string) => T): (text: string) => T {
  const made = new Map<string, T>();
  return (text) => {
    const known = made.get(text) ?? make(text);
    made.set(text, known);
    return known;
  };
}

/** Of what is wanted only what any of the covers has: the rest tells no path from another. */
export function withoutIdle(covers: readonly Cover[]): readonly Cover[] {
  const used = (covers[0] ?? []).map((_, i) => covers.some((cover) => (cover[i] ?? 0) > 0));
  return covers.map((cover) => cover.filter((_, i) => used[i]));
}

export const joined = (a: Cover, b: Cover): Cover => a.map((value, i) => Math.max(value, b[i] ?? 0));
export const sum = (cover: Cover): number => cover.reduce((total, value) => total + value, 0);

/**
 * Words that ask for the same relationship. A question says "employer" where the relation says "works at", and may be in
 * another language than the relation's name: without a learnt model nothing else knows that they belong together.
 */
const SAME: readonly string[] = [
  'work works working employer employee employed employ employs job company boss office 工作 雇主 公司 上班 任职 老板 单位',
  'live lives living home resident reside resides address residence 居住 住在 住址 家住 住',
  'born birthplace birth native 出生 故乡 老家',
  'married marry marries spouse husband wife partner wedding 结婚 配偶 丈夫 妻子 老公 老婆 爱人',
  'parent parents 父母 家长',
  'mother mom mum 母亲 妈妈',
  'father dad 父亲 爸爸',
  'child children kid kids 孩子 子女',
  'son 儿子',
  'daughter 女儿',
  'sibling siblings 兄弟姐妹',
  'sister 姐姐 妹妹 姐妹',
  'brother 哥哥 弟弟 兄弟',
  'grandmother grandma 奶奶 外婆 祖母',
  'grandfather grandpa 爷爷 外公 祖父',
  'friend friends friendship buddy 朋友 好友',
  'colleague colleagues coworker teammate 同事',
  'neighbour neighbor 邻居',
  'make makes making produce produces manufacture manufactures build builds sell sells 生产 制造 出售',
  'own owns have has owner 拥有 养了 养',
  'pet pets dog cat 宠物',
  'study studies student school university college attend attends learn learns 学习 学校 大学 上学 学生',
  'teach teaches teacher professor 教 老师 教师',
  'like likes love loves enjoy enjoys prefer prefers favourite favorite hobby fond 喜欢 喜爱 爱好',
  'located location city country town headquarters seat based 位于 城市 国家 地方 总部',
  'founded founder found founds creator 创办 创始人 创立',
  'speak speaks language languages 会说 语言',
  'drive drives car 开车 汽车',
  'play plays player game instrument sport 打球 演奏',
];

/** Words of one field: who asks for a parent may mean the mother, and hardly the employer. */
const NEAR: readonly string[] = [
  'parent parents mother mom mum father dad child children kid son daughter 父母 母亲 妈妈 父亲 爸爸 孩子 儿子 女儿',
  'sibling siblings sister brother 姐姐 妹妹 姐妹 哥哥 弟弟 兄弟',
  'grandparent grandmother grandfather grandson granddaughter grandchild 爷爷 奶奶 外公 外婆 孙子 孙女',
  'have has own owns pet pets dog cat 宠物 拥有 养',
  'make makes produce produces product products 生产 产品',
  'live lives home located city country town based 住 城市 国家 位于',
];

type Table = ReadonlyMap<string, ReadonlySet<number>>;

const SAME_AS = tableOf(SAME);
const NEAR_TO = tableOf(NEAR);

/** What a term means, and what field it belongs to; both empty where it is not in the tables. */
interface Meaning {
  readonly same: ReadonlySet<number>;
  readonly near: ReadonlySet<number>;
}

const meaningOf = (words: readonly string[]): Meaning => ({
  same: groupsOf(SAME_AS, words),
  near: groupsOf(NEAR_TO, words),
});

const groupsOf = (table: Table, words: readonly string[]): ReadonlySet<number> =>
  new Set(words.flatMap((word) => [...(table.get(word) ?? [])]));

function tableOf(groups: readonly string[]): Table {
  const table = new Map<string, Set<number>>();
  for (const [group, words] of groups.entries()) {
    for (const key of words.split(' ').flatMap(keysOf)) table.set(key, (table.get(key) ?? new Set()).add(group));
  }
  return table;
}

/** The terms of a relationship's name: works_at → work. */
const relationshipTerms = (relationship: string): readonly string[] => terms(relationship.replaceAll('_', ' '));

/** Of a word without spaces around it only itself: its single characters say other things. */
function keysOf(word: string): readonly string[] {
  if (/^[a-z]+$/.test(word)) return terms(word);
  return [word];
}
