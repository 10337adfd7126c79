import { ATTRIBUTE, type Groups, items, RELATION, reported, rules, tidy } from './grammar.ts';
import { isLemma, isPast, isThird, third } from './verbs.ts';

const DIET = 'vegetarian|vegan|pescatarian|pescetarian|flexitarian|omnivore|carnivore|fruitarian';

/** What the user likes, does not like, and cannot have. */
export const TASTE = rules({ category: 'health', reads: 'state' }, [
  {
    pattern:
      /^(?:am|have been) (?:[a-z]+ly |very |highly |also )?allergic to (?<what>.+)$|^have (?:an? )?(?:[a-z]+ly |bad |mild |severe )?allerg(?:y|ies) to (?<to>.+)$/iu,
    says: ({ what, to }) => each(what ?? to, (item) => `is allergic to ${item}`),
  },
  {
    pattern: /^have an? (?:severe |bad |mild |serious )?(?<what>[\p{L} -]+?) allergy$/iu,
    says: ({ what }) => `is allergic to ${what}`,
  },
  {
    pattern: new RegExp(`^(?:am|became|have been|went|turned) (?<what>(?:an? )?(?:strict )?(?:${DIET}))\\b.*$`, 'iu'),
    category: 'food',
    says: ({ what }) => `is ${what}`,
  },
  {
    pattern:
      /^am (?<how>(?:an? (?:\w+ )?(?:fan|lover) of|into|fond of|crazy about|mad about|keen on|passionate about|interested in|obsessed with|addicted to)) (?<what>.+)$/iu,
    category: 'user_preferences',
    says: ({ how, what }) => each(what, (item) => `is ${how} ${item}`),
  },
  {
    pattern: /^can not (?:stand|bear) (?<what>.+)$/iu,
    category: 'user_preferences',
    says: ({ what }) => each(what, (item) => `hates ${item}`),
  },
  {
    pattern: /^(?<verb>like|love|enjoy|adore|hate|dislike|detest|prefer) (?<what>.+)$/iu,
    category: 'user_preferences',
    says: liking,
  },
  {
    pattern: /^(?:can )?(?:speak|am fluent in) (?<what>(?:\w+ ){0,2}\p{Lu}.*)$/u,
    category: 'personal_details',
    says: ({ what }) => each(what, (item) => `speaks ${item}`),
  },
  {
    pattern: /^(?:have been|was|am|got) diagnosed with (?<what>.+)$|^suffer from (?<from>.+)$/iu,
    says: ({ what, from }) =>
      each(what ?? from, (item) => (what === undefined ? `suffers from ${item}` : `was diagnosed with ${item}`)),
  },
]);

function each(list: string | undefined, say: (item: string) => string): readonly string[] {
  const text = tidy(list ?? '');
  return text === null
    ? []
    : items(text)
        .flatMap((item) => tidy(item) ?? [])
        .map(say);
}

function liking({ verb = '', what = '' }: Groups): readonly string[] {
  const says = third(verb.toLowerCase());
  return /^to \w+ (?:know|ask|hear|see|talk)\b/iu.test(what) ? [] : each(what, (item) => `${says} ${item}`);
}

const NAMED = "(?<name>\\p{Lu}[\\p{L}'-]*)";

/** What follows "my": the user's own attributes, and the people and animals near them. */
export const MINE = rules({ category: 'family', reads: 'state' }, [
  {
    pattern: /^(?:full |first |real |given )?name is (?<name>[\p{L}'.-]+(?: [\p{L}'.-]+){0,3})(?:,.*)?$/iu,
    category: 'personal_details',
    reads: 'raw',
    says: ({ name = '' }) =>
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
    says: attribute,
  },
  {
    pattern: /^(?:all-time |absolute )?(?<what>favou?rite(?: [\p{L}-]+){0,4}?) (?<is>is|are) (?<value>.+)$/iu,
    category: 'user_preferences',
    says: attribute,
  },
  {
    pattern: new RegExp(
      `^(?<whose>(?:older |younger |elder |little |big |oldest |youngest |eldest |late |ex-)?${RELATION})(?:'s| s) name is (?<name>.+)$`,
      'iu',
    ),
    says: ({ whose, name = '' }) => (tidy(name) === null ? null : `'s ${whose} is named ${tidy(name)}`),
  },
  {
    pattern: new RegExp(
      `^(?<whose>(?:older |younger |elder |little |big |oldest |youngest |eldest |late |ex-)?${RELATION})(?:(?:'s name)? is (?:called |named )?|,? )${NAMED}$`,
      'u',
    ),
    says: ({ whose, name }) => `'s ${whose} is named ${name}`,
  },
  {
    pattern: new RegExp(
      `^(?<whose>(?:(?:older|younger|elder|little|big|oldest|youngest|eldest|late|\\w+-year-old) )?${RELATION}(?: \\p{Lu}[\\p{L}'-]*)?) (?:just |also |already |recently |currently |really )?(?<doing>[a-z]+)(?<what> .+)?$`,
      'u',
    ),
    reads: 'event',
    says: relative,
  },
]);

function attribute({ what = '', is = 'is', value = '' }: Groups): string | null {
  const text = tidy(value.replace(/^(?:probably |definitely |currently |now |actually |on (?=\d|the|[A-Z]))/iu, ''));
  if (text === null || UNSAID.test(text)) return null;
  const plain = what.replace(/^(?:current|new) /iu, '');
  const one = plain.charAt(0).toLowerCase() + plain.slice(1);
  return `'s ${one} ${one.endsWith('s') ? is.replace('is', one === 'hobbies' || one === 'allergies' ? 'are' : is) : 'is'} ${reported(text)}`;
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
