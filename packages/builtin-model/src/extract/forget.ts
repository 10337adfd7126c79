import { FORGET_CATEGORY } from '@slowwave/engine';
import { FORGET, FORGET_IN_CHINESE } from '../decide/forget.ts';
import type { Found } from './found.ts';

const ENGLISH =
  /^(?:(?:please|ok|okay|actually|and|hey|now|can you|could you|would you|i want you to|i would like you to|you can|you should)[\s,]+)*(?:(?:forget|do not remember|don't remember|stop remembering|no longer remember)|(?:delete|erase|remove)(?= (?:that i|the fact|my|what|everything|all)))(?: (?:about|the fact))*(?: (?:what|everything|all)(?: that)? (?:you know|i (?:said|told you)|you remember)(?: about)?| everything about)?(?: that| where| how| about)? (?<what>.+?)(?: (?:please|from your memory|now|ok))*$/iu;
const CHINESE =
  /^(?:请|麻烦|你|可以|能不能|帮我|把)*(?:忘记|忘掉|忘了|删除|删掉|不要再?记住|别再?记住?)(?:掉|了)?(?:关于)?(?<what>.+?)(?:这件事情?|的事情?|这一点|的信息|的记忆|吧|了|好吗|吗)*$/u;

/** A wish to forget, marked as such: the fact to forget, or the thing it is about. Null when the sentence is none. */
export function wishToForget(sentence: string, read: (statement: string) => readonly Found[]): readonly Found[] | null {
  const what = (ENGLISH.exec(sentence.replace(/’/gu, "'")) ?? CHINESE.exec(sentence))?.groups?.what;
  if (what === undefined) return null;
  const mark = /\p{Script=Han}/u.test(what) ? FORGET_IN_CHINESE : FORGET;
  const known = read(what);
  if (known.length > 0)
    return known.map((found) => ({ text: `${mark}${found.text}`, category: FORGET_CATEGORY, validFrom: null }));
  const thing = /^(?:my|our|我的?)\s*(.{1,60})$/iu.exec(what)?.[1];
  if (thing === undefined) return [];
  return [{ text: `${mark}${mark === FORGET ? "User's " : ''}${thing}`, category: FORGET_CATEGORY, validFrom: null }];
}
