import type { JsonObject } from '@slowwave/engine';
import { CHINESE_RELATION } from './extract/chinese.ts';
import { lemmaOf, OCCASION, RELATION } from './extract/english/grammar.ts';
import { DIET } from './extract/english/rules.ts';
import { listOf, objectOf, textOf } from './input.ts';

/** A memory shown, or what an earlier fact of the same call made of one. */
interface Known {
  readonly id: string;
  readonly text: string;
  readonly statement: Statement;
}
interface Operation extends JsonObject {
  fact: string;
  event: 'ADD' | 'UPDATE' | 'DELETE' | 'NONE';
  id: string | null;
  text: string | null;
  reason: string;
  keep: boolean;
}

/** What each fact does to what is known, in the order they were said. */
export function decideOperations(input: JsonObject): JsonObject {
  const known = listOf(input.memories)
    .map(objectOf)
    .map((memory) => knownAs(idOf(memory), textOf(memory.text)));
  const operations = listOf(input.facts)
    .map(objectOf)
    .flatMap((fact) => decide(knownAs(idOf(fact), textOf(fact.text)), known));
  return { operations };
}

const idOf = ({ id }: JsonObject): string => (typeof id === 'number' ? String(id) : textOf(id));
const knownAs = (id: string, text: string): Known => ({ id, text, statement: statementOf(text) });

/** The operations of one fact; `known` becomes what holds after it. */
function decide(fact: Known, known: Known[]): readonly Operation[] {
  if (isWish(fact.text)) return forget(fact, known);
  const relations = known.map((memory) => ({ memory, relation: relate(fact, memory) }));
  const having = (...wanted: Relation[]) =>
    relations.filter(({ relation }) => wanted.includes(relation)).map(({ memory }) => memory);
  const same = having('same').at(0);
  if (same !== undefined) return [operation(fact, 'NONE', { id: same.id, reason: 'already known' })];
  const [old, ...older] = having('replaces', 'extends').reverse();
  const gone = [...having('contradicts'), ...older];
  const deletes = gone.map(({ id }) => operation(fact, 'DELETE', { id, reason: 'no longer so' }));
  remove(known, old === undefined ? gone : [...gone, old]);
  known.push(fact);
  if (old === undefined) return [...deletes, operation(fact, 'ADD', { text: fact.text, reason: 'new' })];
  return [operation(fact, 'UPDATE', { id: old.id, text: fact.text, reason: 'supersedes a memory' }), ...deletes];
}

function relate(fact: Known, memory: Known): Relation {
  return normal(fact.text) === normal(memory.text) ? 'same' : relationOf(fact.statement, memory.statement);
}

const normal = (text: string): string =>
  text
    .toLowerCase()
    .replace(/[\s.。!！]+/gu, ' ')
    .trim();

/** A wish ends what it means, and is kept by nobody. */
function forget(wish: Known, known: Known[]): readonly Operation[] {
  const meant = known.filter(({ text }) => isMeant(wish.text, text));
  remove(known, meant);
  if (meant.length === 0) return [operation(wish, 'DELETE', { reason: 'nothing known to forget', keep: false })];
  return meant.map(({ id }) => operation(wish, 'DELETE', { id, reason: 'the user asked to forget it', keep: false }));
}

function remove(known: Known[], gone: readonly Known[]): void {
  for (const memory of gone) known.splice(known.indexOf(memory), 1);
}

function operation(
  fact: Known,
  event: Operation['event'],
  rest: Partial<Omit<Operation, 'fact' | 'event'>>,
): Operation {
  return { fact: fact.id, event, id: null, text: null, reason: '', keep: true, ...rest };
}

/** How the extraction marks a wish to forget: the fact or thing to forget follows. */
export const FORGET = 'User wants it forgotten: ';
export const FORGET_IN_CHINESE = '用户希望忘记：';

const isWish = (text: string): boolean => text.startsWith(FORGET) || text.startsWith(FORGET_IN_CHINESE);

/** Whether a memory is what a wish wants forgotten. */
function isMeant(wish: string, memory: string): boolean {
  const what = wish.replace(FORGET, '').replace(FORGET_IN_CHINESE, '');
  const [wanted, known] = [statementOf(what), statementOf(memory)];
  if (!/^User's [\w -]+$/iu.test(what) || / (?:is|are) /u.test(what)) {
    const relation = relationOf(wanted, known);
    if (relation === 'same' || relation === 'extends') return true;
  }
  return known.slots.some(({ attribute }) => isAbout(what, attribute)) || holdsAll(what, memory);
}

/** What people call the attributes. */
const CALLED: Readonly<Record<string, RegExp>> = {
  name: /^User's (?:full |first )?name$|^名字$/iu,
  age: /\bage$|^年龄$/iu,
  birthday: /\bbirthday$|^生日$/iu,
  'birth date': /\b(?:birthday|date of birth|birth date)$|^(?:生日|出生日期)$/iu,
  residence: /\b(?:address|home|home town|city|location|residence|where I live)$|^(?:地址|住址|住处|住的地方|家)$/iu,
  employer: /\b(?:employer|work|job|company|workplace)$|^(?:工作|公司|单位)$/iu,
  job: /\b(?:job|profession|occupation|work)$|^(?:工作|职业)$/iu,
  allergy: /\ballerg(?:y|ies)$|^(?:过敏|过敏史)$/iu,
  diet: /\bdiet$|^饮食$/iu,
  'marital state': /\b(?:marriage|marital status|relationship)$|^(?:婚姻|婚姻状况)$/iu,
};

