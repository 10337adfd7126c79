import { type Groups, NOT_HELD, REQUEST, rules, tidy } from './grammar.ts';
import { isGerund, isLemma, isParticiple, isPast, standsAlone, third } from './verbs.ts';

const OFTEN =
  '(?:(?<often>always|usually|often|sometimes|rarely|mostly|generally|normally|mainly|regularly|occasionally|never) )?';

/** What the user plans, has, and does: read last, with the date left in its place. */
export const DOING = rules({ category: 'misc', reads: 'event' }, [
  {
    pattern:
      /^(?:am |have been )?(?:really |seriously )?(?<verb>plan|intend|hop(?=ing)|hope|want|aim|aspire)(?:n?ing)?(?<to> to| on)? (?<what>.+)$/iu,
    category: 'milestones',
    says: ({ verb = '', to = '', what = '' }) => planned(what, planning(verb, to)),
  },
  {
    pattern: /^(?:am going to|will|am about to) (?<what>[a-z].+)$/u,
    category: 'milestones',
    says: ({ what = '' }) => (isLemma(first(what)) || /^be /u.test(what) ? planned(what, 'plans to') : null),
  },
  {
    pattern:
      /^(?:would (?:really )?(?:like|love)|dream of|am dreaming of|am thinking (?:of|about)|am considering) (?<what>.+)$/iu,
    category: 'milestones',
    says: ({ what = '' }) => (/^to |^\w+ing\b/u.test(what) ? wished(what) : null),
  },
  {
    pattern:
      /^(?:have|have got|own|got) (?<what>(?:an?|one|two|three|four|five|six|seven|eight|nine|ten|no|my own|some|many|several|\d+|type|high|low|chronic) .+|(?:diabetes|asthma|arthritis|migraines?|insomnia|anxiety|depression|adhd|autism|epilepsy|eczema|hay fever|celiac disease|coeliac disease|cancer|allergies|kids|children|siblings|pets|twins)\b.*)$/iu,
    says: ({ what = '' }) => held(what),
  },
  {
    pattern: /^can (?<not>not )?(?<what>\w+ .+|\w+)$/iu,
    category: 'hobbies',
    says: ({ not, what = '' }) => (lemmaWithObject(what) ? object(what, not === undefined ? 'can' : 'cannot') : null),
  },
  {
    pattern: /^(?:was|were) in (?<where>\p{Lu}.+)$/u,
    category: 'travel',
    says: ({ where = '' }) => object(`in ${where}`, 'was'),
  },
  {
    pattern: /^used to (?<what>.+)$/iu,
    says: ({ what = '' }) => (isLemma(first(what)) || /^(?:be|have) /u.test(what) ? object(what, 'used to') : null),
  },
  {
    pattern: /^(?<how>am|was|have been) (?<often>always |usually )?(?<what>\w+ing .+)$/iu,
    says: ({ how = '', what = '' }) =>
      isGerund(first(what)) &&
      !/^(?:having (?!surgery|a baby|an operation)|getting (?!married|divorced|a )|making|taking|doing|using)/u.test(
        what,
      )
        ? object(what, { am: 'is', was: 'was' }[how] ?? 'has been')
        : null,
  },
  {
    pattern: /^have (?<ever>never )?(?<what>(?:been|\w+) .+)$/iu,
    says: ({ ever = '', what = '' }) =>
      isParticiple(first(what)) && !/^been (?:busy|trying|thinking|wondering|good|fine|ok|well|feeling)/u.test(what)
        ? object(what, `has ${ever.trim()}`.trim())
        : null,
  },
  { pattern: new RegExp(`^${OFTEN}(?<what>.+)$`, 'iu'), says: done },
]);

const first = (text: string): string => text.split(' ')[0] ?? '';

function object(what: string, verb: string): string | null {
  const [doing = '', ...rest] = what.split(' ');
  const text = rest.length === 0 ? '' : tidy(rest.join(' '));
  return text === null ? null : `${verb} ${doing}${text === '' ? '' : ` ${text}`}`;
}

