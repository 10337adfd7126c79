import { CHINESE_RELATION } from '../extract/chinese/rules.ts';
import type { KnownAs } from './english.ts';
import { kinshipOf, type Named, type Predicated, type Sayings, type Triple, USER } from './relatives.ts';

type Tell = readonly [pattern: RegExp, relationship: string, kind: Named['kind']];

/** What is said of a subject, one relation for each that matches. */
const RULES: readonly Tell[] = [
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

/** What a Chinese statement says of somebody. */
export function predicatedInChinese(text: string): readonly Predicated[] {
  const disliked = /^不喜欢/u.test(text);
  const over = ENDED.test(text) && !disliked;
  const plain = over ? text.replace(ENDED, '') : text;
  const found = RULES.flatMap(([pattern, relationship, kind]): Predicated[] => {
    const name = pattern.exec(plain)?.groups?.what?.trim() ?? '';
    const fits = name !== '' && name.length <= NAME_MAX && (!disliked || relationship !== 'likes');
    return fits ? [{ relationship, destination: { name, kind }, said: over ? 'ended' : 'holds' }] : [];
  });
  const left = /（从(?<where>[^）]+)搬来）/u.exec(text)?.groups?.where;
  return left === undefined
    ? found
    : [...found, { relationship: 'lives_in', destination: { name: left, kind: 'place' }, said: 'ended' }];
}

const RELATIVE = new RegExp(`^(?<kin>${CHINESE_RELATION})(?<rest>.+)$`, 'u');

/** What a fact in Chinese says: "在腾讯工作", "女儿叫小红", "妈妈住在成都". */
export function sayingsOfChinese(fact: string, knownAs: KnownAs): Sayings {
  const own = /^名字(?:是|叫)(?<name>.+)$/u.exec(fact)?.groups?.name;
  if (own !== undefined) return { triples: [], userNames: [own] };
  const { kin = '', rest = '' } = RELATIVE.exec(fact)?.groups ?? {};
  const kinship = kin === '' ? null : kinshipOf(kin);
  if (kinship === null) return { triples: withSource(USER, predicatedInChinese(fact)), userNames: [] };
  const called = /^(?:叫|是|名叫)(?<name>[^，。]{1,8})$/u.exec(rest)?.groups?.name;
  const who: Named = { name: called ?? knownAs(kinship.relationship) ?? kin, kind: kinship.kind };
  const bond: Triple = { source: USER, relationship: kinship.relationship, destination: who, said: 'holds' };
  return { triples: [bond, ...withSource(who, called === undefined ? predicatedInChinese(rest) : [])], userNames: [] };
}

export const withSource = (source: Named, found: readonly Predicated[]): readonly Triple[] =>
  found.map((one) => ({ ...one, source }));
