import { told as spoken, tidy } from './grammar.ts';
import type { Groups, Rule } from './rule.ts';
import { isLemma, isPast, isThird } from './verbs.ts';
import { ATTRIBUTE, RELATION } from './words.ts';

const NAMED = "(?<name>\\p{Lu}[\\p{L}'-]*)";

/** What follows "my": the user's own attributes, and the people and animals near them. */
export const MINE: readonly Rule[] = [
  {
    pattern: /^(?:full |first |real |given )?name is (?<name>[\p{L}'.-]+(?: [\p{L}'.-]+){0,3})(?:,.*)?$/iu,
    category: 'personal_details',
    reads: 'raw',
    tell: ({ name = '' }) =>
      /^(?:not|important|irrelevant|hard|spelled|a|the)\b/iu.test(name)
        ? null
        : `'s name is ${name.replace(/ (?:by the way|btw|and|but).*$/iu, '')}`,
  },
  {
    pattern: new RegExp(
      `^(?<what>(?:current |new )?${ATTRIBUTE}(?: (?:to|with|at) [\\w' -]{1,40}?)?) (?:is|are) (?<value>.+)$`,
      'iu',
    ),
    category: 'personal_details',
    reads: 'raw',
    tell: attribute,
  },
  {
    pattern: /^(?:all-time |absolute )?(?<what>favou?rite(?: [\p{L}-]+){0,4}?) (?<is>is|are) (?<value>.+)$/iu,
    category: 'user_preferences',
    reads: 'state',
    tell: attribute,
  },
  {
    pattern: new RegExp(
      `^(?<whose>(?:older |younger |elder |little |big |oldest |youngest |eldest |late |ex-)?${RELATION})(?:'s| s) name is (?<name>.+)$`,
      'iu',
    ),
    category: 'family',
    reads: 'state',
    tell: ({ whose, name = '' }) => (tidy(name) === null ? null : `'s ${whose} is named ${tidy(name)}`),
  },
  {
    pattern: new RegExp(
      `^(?<whose>(?:older |younger |elder |little |big |oldest |youngest |eldest |late |ex-)?${RELATION})(?:(?:'s name)? is (?:called |named )?|,? )${NAMED}$`,
      'u',
    ),
    category: 'family',
    reads: 'state',
    tell: ({ whose, name }) => `'s ${whose} is named ${name}`,
  },
  {
    pattern: new RegExp(
      `^(?<whose>(?:(?:older|younger|elder|little|big|oldest|youngest|eldest|late|\\w+-year-old) )?${RELATION}(?: \\p{Lu}[\\p{L}'-]*)?) (?:just |also |already |recently |currently |really )?(?<doing>[a-z]+)(?<what> .+)?$`,
      'u',
    ),
    category: 'family',
    reads: 'event',
    tell: relative,
  },
];

function attribute({ what = '', is = 'is', value = '' }: Groups): string | null {
  const text = tidy(value.replace(/^(?:probably |definitely |currently |now |actually |on (?=\d|the|[A-Z]))/iu, ''));
  if (text === null || UNSAID.test(text)) return null;
  const plain = what.replace(/^(?:current|new) /iu, '');
  const one = plain.charAt(0).toLowerCase() + plain.slice(1);
  return `'s ${one} ${one.endsWith('s') ? is.replace('is', one === 'hobbies' || one === 'allergies' ? 'are' : is) : 'is'} ${spoken(text)}`;
}
const UNSAID =
  /^(?:not|a mess|broken|dead|slow|fine|good|bad|great|killing|full|ready|irrelevant|private|none of|running|too|very|so|really|going|boring|hard|tough|stressful)\b/iu;

function relative({ whose = '', doing = '', what = '' }: Groups): string | null {
  const verb = doing.toLowerCase();
  const speaks =
    /^(?:is|are|was|has|have|died|passed|turned|turns)$/u.test(verb) ||
    isThird(verb) ||
    isPast(verb) ||
    (/s$|children$/u.test(whose) && isLemma(verb));
  const text = what === '' ? '' : tidy(what);
  if (!speaks || text === null || MOOD.test(text) || (text === '' && verb !== 'died')) return null;
  return `'s ${whose} ${verb}${text === '' ? '' : ` ${text}`}`;
}
const MOOD =
  /^(?:not |so |very |really |a bit )*(?:fine|good|great|well|ok|okay|tired|angry|mad|sad|happy|here|there|coming|asking|waiting|calling|sleeping|right|wrong|annoying|annoyed|busy|asleep|going|saying|telling|cute|funny|nice|awesome|amazing)\b/iu;
