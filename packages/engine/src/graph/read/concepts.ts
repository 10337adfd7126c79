import { terms } from '../../text/terms.ts';

/**
 * Words that ask for the same relationship. A question says "employer" where the relation says "works at": without a learnt
 * model nothing else knows that they belong together.
 */
const GROUPS: readonly string[] = [
  'work works working employer employee employed employ employs job company boss office 工作 雇主 公司 上班 任职 老板 单位',
  'live lives living home resident reside resides address residence based 居住 住在 住址 家住 住',
  'born birthplace birth native 出生 故乡 老家',
  'married marry marries spouse husband wife partner wedding 结婚 配偶 丈夫 妻子 老公 老婆 爱人',
  'parent mother father mom mum dad parents child children son daughter kid kids 父母 母亲 父亲 妈妈 爸爸 孩子 儿子 女儿',
  'sibling siblings sister brother 姐姐 妹妹 哥哥 弟弟 姐妹 兄弟',
  'grandparent grandmother grandfather grandson granddaughter grandchild 爷爷 奶奶 外公 外婆 孙子 孙女',
  'friend friends friendship buddy 朋友 好友',
  'colleague colleagues coworker teammate 同事',
  'make makes making produce produces manufacture manufactures build builds sell sells product 生产 制造 产品 出售',
  'own owns have has pet pets dog cat owner 养 养了 宠物 拥有',
  'study studies student school university college attend attends learn learns 学习 学校 大学 上学',
  'teach teaches teacher professor 教 老师 教师',
  'like likes love loves enjoy enjoys prefer prefers favourite favorite hobby fond 喜欢 喜爱 爱好',
  'located located_in place city country town where headquarters 位于 城市 国家 地方 总部',
  'founded founder found founds started creator create creates 创办 创始人 创立',
  'speak speaks language languages 会说 语言',
  'drive drives car 开车 汽车',
  'play plays player game instrument sport 玩 打球 演奏',
];

const CONCEPTS = new Map<string, Set<number>>();
for (const [group, words] of GROUPS.entries()) {
  for (const key of words.split(' ').flatMap(keysOf)) CONCEPTS.set(key, (CONCEPTS.get(key) ?? new Set()).add(group));
}

/** The concepts that a term stands for; none where it is not in the table. */
export const conceptsOf = (term: string): ReadonlySet<number> => CONCEPTS.get(term) ?? NONE;

/** The terms of a relationship's name: works_at → work. */
export const relationshipTerms = (relationship: string): readonly string[] => terms(relationship.replaceAll('_', ' '));

const NONE: ReadonlySet<number> = new Set();

/** Of a word without spaces around it only itself: its single characters say other things. */
function keysOf(word: string): readonly string[] {
  if (/^[a-z_]+$/.test(word)) return terms(word.replaceAll('_', ' '));
  return [word];
}
