import type { Vectors } from '../../models/vectors.ts';
import type { IndexHit } from '../../ports/search-index.ts';
import { fuse } from '../../search/hits.ts';
import { normaliseText } from '../../text/normalise.ts';
import { once, STOP_WORDS, terms } from '../../text/terms.ts';
import { compareIds } from '../fold.ts';
import type { Entity } from '../words.ts';
import type { SeenRelation } from './read-graph.ts';

/** Relations in a row: "Ana's sister's employer makes" are three. */
export const STEPS_MAX = 3;
/** What is left of a path's worth with a step that brings something the question wants, and with one that brings nothing. */
const STEP = { wanted: 0.95, idle: 0.5 } as const;
/** The part of its worth that a path has by its place alone. */
const BY_PLACE = 0.15;
/** Paths that are followed further: to each entity the best, and of all entities the best. */
const PER_ENTITY = 3;
const FOLLOWED_MAX = 150;

/** A way from where the question begins to an entity. */
interface Path {
  readonly entity: string;
  readonly passed: readonly string[];
  readonly cover: Cover;
  readonly worth: number;
}

interface Walked {
  /** By the ids of relations, the worth of the best path that ends with it, 0…1. */
  readonly scores: ReadonlyMap<string, number>;
  /** The entities that the best paths end at, best first. */
  readonly ends: readonly string[];
  /** There is a path that has all that the question wants. */
  readonly whole: boolean;
}

/**
 * Follows relations from where a question begins, in either direction. A path is worth more the more of the question's words
 * its relations have, each once; steps that bring nothing make it worth less.
 */
export function walkPaths(
  seeds: readonly Seed[],
  relations: readonly SeenRelation[],
  { wording, steps = STEPS_MAX }: { readonly wording: Wording; readonly steps?: number },
): Walked {
  const map = mapOf(relations, wording);
  const scores = new Map<string, number>();
  let paths: readonly Path[] = seeds.map(({ id, weight }) => ({
    ...{ entity: id, passed: [id], cover: map.none, worth: weight },
  }));
  let whole = false;
  for (let step = 0; step < steps; step += 1) {
    const further = paths.flatMap((path) => continued(path, map, scores));
    whole ||= map.wanted && further.some(({ cover }) => cover.every((value) => value > 0));
    paths = bestOf(further, map.most);
  }
  return { scores, whole, ends: [...new Set(paths.map(({ entity }) => entity))] };
}

interface Known {
  readonly relation: SeenRelation;
  readonly cover: Cover;
}

interface RelationMap {
  /** The question wants something, and there is a relation for all of it. */
  readonly wanted: boolean;
  /** A cover that has nothing. */
  readonly none: Cover;
  readonly around: ReadonlyMap<string, readonly Known[]>;
  /** All that any of the relations together have of the question. */
  readonly most: number;
}

function mapOf(relations: readonly SeenRelation[], wording: Wording): RelationMap {
  const around = new Map<string, Known[]>();
  const whole = relations.map(wording.cover);
  const covers = withoutIdle(whole);
  for (const [i, relation] of relations.entries()) {
    const known = { relation, cover: covers[i] ?? [] };
    for (const end of new Set([relation.source, relation.destination])) {
      const others = around.get(end) ?? [];
      others.push(known);
      around.set(end, others);
    }
  }
  const none = (covers[0] ?? []).map(() => 0);
  const wanted = none.length > 0 && none.length === whole[0]?.length;
  return { wanted, none, around, most: sum(covers.reduce(joined, none)) };
}

/** The path with each relation that goes on from its end; what those are worth is noted. */
function continued(path: Path, { around, most }: RelationMap, scores: Map<string, number>): Path[] {
  return (around.get(path.entity) ?? []).flatMap(({ relation, cover: own }) => {
    const entity = relation.source === path.entity ? relation.destination : relation.source;
    if (path.passed.includes(entity)) return [];
    const cover = joined(path.cover, own);
    const brings = most === 0 || sum(cover) > sum(path.cover);
    const next = {
      ...{ entity, passed: [...path.passed, entity], cover },
      worth: path.worth * (brings ? STEP.wanted : STEP.idle),
    };
    scores.set(relation.id, Math.max(scores.get(relation.id) ?? 0, merit(next, most)));
    return [next];
  });
}

const merit = ({ worth, cover }: Path, most: number): number =>
  worth * (most === 0 ? 1 : BY_PLACE + (1 - BY_PLACE) * (sum(cover) / most));

function bestOf(paths: readonly Path[], most: number): Path[] {
  const taken = new Map<string, number>();
  const inOrder = paths.toSorted((a, b) => merit(b, most) - merit(a, most) || compareIds(a.entity, b.entity));
  return inOrder
    .filter(({ entity }) => {
      const count = (taken.get(entity) ?? 0) + 1;
      taken.set(entity, count);
      return count <= PER_ENTITY;
    })
    .slice(0, FOLLOWED_MAX);
}

/** An entity that a question begins at. */
export interface Seed {
  readonly id: string;
  /** 0…1: how sure it is that the question is about it. */
  readonly weight: number;
  /** The words of the question that name it. */
  readonly terms: readonly string[];
}

/** Entities that are only like something in the question: few, and believed less than what is named. */
const LIKE_MAX = 3;
const LIKE_WEIGHT = 0.6;
/** Nobody is named: then it is about the owner, perhaps. */
const UNNAMED_WEIGHT = 0.5;

