import {
  ATTRIBUTE,
  fromGerund,
  isEvent,
  isHabit,
  isLasting,
  isOccupation,
  NOT_HELD,
  OCCASION,
  placed,
  type Rule,
  reported,
  standsAlone,
  table,
  third,
  tidy,
  type Values,
} from './grammar.ts';

// One line is one rule: what a whole clause looks like → what it says of the user # its category and way of reading.
// `<slot>` is a value, put right as grammar.ts tells; "!name" is a function below that says it.

export const DIET = 'vegetarian|vegan|pescatarian|pescetarian|flexitarian|omnivore|carnivore|fruitarian';
const SINCE = '(?:now|happily|recently|still|finally|newly)';
const SOMEWHAT = '(?:[a-z]+ly |very |also |bad |mild |severe |serious )?';

/** Who somebody is, and where. */
const PERSON = String.raw`
(?:am|turned|just turned|have turned) <age>(?: years? old| years)?(?: today| now| already)? → is <age> years old
am (?:called |named )?<name>,? from <place> → 's name is <name>; is from <place>
am(?: called| named)? <name> → 's name is <name>
(?:go by|am known as) <name> → is called <name>
was born (?:on |in )?(?<when>(?:the )?(?:\d.*|(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)\w*\b.*\d.*)) → !bornOn # raw
(?:live|am living|reside|am residing|am based|have lived|have been living|have been based|settled(?: down)?) (?<at>in|near|on|at|outside) <place> → lives <at> <place>
(?:have |had )?(?:moved|relocated|emigrated|immigrated)(?: back| over| house)?(?: from (?<from>.+?))? (?:in)?to (?<to>.+?)(?: from (?<origin>.+))? → !movedTo
(?:live|am living) (?<what>alone|with .+) → lives <what>
(?:used to live|lived|was living) (?<at>in|near|on) <place> → used to live <at> <place>
moved (?:out of|away from) <place> → no longer lives in <place>
(?:am|come|am coming|originally come)(?: originally)? from <place>(?: originally)? → is from <place>
(?:was born(?: and raised)?|am born) in <place> → was born in <place>
(?:grew up|was raised) in <place> → grew up in <place>
(?:am|got|have been|have got)(?: ${SINCE})? (?<state>married|engaged)(?: (?:to|with) (?<whom>.+))? → !married # family
married <name> → is married to <name> # family
(?:am|got|have been)(?: ${SINCE})? (?<state>single|divorced|widowed|separated|in a relationship)(?: from .+)? → is <state> # family
am (?<size>[\d.,]+ ?(?:cm|m|feet|ft|foot|inches|centimet\w+|met\w+)(?: \d+)?)(?: tall) → is <size> tall
weigh (?<weight>\d.*) → weighs <weight>
(?:am|have) (?<what>(?:also )?(?:(?:half|originally|native) )?(?:left-handed|right-handed|pregnant|diabetic|colou?r-?blind|deaf|blind|asthmatic|autistic|dyslexic|bilingual|retired|unemployed|self-employed|jewish|muslim|christian|catholic|hindu|buddhist|atheist|agnostic|gay|lesbian|bisexual|straight|transgender|non-binary|lactose[- ]intolerant|gluten[- ]intolerant|gluten[- ]free|coeliac|celiac|\p{Lu}\p{L}+(?:an|ese|ish|ch|ek)(?: citizen)?|(?:afraid|scared) of .+|(?:red|blue|green|white|black|yellow|grey|gray|brown|orange))) → is <what>
am (?<what>an? (?:[\w-]+ ){0,2}(?:person|owl|introvert|extrovert|Muslim|Christian|Catholic|Buddhist|Hindu|Jew|atheist|twin|only child|single (?:mum|mom|dad|parent)|grandmother|grandfather|widow|widower|beginner|veteran|(?:mum|mom|mother|dad|father) of (?:\w+))) → is <what>`;

