import { CHINESE_RELATION } from '../extract/chinese.ts';
import { RELATION } from '../extract/english/grammar.ts';

/** What is related to the user as the only one of its kind, if it is known: the sister behind "my sister". */
export type KnownAs = (relationship: string) => string | null;

type Groups = Readonly<Record<string, string | undefined>>;

const NAME = "\\p{Lu}[\\p{L}'-]*(?: (?:de|van|von|der|\\p{Lu}[\\p{L}'-]*)){0,3}";
const RELATIVE = new RegExp(
  `^(?<whose>User|${NAME})'s (?<kin>(?:(?:older|younger|elder|little|big|best|new|ex-|late|oldest|youngest|eldest) ?)?${RELATION})(?: (?<name>${NAME}))? (?<rest>.+)$`,
  'u',
);
const SUBJECT = new RegExp(`^(?<name>${NAME}) (?<rest>[a-z].+)$`, 'u');

/** What one statement in the third person says: "User works at Acme", "User's sister Eva lives in Rome", "Eva's husband is Tom". */
export function sayingsOf(statement: string, knownAs: KnownAs): Sayings {
  const own = /^User's name is (?<name>.+)$/u.exec(statement)?.groups?.name;
  if (own !== undefined) return { triples: [], userNames: [own] };
  const relative = RELATIVE.exec(statement)?.groups;
  if (relative !== undefined) return { triples: ofRelative(relative, knownAs), userNames: [] };
  const favourite = /^User's favou?rite [\p{L} -]+? (?:is|are) (?<what>.+)$/u.exec(statement)?.groups?.what;
  if (favourite !== undefined) return { triples: withSource(USER, holds('likes', favourite, 'thing')), userNames: [] };
  const { name = '', rest = '' } = SUBJECT.exec(statement)?.groups ?? {};
  return {
    triples: name === '' ? [] : withSource(name === 'User' ? USER : subjectOf(name, rest), predicated(rest)),
    userNames: [],
  };
}

/** Who makes things is no person, as far as a sentence shows. */
const subjectOf = (name: string, rest: string): Named => ({
  name,
  kind: /^(?:makes|produces|builds|manufactures|is (?:located|based|headquartered|part))\b/u.test(rest)
    ? 'organisation'
    : 'person',
});

function ofRelative({ whose = '', kin = '', name, rest = '' }: Groups, knownAs: KnownAs): readonly Triple[] {
  const kinship = kinshipOf(kin);
  if (kinship === null) return [];
  const owner: Named = whose === 'User' ? USER : { name: whose, kind: 'person' };
  const called = /^(?:is|was) (?:(?:named|called) )?(?<name>\p{Lu}[\p{L}'-]*(?: \p{Lu}[\p{L}'-]*){0,2})$/u.exec(rest)
    ?.groups?.name;
  const who: Named = {
    name: name ?? called ?? knownAs(kinship.relationship) ?? kin,
    kind: isPet(kin) ? 'animal' : kinship.kind,
  };
  const bond: Triple = { source: owner, relationship: kinship.relationship, destination: who, said: 'holds' };
  return [bond, ...withSource(who, called === undefined ? predicated(rest) : [])];
}

/** What a predicate of the third person says. One that is denied says that it ended. */
function predicated(predicate: string): readonly Predicated[] {
  const plain = predicate.trim().replace(/^(?:also|still|now|just|recently|currently) /iu, '');
  const denied = DENIED.exec(plain);
  const text = denied === null ? plain : inThird(plain, denied[0]);
  for (const { pattern, says } of RULES) {
    const match = pattern.exec(text);
    const found = match === null ? [] : says(match.groups ?? {});
    if (found.length > 0) return denied === null ? found : found.map((one) => ({ ...one, said: 'ended' as const }));
  }
  return [];
}

const DENIED = /^(?:no longer |does not |is (?:not|no longer) )(?!a (?:\w+ )?fan|fond|into)/iu;

/** "does not live in Oslo" → "lives in Oslo", "is no longer married to Tom" → "is married to Tom" */
function inThird(plain: string, denial: string): string {
  const rest = plain.slice(denial.length);
  if (/^is /iu.test(denial)) return `is ${rest}`;
  return /^does /iu.test(denial)
    ? rest.replace(/^\w+/u, (verb) =>
        /(?:s|sh|ch|x|o)$/u.test(verb) ? `${verb}es` : verb === 'have' ? 'has' : `${verb}s`,
      )
    : rest;
}

