import { CHINESE_RELATION } from '../extract/chinese/rules.ts';
import { lemmaOf, OCCASION, RELATION } from '../extract/english/grammar.ts';

/** One thing a statement says: which attribute has which value. */
export interface Slot {
  readonly attribute: string;
  readonly value: string;
  /** Only one value can hold at a time. */
  readonly single: boolean;
}

export interface Statement {
  readonly slots: readonly Slot[];
  readonly positive: boolean;
}

/** A statement taken apart, whoever wrote it: "User no longer lives in Oslo" denies residence = oslo. */
export function statementOf(text: string): Statement {
  const plain = text.trim().replace(/[.。!！\s]+$/u, '');
  return /\p{Script=Han}/u.test(plain) ? chinese(plain) : english(plain);
}

const DENIAL = /\b(?:never|no longer|cannot)\b|\b(?:is|are|was|can|has|have|does|do|am) not /iu;

/** What ends with what somebody says: the attributes whose value that was; of some, any value. */
const ENDINGS: readonly (readonly [pattern: RegExp, attributes: readonly string[], any?: readonly string[]])[] = [
  [/^left (?<value>.+)$/iu, ['employer', 'residence']],
  [/^no longer works in their last job$/iu, [], ['employer', 'job', 'field of work']],
  [
    /^broke up(?: with .+)?$/iu,
    [],
    ['marital state', ...['girlfriend', 'boyfriend', 'partner', 'fiancé', 'fiancée'].map((who) => `name of ${who}`)],
  ],
  [/^(?:sold|gave away|scrapped) (?:their |the |an? )?(?<value>.+?)(?: and .+)?$/iu, ['having']],
  [
    /^gave up (?:(?:drinking|eating|playing|learning) )?(?<value>.+)$/iu,
    ['having', 'learning', 'subject', 'does play *', 'does eat *', 'does drink *', 'does do *', 'does practise *'],
  ],
  [/^'s (?<value>.+) was cancelled$/iu, [], ['of *']],
  [/^(?:'s )?(?<value>\p{L}[\p{L}' -]*) died$/iu, ['having']],
  [/^(?<value>.{1,6})(?:去世|过世|死|走丢)了$/u, ['having']],
  [/^卖(?:掉)?了(?:我的|那[辆台个套])?(?<value>.+)$/u, ['having']],
  [/^和.*分手了$/u, [], ['marital state', 'dating', 'name of 女朋友', 'name of 男朋友']],
  [/^(?:辞职|失业|退休|离职)了$/u, [], ['employer', 'job']],
];