/** What somebody does for a living, and what they study. */
const WORK = String.raw`
(?:work|am working|am employed|have worked|have been working|started working|started work|started(?= (?:at|as) )|(?:have )?(?:got|found|took|started|have) a(?: new)? job|got hired|have just started)(?: part[- ]time| full[- ]time| remotely| mostly)? (?<rest>(?:as|at|for|in|with) .+) → !works
(?:have )?joined (?<rest>\p{Lu}.*) → !joined
(?:used to work|worked|was working) (?<rest>(?:as|at|for|in) .+) → !worked
(?:(?:quit|left|lost) my (?:job|position|role) (?:at|with)|(?:quit|resigned from|(?:got|was) (?:fired|laid off|let go)(?: from| by)|retired from)(?: my (?:job|position|role) (?:at|with))?) <name> → no longer works at <name>
(?:quit|left|lost|resigned from) my (?:job|position)|resigned|(?:got|was) (?:fired|laid off|let go|made redundant) → no longer works in their last job
(?:have )?left <name> → left <name>
(?:have |am )?retired → is retired
am (?:an? |the )(?<head>.+?)(?: (?:by trade|by profession))?(?<rest> (?:at|for|in|with) .+)?(?: from <place>)? → !occupation
(?:study|am studying|have been studying|started studying|major in|am majoring in|am doing an? (?:degree|phd|PhD|master's|doctorate) in) <what> → studies <what>
(?:am learning|have been learning|(?:have )?started (?:learning|to learn)) <what> → is learning <what>
am an? (?<head>(?:[\w-]+ ){0,3}(?:student|phd candidate|undergraduate|freshman|sophomore))(?<rest> (?:at|in|of) .+)? → is a <head><rest>
(?:go to|attend|am attending) (?<where>(?:\p{Lu}.*(?:University|College|School|Academy)|the [Uu]niversity of .*)) → attends <where>`;

/** What somebody likes, does not like, and cannot have. */
const TASTE = String.raw`
(?:am|have been) ${SOMEWHAT}allergic to (?!stupid|mondays|Mondays|work|people|drama|nonsense|mornings|exercise|bull)<each> → is allergic to <each>
have (?:an? )?${SOMEWHAT}allerg(?:y|ies) to <each> → is allergic to <each>
have an? ${SOMEWHAT}(?<what>[\p{L} -]+?) allergy → is allergic to <what>
(?:am|became|have been|went|turned|have become) (?<what>(?:an? )?(?:strict )?(?:${DIET})) → is <what> # food
am (?<how>(?:an? (?:\w+ )?(?:fan|lover) of|into|fond of|crazy about|mad about|keen on|passionate about|interested in|obsessed with|addicted to)) <each> → is <how> <each> # user_preferences
can not (?:stand|bear) <each> → hates <each> # user_preferences
(?<acts>like|love|enjoy|adore|hate|dislike|detest|prefer)(?! (?:to|the) (?:know|ask|hear|see|talk|fact|idea|way|sound)\b) <each> → <acts> <each> # user_preferences
(?:can )?(?:speak|am fluent in) (?<each>(?:[a-z]+ ){0,2}\p{Lu}.*) → speaks <each> # personal_details
(?:have been|was|am|got) diagnosed with <each> → was diagnosed with <each>
suffer from <each> → suffers from <each>
can not (?<verb>eat|drink|have|swim|drive|cook|dance|sing|read|fly)(?<what>(?: .+)?) → !cannot # undated`;