interface Rule {
  readonly pattern: RegExp;
  readonly says: (groups: Groups) => readonly Predicated[];
}

/** What a subject does or is, in the present tense of the third person: how facts are written. */
const RULES: readonly Rule[] = [
  rule(
    /^(?:lives|is living|resides|is based|has lived|stays) (?:in|near|at|on) (?<where>.+?)(?: \(moved from (?<from>.+)\))?$/iu,
    ({ where, from }) => [...holds('lives_in', where, 'place'), ...ended('lives_in', from, 'place')],
  ),
  rule(
    /^(?:moved|relocated)(?: from (?<from>.+?))? to (?<where>.+?)(?: from (?<origin>.+))?$/iu,
    ({ where, from, origin }) => [...holds('lives_in', where, 'place'), ...ended('lives_in', from ?? origin, 'place')],
  ),
  rule(/^used to live in (?<where>.+)$/iu, ({ where }) => past('lives_in', where, 'place')),
  rule(
    /^(?:works|is working|started working|joined|is employed|got a job)(?: (?:at|for|with|by))?(?: (?<firm>\p{Lu}.*?))(?: as (?<job>.+?))?(?: in (?<field>.+))?$/u,
    ({ firm, job }) => [...holds('works_at', firm, 'organisation'), ...holds('works_as', bare(job), 'activity')],
  ),
  rule(/^works as (?<job>.+?)(?: (?:at|for) (?<firm>.+))?$/iu, ({ job, firm }) => [
    ...holds('works_as', bare(job), 'activity'),
    ...holds('works_at', firm, 'organisation'),
  ]),
  rule(/^used to work (?:at|for|with) (?<firm>.+?)(?: as .+)?$/iu, ({ firm }) =>
    past('works_at', firm, 'organisation'),
  ),
  rule(/^(?:left|quit|resigned from|was fired from|retired from) (?<firm>\p{Lu}.*)$/u, ({ firm }) =>
    ended('works_at', firm, 'organisation'),
  ),
  rule(/^(?:is|got) (?:(?:happily|now|recently) )?(?<how>married|engaged) to (?<whom>.+)$/iu, ({ how = '', whom }) =>
    holds(`${how.toLowerCase()}_to`, whom, 'person'),
  ),
  rule(/^married (?<whom>\p{Lu}.*)$/u, ({ whom }) => holds('married_to', whom, 'person')),
  rule(/^(?:divorced|is divorced from) (?<whom>\p{Lu}.*)$/u, ({ whom }) => ended('married_to', whom, 'person')),
  rule(/^is dating (?<whom>.+)$/iu, ({ whom }) => holds('dating', whom, 'person')),
  rule(/^was born in (?<where>\p{Lu}.*)$/u, ({ where }) => holds('born_in', where, 'place')),
  rule(/^(?:is|comes|is originally) from (?<where>\p{Lu}.*)$/u, ({ where }) => holds('native_of', where, 'place')),
  rule(/^grew up in (?<where>.+)$/iu, ({ where }) => holds('native_of', where, 'place')),
  rule(/^(?:studies|is studying) (?<what>.+?)(?: at (?<where>.+))?$/iu, ({ what, where }) => [
    ...(/^at\b/iu.test(what ?? '')
      ? holds('studies_at', what?.replace(/^at /iu, ''), 'organisation')
      : holds('studies', what, 'concept')),
    ...holds('studies_at', where, 'organisation'),
  ]),
  rule(/^attends (?<where>.+)$/iu, ({ where }) => holds('studies_at', where, 'organisation')),
  rule(
    /^(?:likes|loves|enjoys|adores|prefers|is (?:an? (?:\w+ )?(?:fan|lover) of|into|fond of|keen on)) (?<what>.+?)(?: over .+)?$/iu,
    ({ what }) => holds('likes', what, 'thing'),
  ),
  rule(
    /^(?:hates|dislikes|detests|cannot stand|is not (?:a (?:\w+ )?fan of|fond of|into)) (?<what>.+)$/iu,
    ({ what }) => holds('dislikes', what, 'thing'),
  ),
  rule(/^is allergic to (?<what>.+)$/iu, ({ what }) => holds('allergic_to', what, 'thing')),
  rule(/^speaks (?<what>.+)$/iu, ({ what }) => holds('speaks', what, 'concept')),
  rule(/^plays (?:the )?(?<what>.+)$/iu, ({ what }) => holds('plays', what, 'activity')),
  rule(
    /^(?:has|adopted|got|owns) (?:(?:an?|two|three|\d+) )?(?<what>[\p{L} -]+?)(?:,? (?:named|called) (?<name>\p{Lu}.*))?$/iu,
    held,
  ),
  rule(/^(?:makes|produces|builds|manufactures) (?<what>.+)$/iu, ({ what }) => holds('makes', what, 'product')),
  rule(/^(?<verb>founded|wrote|manages|owns|directed) (?<what>.+)$/iu, ({ verb = '', what }) =>
    holds(verb.toLowerCase(), what, 'thing'),
  ),
  rule(/^is (?:located |based |headquartered )?in (?<where>\p{Lu}.*)$/u, ({ where }) =>
    holds('located_in', where, 'place'),
  ),
  rule(/^is part of (?<what>.+)$/iu, ({ what }) => holds('part_of', what, 'organisation')),
];

