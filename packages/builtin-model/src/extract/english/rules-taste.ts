import { items, tidy } from './grammar.ts';
import type { Groups, Rule } from './rule.ts';
import { third } from './verbs.ts';

const DIET = 'vegetarian|vegan|pescatarian|pescetarian|flexitarian|omnivore|carnivore|fruitarian';

/** What the user likes, does not like, and cannot have. */
export const TASTE: readonly Rule[] = [
  {
    pattern:
      /^(?:am|have been) (?:[a-z]+ly |very |highly |also )?allergic to (?<what>.+)$|^have (?:an? )?(?:[a-z]+ly |bad |mild |severe )?allerg(?:y|ies) to (?<to>.+)$/iu,
    category: 'health',
    reads: 'state',
    tell: ({ what, to }) => each(what ?? to, (item) => `is allergic to ${item}`),
  },
  {
    pattern: /^have an? (?:severe |bad |mild |serious )?(?<what>[\p{L} -]+?) allergy$/iu,
    category: 'health',
    reads: 'state',
    tell: ({ what }) => `is allergic to ${what}`,
  },
  {
    pattern: new RegExp(`^(?:am|became|have been|went|turned) (?<what>(?:an? )?(?:strict )?(?:${DIET}))\\b.*$`, 'iu'),
    category: 'food',
    reads: 'state',
    tell: ({ what }) => `is ${what}`,
  },
  {
    pattern:
      /^am (?<how>(?:an? (?:\w+ )?(?:fan|lover) of|into|fond of|crazy about|mad about|keen on|passionate about|interested in|obsessed with|addicted to)) (?<what>.+)$/iu,
    category: 'user_preferences',
    reads: 'state',
    tell: ({ how, what }) => each(what, (item) => `is ${how} ${item}`),
  },
  {
    pattern: /^can not (?:stand|bear) (?<what>.+)$/iu,
    category: 'user_preferences',
    reads: 'state',
    tell: ({ what }) => each(what, (item) => `hates ${item}`),
  },
  {
    pattern: /^(?<verb>like|love|enjoy|adore|hate|dislike|detest|prefer) (?<what>.+)$/iu,
    category: 'user_preferences',
    reads: 'state',
    tell: liking,
  },
  {
    pattern: /^(?:can )?(?:speak|am fluent in) (?<what>(?:\w+ ){0,2}\p{Lu}.*)$/u,
    category: 'personal_details',
    reads: 'state',
    tell: ({ what }) => each(what, (item) => `speaks ${item}`),
  },
  {
    pattern: /^(?:have been|was|am|got) diagnosed with (?<what>.+)$|^suffer from (?<from>.+)$/iu,
    category: 'health',
    reads: 'state',
    tell: ({ what, from }) =>
      each(what ?? from, (item) => (what === undefined ? `suffers from ${item}` : `was diagnosed with ${item}`)),
  },
];

function each(list: string | undefined, told: (item: string) => string): readonly string[] {
  const text = tidy(list ?? '');
  return text === null
    ? []
    : items(text)
        .flatMap((item) => tidy(item) ?? [])
        .map(told);
}

function liking({ verb = '', what = '' }: Groups): readonly string[] {
  const says = third(verb.toLowerCase());
  return /^to \w+ (?:know|ask|hear|see|talk)\b/iu.test(what) ? [] : each(what, (item) => `${says} ${item}`);
}