/** What somebody plans, has, and does. */
const DOING = String.raw`
(?:am )?(?:really |seriously )?(?:plan|intend|aim)(?:n?ing)? to <plan> → plans to <plan> # milestones
(?:am |have been )?(?:really )?hop(?:e|ing) to <plan> → hopes to <plan> # milestones
(?:really )?want to <plan> → wants to <plan> # milestones
(?:am )?plan(?:ning)? (?<plan>(?:an?|our|my|the) (?:[\w-]+ ){0,2}(?:trip|wedding|party|holiday|vacation|visit|move|race|renovation|journey|honeymoon).*) → plans <plan> # milestones
(?:am going to|am about to) <plan> → plans to <plan> # milestones
will (?!be\b|not\b|never\b)<plan> → plans to <plan> # milestones dated
would (?:really )?(?:like|love) to <plan> → would like to <plan> # milestones
(?:dream of|am dreaming of|am thinking (?:of|about)|am considering) (?<what>\w+ing\b.*) → is thinking of <what> # milestones
am (?<what>(?:flying|moving|travelling|traveling|going|leaving|visiting|starting|hosting|seeing|running|getting married|having (?:surgery|a baby|an operation|a party))\b.*) → is <what> # milestones dated
(?<acts>fly|move|leave|start|travel|go) (?<what>(?:to|for|from|my|a) .+) → <acts> <what> # milestones dated
(?:have|have got) (?<what>(?:an?|two|three|\d+|my) (?:${OCCASION}|\w+s) (?:on|in|around) .*\d{4}.*) → has <what> # dated
got (?<what>(?:an?|two|three) (?:new )?(?:dog|cat|puppy|kitten|parrot|rabbit|hamster|horse|car|bike|motorbike|house|flat|tattoo|degree|baby|scholarship|kittens|cats|dogs)\b.*) → got <what>
have (?<ever>never )?been to (?<what>\p{Lu}.*) → has <ever>been to <what> # travel
(?:have|have got|own) (?<what>(?:an?|one|two|three|four|five|six|seven|eight|nine|ten|no|my own|\d+|type|high|low|chronic) .+|(?:diabetes|asthma|arthritis|migraines?|insomnia|anxiety|depression|adhd|ADHD|autism|epilepsy|eczema|hay fever|celiac disease|coeliac disease|cancer|allergies|kids|children|siblings|pets|twins)\b.*) → !held # state
(?:was|were) in (?<where>\p{Lu}.+) → was in <where> # travel dated
used to (?<verb>\w+)(?<rest>.*) → !usedTo
(?:got|was|have been) promoted(?<rest>.*) → got promoted<rest> # professional_details
(?:(?:broke|split) up with|separated from|left(?= my (?:\w+friend|husband|wife|partner))) <what> → broke up with <what> # family
gave birth to <what> → gave birth to <what> # family
(?<verb>sold|gave away|scrapped) <what> → <verb> <what>
(?:gave up(?! on)|dropped out of|stopped learning|quit learning) <what> → gave up <what>
never (?<verb>worked|lived|studied) (?<rest>(?:at|in|for) .+) → never <verb> <rest>
(?:have )?(?:just )?(?<verb>[a-z]+)(?<rest> .+) → !happened
(?:am |have been )?(?!going)(?<verb>[a-z]+ing)(?<rest> .+) → !doing
(?:(?<often>always|usually|often|sometimes|rarely|mostly|generally|normally|regularly|occasionally|never) )?(?<verb>[a-z]+)(?<rest>(?: .+)?) → !habit`;

/** What somebody tells of what is theirs. */
const OWN = String.raw`
(?:full |first |real |given )?name is (?<who>[\p{L}'.-]+(?: [\p{L}'.-]+){0,3}) → !name
(?<what>(?:current |new )?${ATTRIBUTE}) (?:is|are) (?<value>.+) → !attribute
(?:all-time |absolute )?(?<what>favou?rite(?! (?:part|thing|line|scene|bit|moment|one))(?: [\p{L}-]+){0,4}?) (?<is>is|are) (?<value>.+) → !attribute # user_preferences`;

/** What has a day. */
const OCCASIONS = String.raw`
(?<thing>${OCCASION}) (?:is|will be|is now|(?:was|got|has been|have been|is|is being) (?:re)?(?:moved|rescheduled|scheduled|postponed|pushed back|brought forward) (?:to|for)|moved to) (?<when>(?:on|in|around) \d?.*\d{4}.*) → 's <thing> is <when> # dated
(?<thing>${OCCASION}) (?:(?:was|is|got|has been) (?:cancelled|canceled|called off)|is off) → 's <thing> was cancelled`;

