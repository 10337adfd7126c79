/** An entity by its name, as a rule found it. */
export interface Named {
  readonly name: string;
  readonly kind: 'person' | 'animal' | 'organisation' | 'place' | 'product' | 'activity' | 'concept' | 'thing';
}

/** A relation of a subject, as a rule found it. */
export interface Predicated {
  readonly relationship: string;
  readonly destination: Named;
  readonly said: 'holds' | 'ended';
  /** It held in the past only. */
  readonly past?: boolean;
}

/** The user, under the name that the engine knows. */
export const USER: Named = { name: 'user', kind: 'person' };

/** A relation with its subject. */
export interface Triple extends Predicated {
  readonly source: Named;
}

/** What a sentence says: relations, and a name of the user. */
export interface Sayings {
  readonly triples: readonly Triple[];
  readonly userNames: readonly string[];
}

/** How somebody near is related, in general words. */
interface Kinship {
  readonly relationship: string;
  readonly kind: Named['kind'];
}

const KIN: Readonly<Record<string, string>> = {
  married_to: 'wife husband spouse 老婆 妻子 太太 爱人 老公 丈夫 先生',
  dating: 'girlfriend boyfriend 女朋友 男朋友 女友 男友 对象',
  partner_of: 'partner',
  engaged_to: 'fiance fiancé fiancee fiancée 未婚妻 未婚夫',
  has_mother: 'mother mom mum 妈妈 母亲 妈 老妈',
  has_father: 'father dad 爸爸 父亲 爸 老爸',
  has_sister: 'sister 姐姐 妹妹 姐 妹 二姐',
  has_brother: 'brother 哥哥 弟弟 哥 弟 大哥',
  has_son: 'son 儿子 大儿子 小儿子',
  has_daughter: 'daughter 女儿 大女儿 小女儿',
  has_child: 'kid child baby 孩子 宝宝',
  has_grandmother: 'grandmother grandma 奶奶 外婆 姥姥',
  has_grandfather: 'grandfather grandpa 爷爷 外公 姥爷',
  has_uncle: 'uncle 叔叔 舅舅',
  has_aunt: 'aunt 阿姨 姑姑',
  has_cousin: 'cousin 表哥 表姐 表弟 表妹 堂哥 堂姐',
  has_niece: 'niece 侄女',
  has_nephew: 'nephew 侄子',
  friend_of: 'friend 朋友 好朋友 闺蜜',
  colleague_of: 'colleague coworker 同事',
  neighbour_of: 'neighbour neighbor 邻居',
  roommate_of: 'roommate flatmate 室友',
  has_boss: 'boss manager 老板',
};

const KINSHIPS: ReadonlyMap<string, Kinship> = new Map(
  Object.entries(KIN).flatMap(([relationship, words]) =>
    words.split(' ').map((word): [string, Kinship] => [word, { relationship, kind: 'person' }]),
  ),
);

const PETS = new Set(
  'dog cat puppy kitten pet parrot rabbit hamster horse fish bird turtle 狗狗 小狗 狗 猫咪 小猫 猫 宠物 兔子 仓鼠 鹦鹉'.split(
    ' ',
  ),
);

/** How the one called so is related to whose they are: "older sister", "dog", "女儿". */
export function kinshipOf(words: string): Kinship | null {
  const word = words
    .trim()
    .toLowerCase()
    .replace(/^(?:older|younger|elder|little|big|oldest|youngest|eldest|late|ex-|best|new|two|three|\d+|an?) ?/iu, '')
    .replace(/^best /u, '');
  if (isPet(word)) return { relationship: 'has_pet', kind: 'animal' };
  return KINSHIPS.get(word) ?? KINSHIPS.get(word.replace(/s$/u, '')) ?? null;
}

export const isPet = (word: string): boolean =>
  PETS.has(word.toLowerCase()) || PETS.has(word.toLowerCase().replace(/s$/u, ''));