function planning(verb: string, to: string): string {
  if (to.trim() !== 'to') return 'plans';
  if (/^hop/iu.test(verb)) return 'hopes to';
  return /^(?:want|aspire)$/iu.test(verb) ? 'wants to' : 'plans to';
}

function planned(what: string, verb: string): string | null {
  if (REQUEST.test(what) || /^(?:you|to)\b/iu.test(what)) return null;
  if (
    verb === 'plans' &&
    !/\b(?:trip|wedding|party|holiday|vacation|visit|move|career|marathon|race|event|project|renovation|journey|honeymoon|\w+ing)\b/iu.test(
      what,
    )
  )
    return null;
  const text = tidy(what);
  return text === null ? null : `${verb} ${text}`;
}

function wished(what: string): string | null {
  const wish = what.replace(/^to /u, '');
  if (REQUEST.test(wish)) return null;
  const text = tidy(wish);
  if (text === null) return null;
  return what.startsWith('to ') ? `would like to ${text}` : `is thinking of ${text}`;
}

/** "a dog and two cats" is two things held. */
function held(what: string): readonly string[] {
  return what
    .split(/(?:\s*,\s*|\s+)and (?=(?:an?|one|two|three|four|five|six|\d+) )/iu)
    .flatMap((thing) => heldOne(thing) ?? []);
}

function heldOne(what: string): string | null {
  const text = tidy(what);
  const head = text?.replace(/\s(?:named|called|for|in|on|at|with|of|who|that)\b.*$/iu, '') ?? '';
  return text === null || NOT_HELD.test(head) || /^(?:a|an) (?:bit|little|lot)\b/iu.test(text) ? null : `has ${text}`;
}

const lemmaWithObject = (what: string): boolean => isLemma(first(what)) && (what.includes(' ') || standsAlone(what));

/** A plain sentence in the present or the past. */
function done({ often = '', what = '' }: Groups): string | null {
  const verb = first(what).toLowerCase();
  if (LIGHT.test(verb) && !WORTHY.test(what)) return null;
  if (isPast(verb) && !(isLemma(verb) && PRESENT.test(what))) return inThePast(what, often.trim());
  return lemmaWithObject(what) || (isLemma(verb) && often !== '') ? asHabit(what, often) : null;
}

const inThePast = (what: string, often: string): string | null =>
  what.includes(' ') ? (object(what, often)?.trim() ?? null) : null;

function asHabit(what: string, often: string): string | null {
  const verb = first(what);
  const text = object(what, '')?.trim() ?? null;
  return text === null
    ? null
    : `${often === '' ? '' : `${often} `}${third(verb.toLowerCase())}${text.slice(verb.length)}`;
}

const LIGHT =
  /^(?:have|had|am|was|do|did|got|get|gave|give|made|make|took|take|found|keep|kept|use|used|want|plan|intend|start|started|stop|stopped|avoid|call)$/u;
/** Light verbs say something only with such an object. */
const WORTHY =
  /^(?:got|get|gave birth|took up|made a career|do|did|get up|had|take) (?:an? (?:new )?(?:dog|cat|puppy|kitten|car|bike|house|job|degree|promotion|promoted|baby|tattoo|phd|scholarship|surgery|accident|heart attack)|promoted|fired|\w+ (?:every|once|twice|three times|daily)|up at|up early|yoga|pilates|karate|judo|crossfit|sports|gymnastics|to|piano)\b/iu;
/** Verbs whose past is spelled like the present: read as habits with such a time. */
const PRESENT =
  /\b(?:every|each|daily|weekly|on (?:weekends|mondays|tuesdays|wednesdays|thursdays|fridays|saturdays|sundays)|a lot|a (?:day|week|month)|in my (?:free|spare) time)\b/iu;