function bornOn({ when = '' }: Values): string {
  return `was born ${/^(?:[A-Za-z]+ )?(?:19|20)\d\d(?= in |$)/u.test(when) ? 'in' : 'on'} ${when}`;
}

/** Where somebody moved is where they live. */
function movedTo({ from, to = '', origin }: Values): string | null {
  const place = placed(to);
  const left = placed(from ?? origin ?? '');
  return place === null || !SOMEWHERE.test(place)
    ? null
    : `lives in ${place}${left === null ? '' : ` (moved from ${left})`}`;
}

/** Towns and homes; one also moves to the back of a bus. */
const SOMEWHERE =
  /^(?:(?:the )?\p{Lu}|[a-z]+$|(?:an?|their) (?:[\w-]+ ){0,2}(?:flat|apartment|house|place|studio|village|farm|town)\b|the (?:city|suburbs|countryside|coast|seaside|mountains|country))/u;

function married({ state, whom }: Values): string | null {
  if (whom === undefined) return `is ${state}`;
  const who = tidy(whom);
  return who === null ||
    !/^(?:\p{Lu}|their|an? )/u.test(who) ||
    /\b(?:laptop|job|work|game|bed|sofa|phone)\b/u.test(who)
    ? null
    : `is ${state} to ${who}`;
}

/** "at Acme as a nurse", in any order, as one sentence: where, as what, in which field. */
function employment(rest: string): string | null {
  const part = (words: string) =>
    new RegExp(
      `(?:^|\\s)(?:${words}) (?!(?:the moment|home|fun|free|my own|the money|money|a living|now|night|nights)\\b)(.+?)(?=\\s(?:as|at|for|in|with)\\s|$)`,
      'u',
    ).exec(rest)?.[1];
  const [job, place, field] = [part('as an?|as the'), part('at|for|with'), part('in')].map((text) =>
    text === undefined ? null : tidy(text),
  );
  if ((!job && !place && !field) || /\band (?:as|at|for|in|with)\b/u.test(rest)) return null;
  const at = /(?:^|\s)(?<at>at|for|with)\s/u.exec(rest)?.groups?.at;
  return `works${place ? ` ${at} ${place}` : ''}${job ? ` as ${/^(?:[aeio]|u(?!ni))/iu.test(job) ? 'an' : 'a'} ${job}` : ''}${field ? ` in ${field}` : ''}`;
}

/** What somebody is as a manner, no more or not yet: "a bad cook", "a former nurse". */
const AS_A_MANNER =
  /^(?:good|bad|terrible|slow|great|awful|lousy|decent|better|worse|careful|big|huge|real|total|born|natural|keen|avid|amateur|hobby|home|former|ex|retired|wannabe|aspiring|future|would-be|part of)\b/u;

/** "I am a nurse at Acme" is work; "I am a knight" is not. */
function occupation({ head = '', rest = '', place }: Values): readonly string[] | null {
  const job = isOccupation(head) && !AS_A_MANNER.test(head) ? employment(`as a ${head}${rest}`) : null;
  const from = place === undefined ? null : placed(place);
  return job === null ? null : [job, ...(from === null ? [] : [`is from ${from}`])];
}

function attribute({ what = '', is = 'is', value = '' }: Values): string | null {
  const text = tidy(value.replace(/^(?:currently|now|actually|on (?=\d|the|[A-Z])) ?/iu, ''));
  if (text === null || UNSAID.test(text)) return null;
  const plain = what.replace(/^(?:current|new) /u, '');
  return `'s ${plain} ${plain.endsWith('s') ? is.replace('is', /^(?:hobbies|allergies)$/u.test(plain) ? 'are' : is) : 'is'} ${reported(text)}`;
}
const UNSAID =
  /^(?:not|a mess|broken|dead|slow|fine|good|bad|great|killing|full|ready|irrelevant|private|none of|running|too|very|so|really|going|boring|hard|tough|stressful|probably|maybe|unknown|on|at|in|today|tomorrow|tonight|yesterday|next|this|soon|coming|over|(?:mon|tues|wednes|thurs|fri|satur|sun)day)\b/iu;

