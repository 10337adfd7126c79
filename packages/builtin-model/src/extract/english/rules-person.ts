import { FEELINGS, type Groups, isOccupation, NOT_NAMES, place, rules, tidy } from './grammar.ts';

/** Who the user is, and where. */
export const PERSON = rules({ category: 'personal_details', reads: 'state' }, [
  {
    pattern:
      /^(?:am|turned|just turned|have turned) (?<age>\d{1,3})(?: years? old| years?)?(?: today| now| already| this \w+| last \w+| yesterday)?$/iu,
    reads: 'raw',
    says: ({ age }) => `is ${age} years old`,
  },
  {
    pattern:
      /^was born (?:on|in) (?<when>(?:the )?(?:\d.*|(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)\w*\b.*\d.*))$/iu,
    reads: 'raw',
    says: ({ when = '' }) => `was born ${/^(?:19|20)\d\d$|^[a-z]+ (?:19|20)\d\d$/iu.test(when) ? 'in' : 'on'} ${when}`,
  },
  {
    pattern:
      /^(?:am(?: called| named)? |go by |am known as )(?<name>\p{Lu}[\p{L}'-]*(?: \p{Lu}[\p{L}.'-]*){0,3})(?: (?:and|the|here|by the way)\b.*|,.*)?$/u,
    says: ({ name = '' }) => (NOT_NAMES.test(name) ? null : `'s name is ${name}`),
  },
  {
    pattern:
      /^(?:live|am living|reside|am residing|am based|am staying|have lived|have been living|have been based|settled(?: down)?|settled) (?<at>in|near|on|at|outside) (?<where>.+)$/iu,
    says: ({ at, where = '' }) => (/\band\b/iu.test(where) ? null : withPlace(where, (name) => `lives ${at} ${name}`)),
  },
  {
    pattern:
      /^(?:have |had )?(?:moved|relocated|emigrated|immigrated)(?: back| over| house)?(?: from (?<from>.+?))? (?:in)?to (?<to>.+?)(?: from (?<origin>.+))?$/iu,
    says: movedTo,
  },
  {
    pattern: /^(?:used to live|lived|was living) (?<at>in|near|on) (?<where>.+)$/iu,
    says: ({ at, where = '' }) => withPlace(where, (name) => `used to live ${at} ${name}`),
  },
  {
    pattern: /^moved out of (?<where>.+)$|^moved away from (?<away>.+)$/iu,
    says: ({ where, away }) => withPlace(where ?? away ?? '', (name) => `no longer lives in ${name}`),
  },
  {
    pattern: /^(?:am|come|am coming|am originally|originally come) (?:originally )?from (?<where>.+)$/iu,
    says: ({ where = '' }) => withPlace(where.replace(/ originally$/iu, ''), (name) => `is from ${name}`),
  },
  {
    pattern: /^(?:was born(?: and raised)?|am born) in (?<where>.+)$/iu,
    says: ({ where = '' }) => withPlace(where, (name) => `was born in ${name}`),
  },
  {
    pattern: /^(?:grew up|was raised) in (?<where>.+)$/iu,
    says: ({ where = '' }) => withPlace(where, (name) => `grew up in ${name}`),
  },
  {
    pattern:
      /^(?:am (?:now |happily |recently )?(?<state>married|engaged)|got (?<got>married|engaged)|married)(?: to| with)?(?: (?<whom>.+))?$/iu,
    category: 'family',
    says: ({ state, got, whom }) => `is ${state ?? got ?? 'married'}${partner(whom)}`,
  },
  {
    pattern:
      /^(?:am|got|have been) (?:now |recently )?(?<state>single|divorced|widowed|separated|in a relationship)\b.*$/iu,
    category: 'family',
    says: ({ state }) => `is ${state}`,
  },
  {
    pattern:
      /^am (?<size>[\d.,]+ ?(?:cm|m|feet|ft|foot|inches|centimet\w+|met\w+)(?: \d+)?)(?: tall)$|^weigh (?<weight>.+)$/iu,
    says: ({ size, weight }) => (size === undefined ? `weighs ${weight}` : `is ${size} tall`),
  },
  {
    pattern: /^am (?<what>(?:an? )?(?!(?:bit|little|lot|few|tad|mess)\b)[\p{L}'-].*)$/iu,
    says: trait,
  },
]);

function withPlace(where: string, say: (name: string) => string): string | null {
  const name = place(where);
  return name === null ? null : say(name);
}

/** Where somebody moved is where they live; a new job or team is no place. */
function movedTo({ from, to = '', origin }: Groups): string | null {
  if (/\b(?:team|company|job|role|position|desk|department|vim|linux|mac)\b/iu.test(to)) return null;
  const before = from ?? origin;
  const left = before === undefined ? null : place(before);
  return withPlace(to, (name) => `lives in ${name}${left === null ? '' : ` (moved from ${left})`}`);
}

function partner(whom: string | undefined): string {
  const name = whom === undefined ? null : tidy(whom);
  return name === null || /^(?:in|at|on|with|for|and)\b/iu.test(name) ? '' : ` to ${name}`;
}

/** "I am a morning person", "I am Portuguese", "I am left-handed": what one is, rather than how one feels. */
function trait({ what = '' }: Groups): string | null {
  const text = tidy(what);
  if (text === null) return null;
  if (/^an? /iu.test(text)) return FEELINGS.test(text.replace(/^an? /iu, '')) ? null : `is ${text}`;
  return LASTING.test(text) ? `is ${text}` : null;
}
const LASTING =
  /^(?:also )?(?:(?:half|originally|native) )?(?:left-handed|right-handed|pregnant|diabetic|colou?r-?blind|deaf|blind|asthmatic|autistic|dyslexic|bilingual|retired|unemployed|self-employed|jewish|muslim|christian|catholic|hindu|buddhist|atheist|agnostic|gay|lesbian|bisexual|straight|transgender|non-binary|male|female|tall|lactose[- ]intolerant|gluten[- ]intolerant|gluten[- ]free|coeliac|celiac|afraid of .+|scared of .+|good at .+|bad at .+|responsible for .+|part of .+|member of .+|the (?:father|mother|parent|owner|founder|ceo|cto|head|manager|director|captain|oldest|youngest|eldest) .+|\p{Lu}\p{L}+(?:an|ese|ish|ch|ic|ek|i|ss)(?: citizen)?)$/iu;

/** What the user does for a living, and what they study. */
export const WORK = rules({ category: 'professional_details', reads: 'state' }, [
  {
    pattern:
      /^(?:work|am working|am employed|have worked|have been working|started working|started work|started(?= (?:at|as) )|got a(?: new)? job|got hired|have a(?: new)? job|started a(?: new)? job|took a(?: new)? job|found a(?: new)? job)(?: (?:part[- ]time|full[- ]time|remotely|mostly))? (?<rest>(?:as|at|for|in|with) .+)$/iu,
    says: ({ rest = '' }) => employment(rest),
  },
  {
    pattern: /^(?:have |just )?joined (?<rest>\p{Lu}.*)$/u,
    says: ({ rest = '' }) => employment(`at ${rest}`),
  },
  {
    pattern: /^(?:used to work|worked|was working) (?<rest>(?:as|at|for|in) .+)$/iu,
    says: ({ rest = '' }) => employment(rest)?.replace(/^works/u, 'used to work') ?? null,
  },
  {
    pattern:
      /^(?:(?:quit|left|lost) my (?:job|position|role) (?:at|with)|(?:quit|resigned from|got fired from|was fired from|was laid off from|retired from)(?: my (?:job|position|role) (?:at|with))?) (?<where>\p{Lu}.*)$/u,
    says: ({ where = '' }) => (tidy(where) === null ? null : `no longer works at ${tidy(where)}`),
  },
  {
    pattern: /^am (?:an? |the |now an? |currently an? )(?<what>.+)$/iu,
    says: occupation,
  },
  {
    pattern:
      /^(?:study|am studying|have been studying|started studying|major in|am majoring in|am doing a degree in) (?<what>.+)$/iu,
    says: ({ what = '' }) => withTidy(what, (text) => `studies ${text}`),
  },
  {
    pattern:
      /^(?:am (?:an? |the )?(?<kind>(?:[\w-]+ ){0,3}(?:student|phd candidate|undergraduate|freshman|sophomore)))(?<rest> .+)?$/iu,
    says: ({ kind = '', rest = '' }) => withTidy(`${kind}${rest}`, (text) => `is a ${text}`),
  },
  {
    pattern: /^(?:go to|attend|am attending) (?<where>(?:\p{Lu}.*|.*(?:university|college|high school|school)\b.*))$/u,
    says: ({ where = '' }) => withTidy(where, (text) => `attends ${text}`),
  },
]);

function withTidy(value: string, say: (text: string) => string): string | null {
  const text = tidy(value);
  return text === null ? null : say(text);
}

/** "at Acme as a nurse", in any order, as one sentence: where, as what, in which field. */
function employment(rest: string): string | null {
  const part = (words: string) =>
    new RegExp(
      `(?:^|\\s)(?:${words}) (?!(?:the moment|home|fun|free|my own|now)\\b)(.+?)(?=\\s(?:as|at|for|in|with)\\s|$)`,
      'iu',
    ).exec(rest)?.[1];
  const [job, place, field] = [part('as an?|as the|as'), part('at|for|with'), part('in')].map((text) =>
    text === undefined ? null : tidy(text),
  );
  if (!job && !place && !field) return null;
  const at = /(?:^|\s)(?<at>at|for|with)\s/iu.exec(rest)?.groups?.at?.toLowerCase();
  return `works${place ? ` ${at} ${place}` : ''}${job ? ` as ${articled(job)}` : ''}${field ? ` in ${field}` : ''}`;
}

/** "I am a nurse at Acme" is work; "I am a morning person" is not. */
function occupation({ what = '' }: Groups): string | null {
  const [head = '', ...rest] = what.split(/\s(?=(?:at|for|in|with|from|by)\s)/iu);
  const job = tidy(head.replace(/ by (?:trade|profession).*$/iu, ''));
  if (job === null || !isOccupation(job)) return null;
  const place = rest.filter((part) => /^(?:at|for|in) /iu.test(part)).join(' ');
  return employment(`as a ${job}${place === '' ? '' : ` ${place}`}`);
}

const articled = (job: string): string => (/^(?:[aeio]|u(?!ni))/iu.test(job) ? `an ${job}` : `a ${job}`);
