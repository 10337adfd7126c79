import { FORGET_CATEGORY, type JsonObject } from '@slowwave/engine';
import { FORGET, FORGET_IN_CHINESE, statementOf } from '../decide.ts';
import { listOf, objectOf, textOf } from '../input.ts';
import { readChinese, type Subject } from './chinese.ts';
import { type Day, dayOf, dayTold } from './dates.ts';
import { readEnglish } from './english/read.ts';
import { type Found, inARole, type Sentence, sentencesOf } from './sentences.ts';

interface Spoken {
  readonly id: string;
  readonly content: string;
  readonly today: Day;
  /** What the user said before. */
  readonly before: readonly string[];
}
interface Extracted extends Found {
  readonly sources: readonly string[];
  readonly quote: string;
}

/** What the user says about themselves in new messages; assistants, tools and systems say nothing of them. */
export function extractFacts(input: JsonObject): JsonObject {
  const now = dayTold(objectOf(input.context).now) ?? dayOf(new Date(0));
  const facts: Extracted[] = [];
  const recent = listOf(objectOf(input.context).recent).map(objectOf);
  const said = recent.filter(({ role }) => role === 'user').map(({ content }) => textOf(content));
  let playing = said.reduce(inARole, false);
  for (const message of listOf(input.messages).map(objectOf)) {
    if (message.role !== 'user') continue;
    const content = textOf(message.content);
    const before = said.slice(-REMEMBERED);
    const inRole = playing;
    playing = inARole(playing, content);
    said.push(content);
    if (inRole) continue;
    const today = dayTold(message.timestamp) ?? now;
    for (const fact of factsOf({ id: textOf(message.id), content, today, before })) add(facts, fact);
  }
  return { facts: facts.map(written) };
}

function factsOf({ id, content, today, before }: Spoken): readonly Extracted[] {
  let subject: Subject = { kind: 'unsaid' };
  const facts = sentencesOf(content).flatMap((sentence) => {
    const read = readSentence(corrected(sentence, before), { today, subject });
    subject = read.subject;
    return read.found
      .filter(({ text }) => !SECRET.test(text))
      .map((found) => ({ ...found, sources: [id], quote: sentence.text }));
  });
  return withoutOverruled(facts);
}

/** So many messages back a correction may reach. */
const REMEMBERED = 10;

/** "I meant Bruges, not Ghent": what was said of Ghent before is meant of Bruges. */
function corrected(sentence: Sentence, before: readonly string[]): Sentence {
  const { right, wrong } =
    /\bI (?:meant|mean)(?: to say)? (?<right>[^,]{1,40}),? not (?<wrong>[^,]{1,40})$/u.exec(sentence.text)?.groups ??
    {};
  if (right === undefined || wrong === undefined) return sentence;
  const meant = before.flatMap(sentencesOf).findLast(({ text, question }) => !question && text.includes(wrong));
  return { text: meant?.text.replaceAll(wrong, right) ?? '', question: false };
}

/** Passwords, keys and card numbers are nobody's memory. */
const SECRET =
  /\b(?:password|passcode|pin code|api key|secret key|private key|credit card|ssn|social security)\b|密码|口令|银行卡号|身份证号|(?:\d[ -]?){13,}/iu;

function readSentence(sentence: Sentence, state: { readonly today: Day; readonly subject: Subject }) {
  const wish = wishToForget(
    sentence.text,
    (statement) => readStatement({ text: statement, question: false }, state).found,
  );
  return wish === null ? readStatement(sentence, state) : { found: wish, subject: state.subject };
}

function readStatement(sentence: Sentence, state: { readonly today: Day; readonly subject: Subject }) {
  if (/\p{Script=Han}/u.test(sentence.text)) return readChinese(sentence, state);
  return { found: readEnglish(sentence, state.today), subject: state.subject };
}

/** The same said twice is one fact with two sources. */
function add(facts: Extracted[], fact: Extracted): void {
  const at = facts.findIndex(({ text }) => text === fact.text);
  const known = facts[at];
  if (known === undefined) facts.push(fact);
  else facts[at] = { ...known, sources: [...new Set([...known.sources, ...fact.sources])] };
}

const written = ({ text, category, validFrom, sources, quote }: Extracted): JsonObject => ({
  text,
  source_ids: [...sources],
  quote,
  category: categoryOf(text, category),
  language: /\p{Script=Han}/u.test(text) ? 'zh' : 'en',
  valid_from: validFrom,
  about: 'user',
});

/** "I don't live in Oslo, I live in Bergen": the second says it all. */
function withoutOverruled<T extends { readonly text: string }>(facts: readonly T[]): readonly T[] {
  const statements = facts.map(({ text }) => statementOf(text));
  return facts.filter((_fact, i) => {
    const denied = statements[i];
    if (denied === undefined || denied.positive) return true;
    const attributes = denied.slots.filter(({ single }) => single).map(({ attribute }) => attribute);
    const later = statements.filter((other, j) => j !== i && other.positive);
    return !later.some(({ slots }) => slots.some(({ attribute }) => attributes.includes(attribute)));
  });
}

