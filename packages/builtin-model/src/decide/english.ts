import { RELATION } from '../extract/english/words.ts';
import type { Slot } from './statement.ts';

interface Shape {
  readonly pattern: RegExp;
  readonly attribute: string | ((groups: Readonly<Record<string, string | undefined>>) => string);
  readonly single: boolean;
}

const FAMILY_STATE = 'married|engaged|single|divorced|widowed|separated|in a relationship';
const DIET = 'vegetarian|vegan|pescatarian|pescetarian|flexitarian|omnivore|carnivore|fruitarian';

/** The forms the extraction writes, and what each says. Verbs are in their plain form. */
const SHAPES: readonly Shape[] = [
  { pattern: /^(?:'s )?(?:full |first )?name is (?<value>.+)$/iu, attribute: 'name', single: true },
  { pattern: /^(?:is )?(?<value>\d{1,3}) years? old$/iu, attribute: 'age', single: true },
  { pattern: /^(?:'s )?age is (?<value>\d+).*$/iu, attribute: 'age', single: true },
  { pattern: /^(?:'s )?(?:birthday|date of birth) is (?:on )?(?<value>.+)$/iu, attribute: 'birthday', single: true },
  { pattern: /^was born on (?<value>.+)$/iu, attribute: 'birth date', single: true },
  { pattern: /^was born in (?<value>(?:\w+ )?\d{4})$/iu, attribute: 'birth date', single: true },
  { pattern: /^was born in (?<value>.+)$/iu, attribute: 'birthplace', single: true },
  {
    pattern:
      /^(?:live|reside|is based|is living) (?:in|at|near|on|outside) (?<value>.+?)(?: \((?:moved )?from .+\))?$/iu,
    attribute: 'residence',
    single: true,
  },
  { pattern: /^(?:has )?moved to (?<value>.+?)(?: from .+)?$/iu, attribute: 'residence', single: true },
  { pattern: /^(?:is|come) (?:originally )?from (?<value>.+)$/iu, attribute: 'origin', single: true },
  { pattern: /^grew up in (?<value>.+)$/iu, attribute: 'grew up', single: true },
  { pattern: /^is (?<value>[\d.,]+ ?\w+(?: \d+)?) tall$/iu, attribute: 'height', single: true },
  { pattern: /^weigh (?<value>.+)$/iu, attribute: 'weight', single: true },
  {
    pattern: new RegExp(`^is (?<value>(?:${FAMILY_STATE})(?: to .+)?)$`, 'iu'),
    attribute: 'marital state',
    single: true,
  },
  { pattern: new RegExp(`^is (?:an? )?(?:strict )?(?<value>${DIET})$`, 'iu'), attribute: 'diet', single: true },
  { pattern: /^is allergic to (?<value>.+)$/iu, attribute: 'allergy', single: false },
  {
    pattern:
      /^(?:is )?(?:an? (?:\w+ )?(?:fan|lover) of|is (?:into|fond of|crazy about|mad about|keen on|passionate about|interested in)) (?<value>.+)$/iu,
    attribute: 'liking',
    single: false,
  },
  { pattern: /^is (?:an? (?:\w+ )?(?:fan|lover) of) (?<value>.+)$/iu, attribute: 'liking', single: false },
  { pattern: /^speak (?<value>.+)$/iu, attribute: 'language', single: false },
  {
    pattern:
      /^(?:'s )?(?:current |new )?(?:job|profession|occupation|position|role|job title) is (?:an? )?(?<value>.+)$/iu,
    attribute: 'job',
    single: true,
  },
  { pattern: /^(?:'s )?(?:employer|company) is (?<value>.+)$/iu, attribute: 'employer', single: true },
  {
    pattern:
      /^have (?:(?:an?|one|two|three|four|five|six|seven|eight|nine|ten|no|\d+) )?(?:(?:younger|older|little|big|small) )?(?<kind>kids|children|siblings|brothers|sisters|sons|daughters)$/iu,
    attribute: ({ kind }) => `number of ${kind?.replace('kids', 'children')}`,
    single: true,
  },
  { pattern: /^have (?<value>.+)$/iu, attribute: 'having', single: false },
  {
    pattern:
      /^'s (?<kind>hobb(?:y|ies)|interests?|languages?|allerg(?:y|ies)|goals?|dreams?|passion) (?:is|are) (?<value>.+)$/iu,
    attribute: ({ kind }) => `of ${kind}`,
    single: false,
  },
  {
    pattern: /^'s (?<kind>.+?) (?:is|are) (?:named |called )(?<value>.+)$/iu,
    attribute: ({ kind }) => `name of ${kind}`,
    single: true,
  },
  {
    pattern: /^'s (?<kind>.+?) live in (?<value>.+)$/iu,
    attribute: ({ kind }) => `residence of ${kind}`,
    single: true,
  },
  {
    pattern: /^'s (?<kind>.+?) is (?<value>\d+)(?: years old)?$/iu,
    attribute: ({ kind }) => `age of ${kind}`,
    single: true,
  },
  {
    pattern: /^'s (?<kind>favou?rite .+?) (?:is|are) (?<value>.+)$/iu,
    attribute: ({ kind }) => `${kind}`.replace('favour', 'favor'),
    single: true,
  },
  {
    pattern: new RegExp(`^'s (?<kind>(?:\\w+ )?${RELATION}(?: \\w+)?) (?:is|are) (?<value>.+)$`, 'iu'),
    attribute: ({ kind }) => `of ${kind}`,
    single: false,
  },
  { pattern: /^'s (?<kind>[\w -]+?) (?:is|are) (?<value>.+)$/iu, attribute: ({ kind }) => `of ${kind}`, single: true },
];

/** What an affirmative English statement says, attribute by attribute. */
export function englishSlots(text: string): readonly Slot[] {
  const said = text.replace(/^'s (\w+(?: \w+)?) lives in/iu, "'s $1 live in");
  const work = employment(said) ?? studies(said);
  if (work !== null) return work;
  for (const { pattern, attribute, single } of SHAPES) {
    const match = pattern.exec(said);
    if (match === null) continue;
    const groups = match.groups ?? {};
    const name = typeof attribute === 'string' ? attribute : attribute(groups).toLowerCase();
    return [{ attribute: name, value: (groups.value ?? match[0]).toLowerCase(), single }];
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