function english(text: string): Statement {
  const said = text
    .replace(/^(?:the )?user(?='s| )/iu, '')
    .replace(/^\s*(?:I|my|the)\b/iu, (subject) => (/my|the/iu.test(subject) ? "'s" : ''))
    .replace(/(?:n't)\b/gu, ' not')
    .trim();
  const opinion =
    /^(?:(?:no longer|does not|do not) )?(?:hates?|dislikes?|detests?|likes?|loves?|enjoys?|adores?)\b/iu.test(said);
  if (opinion) return likingOf(said);
  const ended = endedBy(said);
  if (ended.length > 0) return { slots: ended, positive: false };
  const positive = !DENIAL.test(said);
  const affirmed = said
    .replace(/\b(?:does|do) not (\w+)/iu, '$1')
    .replace(/\b(?:no longer|never|not) /iu, '')
    .replace(/\bcannot\b/iu, 'can');
  return { slots: englishSlots(inLemma(affirmed)), positive };
}

/** "does play *" is "does play" of "play tennis"; "of *" is "of flight to Rome". */
function endedBy(said: string): readonly Slot[] {
  for (const [pattern, attributes, any = []] of ENDINGS) {
    const match = pattern.exec(said);
    if (match === null) continue;
    const value = (match.groups?.value ?? '').toLowerCase();
    const slot = (attribute: string, of: string): Slot => ({
      attribute: attribute.replace(/^of \*$/u, `of ${value}`).replace(/ \*$/u, ''),
      value: attribute.endsWith(' *') && of !== '' ? `${attribute.split(' ')[1]} ${of}` : of,
      single: false,
    });
    return [...attributes.map((attribute) => slot(attribute, value)), ...any.map((attribute) => slot(attribute, ''))];
  }
  return [];
}

/** Likes and dislikes are two sides of one attribute. */
function likingOf(said: string): Statement {
  const denied = /^(?:no longer|does not|do not) /iu.test(said);
  const rest = said.replace(/^(?:no longer|does not|do not) /iu, '');
  const negative = /^(?:hate|dislike|detest)/iu.test(rest);
  const value = rest.replace(/^\w+ (?:to )?/u, '');
  return { slots: [{ attribute: 'liking', value: value.toLowerCase(), single: false }], positive: denied === negative };
}

/** "lives in Oslo" → "live in Oslo" */
function inLemma(text: string): string {
  const [first = '', ...rest] = text.split(' ');
  return [lemmaOf(first.toLowerCase()), ...rest].join(' ');
}

function chinese(text: string): Statement {
  const said = text.replace(/^(?:用户|我)(?:的)?/u, '');
  const ended = endedBy(said);
  if (ended.length > 0) return { slots: ended, positive: false };
  const inner = said.replace(/^(对.+?)不(过敏)$/u, '$1$2');
  const denied = /^(?:不再|再也不|不是|不|没有)/u.exec(inner)?.[0] ?? '';
  const affirmed = inner.slice(denied === '不是' ? 1 : denied.length);
  const disliked = /^(?:讨厌|厌恶|受不了|害怕|怕)/u.test(affirmed);
  const positive = (denied === '' && inner === said) !== disliked;
  return { slots: chineseSlots(affirmed), positive };
}

/** The form of a statement, the attribute it is about (with its `<kind>`), and whether that has one value at a time. */
type Shape = readonly [pattern: RegExp, attribute: string, single: boolean];

const FAMILY_STATE = 'married|engaged|single|divorced|widowed|separated|in a relationship';
const DIET = 'vegetarian|vegan|pescatarian|pescetarian|flexitarian|omnivore|carnivore|fruitarian';

/** The forms the extraction writes, and what each says. Verbs are in their plain form. */
const SHAPES: readonly Shape[] = [
  [/^(?:'s )?(?:full |first )?name is (?<value>.+)$/iu, 'name', true],
  [/^(?:is )?(?<value>\d{1,3}) years? old$/iu, 'age', true],
  [/^(?:'s )?age is (?<value>\d+).*$/iu, 'age', true],
  [/^(?:'s )?(?:birthday|date of birth) is (?:on )?(?<value>.+)$/iu, 'birthday', true],
  [/^was born on (?<value>.+)$/iu, 'birth date', true],
  [/^was born in (?<value>(?:\w+ )?\d{4})$/iu, 'birth date', true],
  [/^was born in (?<value>.+)$/iu, 'birthplace', true],
  [
    /^(?:live|reside|is based|is living) (?:in|at|near|on|outside) (?<value>.+?)(?: \((?:moved )?from .+\))?$/iu,
    'residence',
    true,
  ],
  [/^(?:has )?moved to (?<value>.+?)(?: from .+)?$/iu, 'residence', true],
  [/^(?:is|come) (?:originally )?from (?<value>.+)$/iu, 'origin', true],
  [/^grew up in (?<value>.+)$/iu, 'grew up', true],
  [/^is (?<value>[\d.,]+ ?\w+(?: \d+)?) tall$/iu, 'height', true],
  [/^weigh (?<value>.+)$/iu, 'weight', true],
  [new RegExp(`^is (?<value>(?:${FAMILY_STATE})(?: to .+)?)$`, 'iu'), 'marital state', true],
  [new RegExp(`^is (?:an? )?(?:strict )?(?<value>${DIET})$`, 'iu'), 'diet', true],
  [/^is allergic to (?<value>.+)$/iu, 'allergy', false],
  [
    /^(?:is )?(?:an? (?:\w+ )?(?:fan|lover) of|is (?:into|fond of|crazy about|mad about|keen on|passionate about|interested in)) (?<value>.+)$/iu,
    'liking',
    false,
  ],
  [/^is (?:an? (?:\w+ )?(?:fan|lover) of) (?<value>.+)$/iu, 'liking', false],
  [/^speak (?<value>.+)$/iu, 'language', false],
  [
    /^(?:'s )?(?:current |new )?(?:job|profession|occupation|position|role|job title) is (?:an? )?(?<value>.+)$/iu,
    'job',
    true,
  ],
  [/^(?:'s )?(?:employer|company) is (?<value>.+)$/iu, 'employer', true],
  [
    /^have (?:(?:an?|one|two|three|four|five|six|seven|eight|nine|ten|no|\d+) )?(?:(?:younger|older|little|big|small) )?(?<kind>kids|children|siblings|brothers|sisters|sons|daughters)$/iu,
    'number of <kind>',
    true,
  ],
  [new RegExp(`^have an? (?<kind>${OCCASION}) (?<value>(?:on|in|around) \\d?.*\\d{4}.*)$`, 'iu'), 'of <kind>', true],
  [/^(?:have|own|adopted|got|(?:drive|ride)(?= (?:an?|the|their) )) (?<value>.+)$/iu, 'having', false],
  [/^(?:learn|is learning) (?<value>.+)$/iu, 'learning', false],
  [
    /^'s (?<kind>hobb(?:y|ies)|interests?|languages?|allerg(?:y|ies)|goals?|dreams?|passion) (?:is|are) (?<value>.+)$/iu,
    'of <kind>',
    false,
  ],
  [/^'s (?<kind>.+?) (?:is|are) (?:named |called )(?<value>.+)$/iu, 'name of <kind>', true],
  [/^'s (?<kind>.+?) live in (?<value>.+)$/iu, 'residence of <kind>', true],
  [/^'s (?<kind>.+?) is (?<value>\d+)(?: years old)?$/iu, 'age of <kind>', true],
  [/^'s (?<kind>favou?rite .+?) (?:is|are) (?<value>.+)$/iu, '<kind>', true],
  [new RegExp(`^'s (?<kind>(?:\\w+ )?${RELATION}(?: \\w+)?) (?:is|are) (?<value>.+)$`, 'iu'), 'of <kind>', false],
  [/^'s (?<kind>[\w -]+?) (?:is|are) (?<value>.+)$/iu, 'of <kind>', true],
];

/** What an affirmative English statement says, attribute by attribute. */
function englishSlots(text: string): readonly Slot[] {
  const said = text.replace(/^'s (\w+(?: \w+)?) lives in/iu, "'s $1 live in");
  const work = employment(said) ?? studies(said);
  if (work !== null) return work;
  if (/^eat (?:meat|fish|dairy|everything)\b/iu.test(said))
    return [...slots({ diet: 'omnivore' }), { attribute: 'does eat', value: said.toLowerCase(), single: false }];
  const idle = /^is (?<state>retired|unemployed)$/iu.exec(said)?.groups?.state;
  if (idle !== undefined) return slots({ job: idle, employer: idle });
  for (const [pattern, attribute, single] of SHAPES) {
    const match = pattern.exec(said);
    if (match === null) continue;
    const { kind = '', value = match[0] } = match.groups ?? {};
    const of = kind
      .toLowerCase()
      .replace('kids', 'children')
      .replace(/(?<=fav|col)our/gu, 'or');
    return [{ attribute: attribute.replace('<kind>', of), value: value.toLowerCase(), single }];
  }
  return [{ attribute: `does ${said.split(' ')[0]?.toLowerCase()}`, value: said.toLowerCase(), single: false }];
}

/** Employer, job and field are three attributes of one sentence. */
function employment(text: string): readonly Slot[] | null {
  if (!/^work (?:at|as|for|in) /iu.test(text)) return null;
  const part = (words: string) => new RegExp(`\\b(?:${words}) (.+?)(?= (?:at|for|as|in) |$)`, 'iu').exec(text)?.[1];
  return slots({ employer: part('at|for'), job: part('as an?|as the|as'), 'field of work': part('in') });
}

function studies(text: string): readonly Slot[] | null {
  const match =
    /^study (?<subject>.+?)(?: at (?<school>.+))?$/iu.exec(text) ??
    /^(?:attend (?<school>.+)|is an? student at (?<of>.+))$/iu.exec(text);
  const { subject, school, of } = match?.groups ?? {};
  return match === null ? null : slots({ subject, school: school ?? of });
}

function slots(values: Readonly<Record<string, string | undefined>>): readonly Slot[] {
  return Object.entries(values).flatMap(([attribute, value]) =>
    value === undefined ? [] : [{ attribute, value: value.toLowerCase(), single: true }],
  );
}

/** The forms the extraction writes, and what each says; attributes have the same names in both languages. */
const CHINESE_SHAPES: readonly Shape[] = [
  [/^(?:名字|姓名)(?:是|叫)(?<value>.+)$|^叫(?<name>.+)$/u, 'name', true],
  [/^(?:今年)?(?<value>[\d一二三四五六七八九十百]+)岁$/u, 'age', true],
  [/^年龄是(?<value>\d+)岁?$/u, 'age', true],
  [/^生日是(?<value>.+)$/u, 'birthday', true],
  [/^出生于(?<value>.+)$/u, 'birth date', true],
  [/^出生在(?<value>.+)$/u, 'birthplace', true],
  [/^(?:现在|目前)?(?:居?住在|住|搬到了?|家在)(?<value>.+?)(?:（从.+搬来）)?了?$/u, 'residence', true],
  [/^(?:来自(?<value>.+)|老家在(?<home>.+)|是(?<from>.+)人)$/u, 'origin', true],
  [/^在(?<value>.+)长大$/u, 'grew up', true],
  [/^(?<value>已婚|未婚|单身|离婚了|订婚了|结婚了)$/u, 'marital state', true],
  [/^(?:是)?(?<value>吃素|素食者|素食主义者|纯素食者|纯素食主义者)$/u, 'diet', true],
  [/^对(?<value>.+)过敏$/u, 'allergy', false],
  [/^最(?:喜欢|爱)的(?<kind>.+?)是(?<value>.+)$/u, 'favorite', true],
  [/^(?:喜欢上?|热爱|喜爱|偏爱|爱|迷上|讨厌|厌恶|受不了|害怕|怕)(?<value>.+)$/u, 'liking', false],
  [/^会说(?<value>.+)$/u, 'language', false],
  [/^在(?<value>.+)(?:读书|上学)$|^是(?<of>.+)的学生$/u, 'school', true],
  [/^学(?<value>.+)$/u, 'subject', true],
  [/^(?:工作|职业|职位)是(?<value>.+)$/u, 'job', true],
  [/^有(?<value>(?:女|男)(?:朋)?友)$/u, 'dating', true],
  [/^(?:有|养了?)(?<value>.+)$/u, 'having', false],
  [/^(?<kind>\p{Script=Han}{1,4}?)叫(?<value>.+)$/u, 'name of', true],
  [/^(?<kind>\p{Script=Han}{1,4}?)住在(?<value>.+)$/u, 'residence of', true],
  [/^(?<kind>\p{Script=Han}{1,4}?)(?:今年)?(?<value>[\d一二三四五六七八九十百]+)岁$/u, 'age of', true],
  [/^(?<kind>爱好|兴趣爱好|兴趣|梦想|目标|愿望)是(?<value>.+)$/u, 'of', false],
  [new RegExp(`^(?<kind>${CHINESE_RELATION})是(?<value>.+)$`, 'u'), 'of', false],
  [/^(?<kind>\p{Script=Han}{2,5}?|QQ)是(?<value>.+)$/u, 'of', true],
];

/** Working in a city says where; it is not whom one works for. */
const CITY =
  /^(?:北京|上海|广州|深圳|杭州|成都|武汉|南京|西安|重庆|天津|苏州|长沙|厦门|青岛|大连|香港|台北|东京|伦敦|纽约|柏林|巴黎|奥斯陆|卑尔根|里斯本|新加坡|.{1,6}[市省县国])$/u;

/** What an affirmative Chinese statement says, attribute by attribute. */
function chineseSlots(text: string): readonly Slot[] {
  const work = chineseEmployment(text);
  if (work !== null) return work;
  for (const [pattern, attribute, single] of CHINESE_SHAPES) {
    const match = pattern.exec(text);
    if (match === null) continue;
    const { kind, ...values } = match.groups ?? {};
    const value = Object.values(values).find((found) => found !== undefined) ?? text;
    return [{ attribute: kind === undefined ? attribute : `${attribute} ${kind}`, value: value.toLowerCase(), single }];
  }
  return [{ attribute: `does ${text.slice(0, 1)}`, value: text.toLowerCase(), single: false }];
}

function chineseEmployment(text: string): readonly Slot[] | null {
  const { place, job } = /^在(?<place>.+?)工作(?:，(?:职位是|做)(?<job>.+))?$/u.exec(text)?.groups ?? {};
  if (place === undefined) return null;
  const at = { attribute: CITY.test(place) ? 'place of work' : 'employer', value: place.toLowerCase(), single: true };
  return job === undefined ? [at] : [at, { attribute: 'job', value: job.toLowerCase(), single: true }];
}