/**
 * The entities that are named. Of a name that is part of a longer one the longer counts: who asks for Ana Lopez does not ask
 * for Ana.
 */
export function namedSeeds(mentions: readonly string[], entities: readonly Entity[]): readonly Seed[] {
  const asked = new Set(mentions);
  const found = entities.map((entity) => ({ entity, names: namesOf(entity).filter((name) => asked.has(name)) }));
  const all = found.flatMap(({ names }) => names);
  const isPart = (name: string): boolean => all.some((other) => other !== name && other.includes(name));
  return found
    .filter(({ names }) => names.length === 0 || !names.every(isPart))
    .map(({ entity, names }) => ({ id: entity.id, weight: 1, terms: names.flatMap((name) => terms(name)) }));
}

/** Who asks, in their own words or because nobody else is named. */
export const selfSeed = (self: Entity, isNamed: boolean): Seed => ({
  id: self.id,
  weight: isNamed ? 1 : UNNAMED_WEIGHT,
  terms: [],
});

/** The entities whose names are like something in the question. */
export const likeSeeds = (hits: readonly IndexHit[], vectors: Vectors): readonly Seed[] =>
  fuse(hits, { mode: 'hybrid', vectors })
    .slice(0, LIKE_MAX)
    .filter(({ score }) => score > 0)
    .map(({ hit: { point }, score }) => ({
      id: point.memoryId,
      weight: LIKE_WEIGHT * score,
      terms: terms(point.text),
    }));

const namesOf = ({ name, aliases }: Entity): string[] => [name, ...aliases].map(normaliseText);

/** Characters of a question in which names are looked for: in a longer one somebody has pasted a document. */
const READ = 1_000;
/** Words of the longest name that is looked for, and characters where a script puts no spaces between words. */
const WORDS_MAX = 4;
const CHARACTERS = { least: 2, most: 6 } as const;
/** Names that are looked up at once: of longer questions those that come first. */
const NAMES_MAX = 256;

/** Everything in a question that may be somebody's or something's name, in the form in which names are compared. */
export function mentionsIn(question: string): readonly string[] {
  const names = new Set<string>();
  const words = normaliseText(question.slice(0, READ)).split(BETWEEN_WORDS).map(withoutSigns).filter(isWord);
  for (const [at, word] of words.entries()) {
    for (const run of word.match(UNSPACED) ?? []) for (const part of partsOf(run)) names.add(part);
    for (let count = 1; count <= WORDS_MAX && at + count <= words.length; count += 1) {
      for (const name of spellings(words.slice(at, at + count))) names.add(name);
    }
  }
  return [...names].slice(0, NAMES_MAX);
}

/** Whether a question is about who asks: their own entity has no name in it. */
export const isAboutSelf = (question: string): boolean => SELF.test(normaliseText(question.slice(0, READ)));

const SELF = /(?<![\p{L}\p{N}])(?:i|me|my|mine|myself|the user)(?![\p{L}\p{N}])|我|本人/u;

const BETWEEN_WORDS = /[\s,;:!?()[\]{}"“”„«»…。、，；：！？（）「」『』《》]+/u;
const UNSPACED = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Script=Thai}\u30fc]+/gu;
const POSSESSIVE = /['’](?:s)?$/u;

const withoutSigns = (word: string): string => word.replace(/^[.'’\-/]+/u, '').replace(/[.\-/]+$/u, '');
const isWord = (word: string): boolean => word !== '';

/** As it stands there, and without what says whose something is: "ana's" may be Ana, "levi's" may be Levi's. */
function spellings(words: readonly string[]): string[] {
  if (words.every((word) => STOP_WORDS.has(word))) return [];
  const name = words.join(' ');
  const bare = name.replace(POSSESSIVE, '');
  return bare === name || bare === '' ? [name] : [name, bare];
}

function partsOf(run: string): string[] {
  const characters = [...run];
  const lengths = Array.from({ length: CHARACTERS.most - CHARACTERS.least + 1 }, (_, i) => CHARACTERS.most - i);
  return characters.flatMap((_, at) =>
    lengths.flatMap((length) => {
      const part = characters.slice(at, at + length);
      return part.length === length ? [part.join('')] : [];
    }),
  );
}

/** Terms of a question that are looked for on paths: a longer question is no chain of relationships. */
const WANTED_MAX = 64;
/** What it is worth when a relation has a term of the question: as its relationship, by its meaning, in a name, or nearly. */
const WORTH = { relationship: 1, same: 0.9, name: 0.7, near: 0.4 } as const;

/** How much of what a question wants a relation has: one number for each wanted term. */
type Cover = readonly number[];

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
  const byRelationship = once((relationship: string) => {
    const words = relationshipTerms(relationship);
    const meaning = meaningOf(words);
    return { words, worths: asked.map((one) => worthOf(one, { words, meaning })) };
  });
  const byName = once(terms);
  const coverNamed = once((name: string) => {
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

/** Of what is wanted only what any of the covers has: the rest distinguishes no path from another. */
function withoutIdle(covers: readonly Cover[]): readonly Cover[] {
  const used = (covers[0] ?? []).map((_, i) => covers.some((cover) => (cover[i] ?? 0) > 0));
  return covers.map((cover) => cover.filter((_, i) => used[i]));
}

const joined = (a: Cover, b: Cover): Cover => a.map((value, i) => Math.max(value, b[i] ?? 0));
const sum = (cover: Cover): number => cover.reduce((total, value) => total + value, 0);

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
