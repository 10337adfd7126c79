import { RELATION } from '../extract/chinese/words.ts';
import type { Slot } from './statement.ts';

type Shape = readonly [pattern: RegExp, attribute: string, single: boolean];

/** The forms the extraction writes, and what each says; attributes have the same names in both languages. */
const SHAPES: readonly Shape[] = [
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
  [/^(?:有|养了?)(?<value>.+)$/u, 'having', false],
  [/^(?<kind>\p{Script=Han}{1,4}?)叫(?<value>.+)$/u, 'name of', true],
  [/^(?<kind>\p{Script=Han}{1,4}?)住在(?<value>.+)$/u, 'residence of', true],
  [/^(?<kind>\p{Script=Han}{1,4}?)(?:今年)?(?<value>[\d一二三四五六七八九十百]+)岁$/u, 'age of', true],
  [/^(?<kind>爱好|兴趣爱好|兴趣|梦想|目标|愿望)是(?<value>.+)$/u, 'of', false],
  [new RegExp(`^(?<kind>${RELATION})是(?<value>.+)$`, 'u'), 'of', false],
  [/^(?<kind>\p{Script=Han}{2,5}?|QQ)是(?<value>.+)$/u, 'of', true],
];

/** Working in a city says where; it is not whom one works for. */
const CITY =
  /^(?:北京|上海|广州|深圳|杭州|成都|武汉|南京|西安|重庆|天津|苏州|长沙|厦门|青岛|大连|香港|台北|东京|伦敦|纽约|柏林|巴黎|奥斯陆|卑尔根|里斯本|新加坡|.{1,6}[市省县国])$/u;

/** What an affirmative Chinese statement says, attribute by attribute. */
export function chineseSlots(text: string): readonly Slot[] {
  const work = employment(text);
  if (work !== null) return work;
  for (const [pattern, attribute, single] of SHAPES) {
    const match = pattern.exec(text);
    if (match === null) continue;
    const { kind, ...values } = match.groups ?? {};
    const value = Object.values(values).find((found) => found !== undefined) ?? text;
    return [{ attribute: kind === undefined ? attribute : `${attribute} ${kind}`, value: value.toLowerCase(), single }];
  }
  return [{ attribute: `does ${text.slice(0, 1)}`, value: text.toLowerCase(), single: false }];
}

function employment(text: string): readonly Slot[] | null {
  const { place, job } = /^在(?<place>.+?)工作(?:，(?:职位是|做)(?<job>.+))?$/u.exec(text)?.groups ?? {};
  if (place === undefined) return null;
  const at = { attribute: CITY.test(place) ? 'place of work' : 'employer', value: place.toLowerCase(), single: true };
  return job === undefined ? [at] : [at, { attribute: 'job', value: job.toLowerCase(), single: true }];
}