function rule(pattern: RegExp, says: Rule['says']): Rule {
  return { pattern, says };
}

const relating = (
  relationship: string,
  name: string | undefined,
  how: Omit<Predicated, 'relationship' | 'destination'> & { kind: Named['kind'] },
): readonly Predicated[] => {
  const { kind, ...rest } = how;
  const plain = tidied(name);
  return plain === null ? [] : [{ relationship, destination: { name: plain, kind }, ...rest }];
};
const holds = (relationship: string, name: string | undefined, kind: Named['kind']) =>
  relating(relationship, name, { kind, said: 'holds' });
const ended = (relationship: string, name: string | undefined, kind: Named['kind']) =>
  relating(relationship, name, { kind, said: 'ended' });
const past = (relationship: string, name: string | undefined, kind: Named['kind']) =>
  relating(relationship, name, { kind, said: 'holds', past: true });

/** Longer ones are clauses. In words. */
const WORDS_MAX = 5;

function tidied(name: string | undefined): string | null {
  const plain = (name ?? '')
    .replace(/,.*$/u, '')
    .replace(
      / (?:now|these days|any ?more|since \d{4}|and (?:he|she|it|they|i)\b.*|but .*|because .*|with .*|very much|a lot)$/iu,
      '',
    )
    .replace(/^the (?=\p{Lu})/u, '')
    .replace(/[.!?]+$/u, '')
    .trim();
  return plain === '' || plain.split(' ').length > WORDS_MAX ? null : plain;
}

const bare = (job: string | undefined): string | undefined => job?.replace(/^(?:an?|the) /iu, '');

/** Animals and people one has are near; what else one has is owned. */
function held({ what = '', name }: Groups): readonly Predicated[] {
  const kin = kinshipOf(what);
  if (kin !== null) return holds(kin.relationship, name ?? what, kin.kind);
  return OWNED.test(what) ? holds('owns', name ?? what, 'thing') : [];
}
const OWNED =
  /\b(?:car|bike|bicycle|motorcycle|boat|house|flat|apartment|cabin|garden|guitar|piano|violin|camera|laptop|phone)$/iu;

const CHINESE_RELATIVE = new RegExp(`^(?<kin>${CHINESE_RELATION})(?<rest>.+)$`, 'u');

/** What a fact in Chinese says: "在腾讯工作", "女儿叫小红", "妈妈住在成都". */
export function sayingsOfChinese(fact: string, knownAs: KnownAs): Sayings {
  const own = /^名字(?:是|叫)(?<name>.+)$/u.exec(fact)?.groups?.name;
  if (own !== undefined) return { triples: [], userNames: [own] };
  const { kin = '', rest = '' } = CHINESE_RELATIVE.exec(fact)?.groups ?? {};
  const kinship = kin === '' ? null : kinshipOf(kin);
  if (kinship === null) return { triples: withSource(USER, predicatedInChinese(fact)), userNames: [] };
  const called = /^(?:叫|是|名叫)(?<name>[^，。]{1,8})$/u.exec(rest)?.groups?.name;
  const who: Named = { name: called ?? knownAs(kinship.relationship) ?? kin, kind: kinship.kind };
  const bond: Triple = { source: USER, relationship: kinship.relationship, destination: who, said: 'holds' };
  return { triples: [bond, ...withSource(who, called === undefined ? predicatedInChinese(rest) : [])], userNames: [] };
}