/** "a dog and two cats" is two things held. */
function held({ what = '' }: Values): readonly string[] {
  return what.split(/(?:\s*,\s*|\s+)and (?=(?:an?|one|two|three|four|five|six|\d+) )/u).flatMap((thing) => {
    const text = tidy(thing);
    const head = text?.replace(/\s(?:named|called|for|in|on|at|with|of)\b.*$/u, '') ?? '';
    return text === null ||
      NOT_HELD.test(head) ||
      /^(?:two left feet|an? (?:bit|little|lot|few|cold|headache|hangover|cough|fever))\b/u.test(text)
      ? []
      : [`has ${text}`];
  });
}

function happened({ verb = '', rest = '' }: Values): string | null {
  const text = tidy(rest);
  if (!isEvent(verb) || text === null || FREQUENT.test(rest)) return null;
  if ((/^(?:went|flew|met|began|ran)$/u.test(verb) && !/\p{Lu}|\d{4}/u.test(rest)) || ASTRAY.test(rest)) return null;
  return `${verb} ${text}`;
}

/** With these a verb means something else: "run out of milk", "play hard". */
const ASTRAY = /^ (?:into|out|off|by|away|hard|dumb|fair|safe|with fire|people \w+|me|him|her|crazy)\b/u;
const FREQUENT =
  /\b(?:every|each|daily|weekly|monthly|once|twice|an? (?:day|week|month|year)|\w+ times? a|on (?:weekends|weekdays|mondays|tuesdays|wednesdays|thursdays|fridays|saturdays|sundays)|in the (?:mornings?|evenings?)|in my (?:free|spare) time)\b/iu;

function habit({ often = '', verb = '', rest = '' }: Values): string | null {
  const text = rest === '' ? '' : tidy(rest);
  const says = often !== '' || FREQUENT.test(rest) ? isHabit(verb) : rest === '' ? standsAlone(verb) : isLasting(verb);
  return says && text !== null && !ASTRAY.test(rest) ? `${often} ${third(verb)} ${text}`.trim() : null;
}

const SAYS = {
  attribute,
  bornOn,
  habit,
  happened,
  held,
  married,
  movedTo,
  occupation,
  works: ({ rest = '' }: Values) => employment(rest),
  worked: ({ rest = '' }: Values) => employment(rest)?.replace(/^works/u, 'used to work') ?? null,
  joined: ({ rest = '' }: Values) => employment(`at ${rest}`),
  doing: ({ verb = '', rest = '' }: Values) => habit({ verb: fromGerund(verb) ?? '', rest }),
  usedTo: ({ verb = '', rest = '' }: Values) =>
    (isHabit(verb) || /^(?:have|be)$/u.test(verb)) && (rest === '' || tidy(rest) !== null)
      ? `used to ${verb} ${tidy(rest) ?? ''}`.trim()
      : null,
  cannot: ({ verb, what = '' }: Values) =>
    what === '' || (tidy(what) !== null && !/\b(?:any more|yet|now|all)\b/u.test(what))
      ? `cannot ${verb}${what}`
      : null,
  name: ({ who = '' }: Values) =>
    /^(?:not|important|irrelevant|hard|spelled|a|the|on|too|so|very)\b/iu.test(who) ? null : `'s name is ${who}`,
};

/** What follows "I", the first that fits; and what people near the user do, put as if they said it themselves. */
export const SELF: readonly Rule[] = [
  ...table(PERSON, { category: 'personal_details', reads: 'state' }, SAYS),
  ...table(WORK, { category: 'professional_details', reads: 'state' }, SAYS),
  ...table(TASTE, { category: 'health', reads: 'state' }, SAYS),
  ...table(DOING, { category: 'misc', reads: 'event' }, SAYS),
];

/** What follows "my" about things of the user's own. */
export const MINE: readonly Rule[] = [
  ...table(OWN, { category: 'personal_details', reads: 'raw' }, SAYS),
  ...table(OCCASIONS, { category: 'milestones', reads: 'event' }, SAYS),
];
