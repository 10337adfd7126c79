import { relationOf, wordsOf } from './compare.ts';
import { statementOf } from './statement.ts';

/** How the extraction marks a wish to forget: the fact or thing to forget follows. */
export const FORGET = 'User wants it forgotten: ';
export const FORGET_IN_CHINESE = '用户希望忘记：';

export const isWish = (text: string): boolean => text.startsWith(FORGET) || text.startsWith(FORGET_IN_CHINESE);

/** Whether a memory is what a wish wants forgotten. */
export function isMeant(wish: string, memory: string): boolean {
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

const isAbout = (what: string, attribute: string): boolean => CALLED[attribute]?.test(what) ?? false;

/** Every word of the thing is in the memory: "User's dog" in "User has a dog named Rex". */
function holdsAll(what: string, memory: string): boolean {
  if (/\p{Script=Han}/u.test(what)) return memory.includes(what);
  const known = new Set(wordsOf(memory.replace(/'s\b/gu, '')));
  const words = wordsOf(what.replace(/'s\b/gu, '')).filter((word) => word !== 'user');
  return words.length > 0 && words.every((word) => known.has(word));
}