const WISH =
  /^(?:(?:please|ok|okay|actually|and|hey|now|can you|could you|would you|i want you to|i would like you to|you can|you should)[\s,]+)*(?:(?:forget|do not remember|don't remember|stop remembering|no longer remember)|(?:delete|erase|remove)(?= (?:that i|the fact|my|what|everything|all)))(?: (?:about|the fact))*(?: (?:what|everything|all)(?: that)? (?:you know|i (?:said|told you)|you remember)(?: about)?| everything about)?(?: that| about)? (?<what>.+?)(?: (?:please|from your memory|now|ok))*$/iu;
const WISH_IN_CHINESE =
  /^(?:请|麻烦|你|可以|能不能|帮我|把)*(?:忘记|忘掉|忘了|删除|删掉|不要再?记住|别再?记住?)(?:掉|了)?(?:关于)?(?<what>.+?)(?:这件事情?|的事情?|这一点|的信息|的记忆|吧|了|好吗|吗)*$/u;

/** "Forget where I live" */
const ASKED: readonly (readonly [RegExp, string])[] = [
  [/^where I live$/iu, 'home'],
  [/^(?:where I work|what I do)$/iu, 'work'],
  [/^how old I am$/iu, 'age'],
  [/^what I am called$/iu, 'name'],
];

/** A wish to forget, marked as such: the fact to forget, or the thing it is about. Null when the sentence is none. */
export function wishToForget(sentence: string, read: (statement: string) => readonly Found[]): readonly Found[] | null {
  const what = (WISH.exec(sentence.replace(/’/gu, "'")) ?? WISH_IN_CHINESE.exec(sentence))?.groups?.what;
  if (what === undefined) return null;
  const mark = /\p{Script=Han}/u.test(what) ? FORGET_IN_CHINESE : FORGET;
  const known = read(what);
  if (known.length > 0)
    return known.map((found) => ({ text: `${mark}${found.text}`, category: FORGET_CATEGORY, validFrom: null }));
  const asked = ASKED.find(([words]) => words.test(what))?.[1];
  const thing = asked ?? /^(?:my|our|我的?)\s*(.{1,60})$/iu.exec(what)?.[1];
  if (thing === undefined) return [];
  return [{ text: `${mark}${mark === FORGET ? "User's " : ''}${thing}`, category: FORGET_CATEGORY, validFrom: null }];
}

/** Subjects that make a liking, a plan or an event belong to more than the general heading it was found under. */
const SUBJECTS: Readonly<Record<string, RegExp>> = {
  health:
    /\b(?:allerg\w*|diabet\w*|asthma|migraine\w*|surgery|hospital|diagnosed|leg|arm|ankle|knee|injur\w*|medication|therapy|pregnant|insomnia|disease|intolerant)\b|过敏|病|手术|住院|骨折|戒烟|怀孕|失眠/iu,
  family:
    /\b(?:kids?|child(?:ren)?|sons?|daughters?|brothers?|sisters?|siblings?|wife|husband|parents?|dogs?|cats?|pupp(?:y|ies)|kittens?|pets?|baby|wedding)\b|孩子|儿子|女儿|妹|弟|哥|姐|爸|妈|猫|狗|宠物|结婚/iu,
  sports:
    /\b(?:runs?|running|marathon|football|soccer|basketball|tennis|badminton|cricket|golf|baseball|volleyball|hockey|rugby|swim\w*|cycl\w*|skiing|skis?|surf\w*|climb\w*|gym|yoga|pilates|boxing|karate|judo|sports?|crossfit)\b|跑步|足球|篮球|网球|羽毛球|乒乓球|游泳|健身|滑雪|瑜伽|运动|太极/iu,
  food: /\b(?:eats?|drinks?|food|coffee|tea|pizza|sushi|pasta|cheese|chocolate|meat|fish|vegetarian|vegan|spicy|mushrooms?|olives?|cook\w*|bak(?:es|ing)|wine|beer|milk|bread|fruit|vegetables?|cuisine|restaurants?|noodles|rice|dish)\b|吃|喝|辣|菜|肉|咖啡|茶|酒|做饭|素食|火锅|面|水果/iu,
  travel:
    /\b(?:travel\w*|trips?|visit\w*|vacation|holiday|flight|flying|abroad|hotel|airport|window seats?|backpack\w*)\b|旅游|旅行|出国|机票|酒店|去了|去[^年]/iu,
  music:
    /\b(?:music|guitar|piano|violin|drums?|cello|sings?|singing|choir|songs?|band|jazz|rock|concerts?|opera)\b|音乐|钢琴|吉他|小提琴|唱歌|歌|乐队|演唱会/iu,
  entertainment:
    /\b(?:movies?|films?|series|shows?|tv|netflix|anime|games?|gaming|theatre|theater|novels?|books?|comics?|podcasts?)\b|电影|电视|游戏|动漫|小说|看书|剧/iu,
  technology:
    /\b(?:programming|python|typescript|javascript|rust|linux|computers?|laptops?|phones?|iphone|android|software|apps?|ai|gadgets?|servers?)\b|编程|电脑|手机|软件|代码/iu,
  fashion: /\b(?:wears?|clothes|clothing|shoes?|sneakers|dress(?:es)?|jackets?|fashion|shoe size)\b|衣服|穿|鞋|时尚/iu,
  professional_details:
    /\b(?:job|works?|career|promoted|promotion|degree|university|graduat\w+|phd|company|studies|interview|exam)\b|工作|辞职|升职|毕业|大学|公司|考/iu,
  hobbies:
    /\b(?:hik\w+|paint\w*|draws?|drawing|knit\w*|garden\w*|photograph\w*|collect\w*|reads?|reading|writes?|writing|fishing|chess|dance|dancing|camping|hobb\w+|plays?)\b|爬山|画|摄影|钓鱼|下棋|跳舞|收集|爱好|读书/iu,
  milestones:
    /\b(?:married|graduated|born|won|finished|adopted|bought a house|retired|engaged)\b|结婚|生了|买房|获得/iu,
};
const GENERAL = new Set(['misc', 'user_preferences', 'milestones', 'hobbies']);

/** The heading a fact belongs under. */
function categoryOf(text: string, found: string): string {
  if (!GENERAL.has(found)) return found;
  return Object.entries(SUBJECTS).find(([, words]) => words.test(text))?.[0] ?? found;
}