function isAbout(what: string, attribute: string): boolean {
  const [, whose, kind] = /^User's (.+)'s (name|age|residence)$/u.exec(what) ?? [];
  return attribute === `${kind} of ${whose}` || (CALLED[attribute]?.test(what) ?? false);
}

/** Every word of the thing is in the memory: "User's dog" in "User has a dog named Rex". */
function holdsAll(what: string, memory: string): boolean {
  if (/\p{Script=Han}/u.test(what)) return memory.includes(what);
  const known = new Set(wordsOf(memory.replace(/'s\b/gu, '')));
  const words = wordsOf(what.replace(/'s\b/gu, '')).filter((word) => word !== 'user');
  return words.length > 0 && words.every((word) => known.has(word));
}

/** How a new statement stands to a known one. */
type Relation = 'same' | 'extends' | 'replaces' | 'contradicts' | 'apart';

function relationOf(fact: Statement, memory: Statement): Relation {
  const pairs = fact.slots.flatMap((slot) => {
    const known = memory.slots.find(({ attribute }) => attribute === slot.attribute);
    return known === undefined ? [] : [{ slot, known }];
  });
  if (pairs.length === 0) return 'apart';
  if (fact.positive !== memory.positive) return opposition(fact, pairs);
  if (!fact.positive) return pairs.every(({ slot, known }) => equal(slot, known)) ? 'same' : 'apart';
  return agreement(fact, pairs);
}

interface Pair {
  readonly slot: Slot;
  readonly known: Slot;
}

/** A denial and what it denies exclude each other; where one thing holds, an earlier denial of another says no more. */
function opposition(fact: Statement, pairs: readonly Pair[]): Relation {
  if (pairs.every(({ slot, known }) => (fact.positive ? meets(known, slot) : meets(slot, known)))) return 'contradicts';
  return fact.positive && pairs.every(({ slot }) => slot.single) ? 'replaces' : 'apart';
}

function agreement(fact: Statement, pairs: readonly Pair[]): Relation {
  if (pairs.some(({ slot, known }) => !within(slot, known) && !within(known, slot))) {
    return pairs.some(({ slot }) => slot.single) ? 'replaces' : 'apart';
  }
  const says = fact.slots.length > pairs.length || pairs.some(({ slot, known }) => !within(slot, known));
  const widens = pairs.every(({ slot }) => slot.single || slot.attribute === 'having');
  if (pairs.every(({ slot, known }) => equal(slot, known)) && fact.slots.length === pairs.length) return 'same';
  if (!widens) return 'apart';
  return says ? 'extends' : 'same';
}

/**
 * A denial meets what it denies: exactly; by its gist where only one value can hold ("not married"); and what begins or ends
 * with its words ("tennis" in "tennis every Tuesday", "Vespa" in "red Vespa"), likings apart: who hates milk may like milk rice.
 */
function meets(denied: Slot, held: Slot): boolean {
  if (equal(denied, held) || (denied.single && (within(denied, held) || within(held, denied)))) return true;
  if (/\p{Script=Han}/u.test(denied.value))
    return !/^(?:liking|allergy)$/u.test(denied.attribute) && held.value.includes(denied.value);
  const [some, all] = [wordsOf(denied.value), wordsOf(held.value)];
  const covers = [all.slice(0, some.length), all.slice(-some.length)].some((part) => part.join(' ') === some.join(' '));
  return !/^(?:liking|allergy)$/u.test(denied.attribute) && (some.length === 0 || covers || all.length === 0);
}

const equal = (a: Slot, b: Slot): boolean => wordsOf(a.value).join(' ') === wordsOf(b.value).join(' ');

/** Whether every word of one is in the other: "oslo" within "oslo, norway". */
function within(a: Slot, b: Slot): boolean {
  if (/\p{Script=Han}/u.test(a.value + b.value)) return b.value.includes(a.value);
  const words = new Set(wordsOf(b.value));
  return wordsOf(a.value).every((word) => words.has(word));
}

const IDLE = new Set('a an the their my to very really now some named called one'.split(' '));

/** The words of a value that make it what it is, singular. */
function wordsOf(value: string): readonly string[] {
  const words = value.toLowerCase().split(/[^\p{L}\p{N}+#@.'-]+/u);
  return words.filter((word) => word !== '' && !IDLE.has(word)).map(singular);
}

function singular(word: string): string {
  if (word.length < 4 || /(?:ss|us|is)$/u.test(word)) return word;
  return word
    .replace(/ies$/u, 'y')
    .replace(/(?<=[^aeiou]o|sh|ch|x)es$/u, '')
    .replace(/s$/u, '');
}

/** One thing a statement says: which attribute has which value. */
interface Slot {
  readonly attribute: string;
  readonly value: string;
  /** Only one value can hold at a time. */
  readonly single: boolean;
}

interface Statement {
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