/** What a Chinese statement says of somebody. */
export function predicatedInChinese(text: string): readonly Predicated[] {
  const disliked = /^不喜欢/u.test(text);
  const over = ENDED.test(text) && !disliked;
  const plain = over ? text.replace(ENDED, '') : text;
  const found = CHINESE_RULES.flatMap(([pattern, relationship, kind]): Predicated[] => {
    const name = pattern.exec(plain)?.groups?.what?.trim() ?? '';
    const fits = name !== '' && name.length <= NAME_MAX && (!disliked || relationship !== 'likes');
    return fits ? [{ relationship, destination: { name, kind }, said: over ? 'ended' : 'holds' }] : [];
  });
  const left = /（从(?<where>[^）]+)搬来）/u.exec(text)?.groups?.where;
  return left === undefined
    ? found
    : [...found, { relationship: 'lives_in', destination: { name: left, kind: 'place' }, said: 'ended' }];
}

type Tell = readonly [pattern: RegExp, relationship: string, kind: Named['kind']];

/** What is said of a subject, one relation for each that matches. */
const CHINESE_RULES: readonly Tell[] = [
  [/(?:住在|居住在|搬到了?|定居(?:在|于)?)(?<what>[^，。（(了]+)/u, 'lives_in', 'place'],
  [/在(?<what>[^，。在]+?)(?:工作|上班|任职)/u, 'works_at', 'organisation'],
  [/(?:职位是|工作是|职业是|是一?[名位个])(?<what>[^，。]+)/u, 'works_as', 'activity'],
  [/(?:来自|老家在|家乡是|老家是)(?<what>[^，。]+)/u, 'native_of', 'place'],
  [/出生[在于](?<what>[^，。]+)/u, 'born_in', 'place'],
  [/在(?<what>[^，。在]+?(?:大学|学院|中学|小学))(?:读书|学习|上学)/u, 'studies_at', 'organisation'],
  [/对(?<what>[^，。不]+)过敏/u, 'allergic_to', 'thing'],
  [/(?:会说|会讲|说)(?<what>[^，。]+[语话文])/u, 'speaks', 'concept'],
  [/(?:讨厌|厌恶|不喜欢吃?)(?<what>[^，。]+)/u, 'dislikes', 'thing'],
  [/^(?:最|很|特别|非常)*(?:喜欢|喜爱|热爱|爱)(?:吃|喝|看|玩|听)?(?<what>[^，。]+)/u, 'likes', 'thing'],
  [/(?:和|跟|与)(?<what>[^，。]+?)结婚/u, 'married_to', 'person'],
  [
    /(?:养了?|有)(?:一|两|二|三)?[只条个](?:狗|猫|兔子|鸟|鹦鹉|仓鼠)(?:，?(?:叫|名叫|名字叫))(?<what>[^，。]+)/u,
    'has_pet',
    'animal',
  ],
  [/(?:养了?|有)(?:一|两|二|三)?[只条个](?<what>狗|猫|兔子|鸟|鹦鹉|仓鼠)$/u, 'has_pet', 'animal'],
  [/(?:生产|制造)(?<what>[^，。]+)/u, 'makes', 'product'],
];

const ENDED = /^(?:不再|再也不|已经不|不)/u;
const NAME_MAX = 20;

export const withSource = (source: Named, found: readonly Predicated[]): readonly Triple[] =>
  found.map((one) => ({ ...one, source }));

/** An entity by its name, as a rule found it. */
export interface Named {
  readonly name: string;
  readonly kind: 'person' | 'animal' | 'organisation' | 'place' | 'product' | 'activity' | 'concept' | 'thing';
}

/** A relation of a subject, as a rule found it. */
interface Predicated {
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
function kinshipOf(words: string): Kinship | null {
  const word = words
    .trim()
    .toLowerCase()
    .replace(/^(?:older|younger|elder|little|big|oldest|youngest|eldest|late|ex-|best|new|two|three|\d+|an?) ?/iu, '')
    .replace(/^best /u, '');
  if (isPet(word)) return { relationship: 'has_pet', kind: 'animal' };
  return KINSHIPS.get(word) ?? KINSHIPS.get(word.replace(/s$/u, '')) ?? null;
}

const isPet = (word: string): boolean =>
  PETS.has(word.toLowerCase()) || PETS.has(word.toLowerCase().replace(/s$/u, ''));
