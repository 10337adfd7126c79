import type { Dated, Found } from '../sentences.ts';

/** The values of a match by the names of its slots. */
export type Values = Readonly<Record<string, string>>;

/** One line of a table: what a whole clause looks like, and what it says of the user. */
export interface Rule {
  readonly pattern: RegExp;
  readonly says: (values: Values) => string | readonly string[] | null;
  readonly category: string;
  /** A state leaves the date out of its text, an event keeps it; where the date is the fact itself, it is read raw. */
  readonly reads: 'state' | 'event' | 'raw';
  /** Whether it says something only with a date, or only without; either way, unless told. */
  readonly dated: boolean | null;
}

/** What may stand in a slot, and what becomes of it; null leaves the clause unread. */
const SLOTS: Readonly<
  Record<string, { readonly is: string; readonly as: (text: string) => string | readonly string[] | null }>
> = {
  name: { is: "\\p{Lu}[\\p{L}.'-]*(?: \\p{Lu}[\\p{L}.'-]*){0,3}", as: (text) => (NOT_NAMES.test(text) ? null : text) },
  age: {
    is: '\\d{1,3}|(?:twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety)(?:-\\w+)?|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|\\w+teen',
    as: (text) => text,
  },
  place: { is: '.+?', as: placed },
  job: { is: '.+', as: (text) => (isOccupation(text) ? tidy(text) : null) },
  what: { is: '.+', as: tidy },
  each: { is: '.+', as: (text) => listed(text) },
  acts: { is: '[a-z]+', as: third },
  plan: { is: '[a-z].+', as: (text) => (REQUEST.test(text) || NO_PLAN.test(text) ? null : tidy(text)) },
};

/** What is no plan after "am going to": a place, a figure of speech, despair. */
const NO_PLAN =
  /^(?:you|to|be|the|an?|my|bed|church|school|work|sleep|kill|die|cry|scream|explode|puke|miss|regret|lose|punch|murder)\b(?!.* (?:trip|wedding|party|holiday|vacation|visit|move|race|renovation|journey|honeymoon)\b)/u;

/** The rules of a table with the usual category and way of reading of its lines. */
export function table(
  lines: string,
  usual: Pick<Rule, 'category' | 'reads'>,
  functions: Readonly<Record<string, Rule['says']>>,
): readonly Rule[] {
  return lines
    .trim()
    .split('\n')
    .map((line) => {
      const [pattern = '', text = '', options = ''] = line.split(/ [→#] /u);
      const has = options.split(' ');
      const whole = pattern.replaceAll(/(?<!\?)<(\w+)>/gu, (_all, slot: string) => `(?<${slot}>${SLOTS[slot]?.is})`);
      return {
        pattern: new RegExp(`^(?:${whole})$`, 'u'),
        says: functions[text.slice(1)] ?? ((values: Values) => filled(text.split('; '), values)),
        category: has.find((option) => /^(?!state$|event$|raw$|dated$|undated$)./u.test(option)) ?? usual.category,
        reads: (['state', 'event', 'raw'] as const).find((reads) => has.includes(reads)) ?? usual.reads,
        dated: has.includes('dated') ? true : has.includes('undated') ? false : null,
      };
    });
}

/** Each text with its slots filled: once for every item of a list; null when a value is none. */
function filled(texts: readonly string[], values: Values): readonly string[] | null {
  let all: readonly string[] = texts;
  for (const [name, said] of Object.entries(values)) {
    const value = SLOTS[name] === undefined ? said : SLOTS[name].as(said);
    if (value === null || value.length === 0) return null;
    const items = typeof value === 'string' ? [value] : value;
    all = all.flatMap((text) =>
      text.includes(`<${name}>`) ? items.map((item) => text.replace(`<${name}>`, item)) : [text],
    );
  }
  return all.map((text) => text.replaceAll(/<\w+>/gu, '').replaceAll(/ {2,}/gu, ' ').trim());
}

/** What the first line that has something to say about a predicate says. */
export function firstSaid(list: readonly Rule[], predicate: Dated): readonly Found[] {
  for (const { pattern, category, reads, says, dated } of list) {
    const match = dated === (predicate.validFrom === null) ? null : pattern.exec(textFor(reads, predicate));
    const texts = match === null ? null : says(Object.fromEntries(present(match.groups ?? {})));
    const all = typeof texts === 'string' ? [texts] : (texts ?? []);
    const validFrom = reads === 'raw' ? null : predicate.validFrom;
    if (all.length > 0) return all.map((text) => ({ text: ofUser(text), category, validFrom }));
  }
  return [];
}

const textFor = (reads: Rule['reads'], { raw, without, labelled }: Dated): string =>
  withoutTrailing({ raw, state: without, event: labelled }[reads]);

const ofUser = (text: string): string => `User${text.startsWith("'s") ? '' : ' '}${text}`;

const present = (groups: Readonly<Record<string, string | undefined>>): readonly [string, string][] =>
  Object.entries(groups).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]]));

const CONTRACTIONS: readonly (readonly [RegExp, string])[] = [
  [/\bi'?m\b/giu, 'I am'],
  [/\bi'?ve\b/giu, 'I have'],
  [/\bi'll\b/giu, 'I will'],
  [/\bi'd\b/giu, 'I would'],
  [/\b(we|they|you)'re\b/giu, '$1 are'],
  [/\b(we)'ve\b/giu, '$1 have'],
  [/\b(we)'ll\b/giu, '$1 will'],
  [/\bwon'?t\b/giu, 'will not'],
  [/\b(?:can'?t|cannot)\b/giu, 'can not'],
  [/\b(do|does|did|is|are|was|were|have|has|would|could)n'?t\b/giu, '$1 not'],
  [/\b(name|that|it|he|she|there|what|where|who)'s\b/giu, '$1 is'],
  [/\blet'?s\b/giu, 'let us'],
  [/\bgonna\b/giu, 'going to'],
  [/\bwanna\b/giu, 'want to'],
  [/\bgotta\b/giu, 'have to'],
  [/\bi\b(?!\.)/gu, 'I'],
  [/\s+/gu, ' '],
];

/** A sentence with its contractions written out. */
export function writtenOut(sentence: string): string {
  return CONTRACTIONS.reduce((text, [from, to]) => text.replace(from, to), sentence.replace(/[’‘]/gu, "'")).trim();
}

const PERSONS: readonly (readonly [RegExp, string])[] = [
  [/\bI am\b/gu, 'they are'],
  [/\bI was\b/gu, 'they were'],
  [/\bI\b/gu, 'they'],
  [/\b(?:my|our)\b/giu, 'their'],
  [/\b(?:mine|ours)\b/giu, 'theirs'],
  [/\bmyself\b/giu, 'themselves'],
  [/\b(?:me|us)\b/gu, 'them'],
];

/** What the user says of themselves, as others say it of them. */
export const reported = (text: string): string => PERSONS.reduce((said, [from, to]) => said.replace(from, to), text);

const TRAILING =
  /[\s,]+(?:now|too|as well|again|actually|currently|right now|at the moment|these days|nowadays|anymore|any more|any longer|a lot|so much|very much|really|please|thanks|thank you|by the way|btw|by now|you know|fluently|already|at all|to be honest|honestly|and so on|and stuff|etc|then|instead|permanently|for good|recently|lately|together|after all|for work)$/iu;
const POINTING =
  /^(?:especially|particularly|mainly|mostly|it|its|that|this|these|those|them|him|her|he|she|they|so|what|how|why|when|if|something|anything|nothing|things?|stuff|you|your|yours|one|too|here|there|another|neither|both|all|none|more|less|myself|every(?:thing|one|body)|my life|the (?:first|second|third|last|other|same) .*|no one|nobody|to (?:it|that|this|you)|the (?:idea|thought|sound|look|way|fact) ?.*)(?:\s|$)/iu;
/** An object with a verb of its own is a story, not a fact. */
const STORY = /\b(?:was|were|is|are|am|did|does|had|has|will|would|could|should|who|which|that|than I|you|your|not)\b/u;

function withoutTrailing(said: string): string {
  let text = said;
  for (let before = ''; before !== text; ) {
    before = text;
    text = text.replace(TRAILING, '').replace(/[\s,.]+$/u, '');
  }
  return text;
}

/** An object of a statement without fillers; null when it only points at something said elsewhere, or tells a story. */
export function tidy(value: string): string | null {
  const text = withoutTrailing(value.replace(/^[\s,:]+|[\s,.:!?]+$/gu, ''));
  const unread = text === '' || text.length > VALUE_CHARS_MAX || POINTING.test(text) || STORY.test(text);
  return unread ? null : reported(text);
}
/** Longer objects are stories, not facts. */
const VALUE_CHARS_MAX = 120;

/** A place: what follows its name with a small letter is a remark. */
export function placed(value: string): string | null {
  const cut = value.replace(/\s(?:with|near|for|since|as|on my own|alone|and then|to (?!the))\b.*$/iu, '');
  const [head = '', ...rest] = cut.split(/\s*,\s*/u);
  const kept = rest.filter(
    (part) => /^(?:the )?\p{Lu}/u.test(part) || (/^\p{Ll}/u.test(head) && /^\p{L}+$/u.test(part)),
  );
  const named = tidy([head, ...kept].join(', '));
  return named === null || NO_PLACE.test(named) ? null : named;
}
/** One lives in hope, on coffee, out of a suitcase, and between two towns. */
const NO_PLACE =
  /^(?:fear|peace|hope|denial|sin|a (?:world|dream|bubble|simulation)|the (?:moment|past|future|present|middle of|clouds)|work|home|bed|next|a (?:rush|hurry)|coffee|bread|tea|pizza|borrowed|an? (?:\w+ )?family|the \w+ties|the \d0s|earth|mars|the moon)\b|\band\b|\b(?:team|company|job|role|position|desk|department|vim|linux|mac)\b/iu;

export type Denial = 'no longer' | 'not';

/** Lists and items that are no single thing to like, hate or speak. */
function listed(value: string): readonly string[] | null {
  const text = tidy(value);
  return text === null ? null : items(text).flatMap((item) => tidy(item) ?? []);
}

const APART = /\s*,\s*(?:and\s+)?|\s+and\s+|\s*&\s*/iu;
/** Longer items are clauses of their own rather than a list. */
const ITEM_WORDS_MAX = 3;

/** "tea, coffee and cake" as three; what belongs together as one. */
function items(value: string): readonly string[] {
  const parts = value
    .split(APART)
    .map((part) => part.trim())
    .filter((part) => part !== '');
  const short = parts.every((part) => part.split(' ').length <= ITEM_WORDS_MAX && !BARE_ADJECTIVE.test(part));
  return short && !PAIRS.test(value) && !/^(?:to|between) /iu.test(value) ? parts : [value];
}

/** What people do as a rule. With an object it says something of itself; `WHOLE` ones do so alone, all of them with "every day". */
const LASTING =
  'collect play teach coach own drive ride smoke breed raise knit sew paint bake brew sing volunteer practise practice eat drink avoid skip cycle manage write'.split(
    ' ',
  );
const WHOLE = 'smoke swim dance paint sing cook climb surf ski hike meditate garden jog snore drive knit'.split(' ');
const OTHERS =
  'work live study learn run go walk read listen watch train travel visit meet wake get take use wear exercise camp fish sail box skate row support follow commute sleep pray attend see call do make cook dance'.split(
    ' ',
  );

/** What is worth telling once it has happened. */
const EVENTS =
  'adopted bought sold built won finished started quit visited graduated climbed completed founded launched published passed donated celebrated attended joined sprained twisted broke fractured injured hurt travelled traveled flew went met ran learned learnt inherited renovated proposed watched read swam cycled hiked baked planted crashed began'.split(
    ' ',
  );

const DOUBLING = /^(?:jog|run|swim|get|quit|sit|stop|skip|knit|plan|win)$/u;

const ALL = [...new Set([...LASTING, ...WHOLE, ...OTHERS])];
const BY_GERUND = new Map(ALL.map((lemma) => [gerund(lemma), lemma]));

export const isLasting = (lemma: string): boolean => LASTING.includes(lemma);
export const standsAlone = (lemma: string): boolean => WHOLE.includes(lemma);
export const isHabit = (lemma: string): boolean => ALL.includes(lemma);
export const isEvent = (past: string): boolean => EVENTS.includes(past);

/** "living" → "live"; null for what is no gerund of a known verb. */
export const fromGerund = (word: string): string | null => BY_GERUND.get(word) ?? null;

/** "lives" → "live" */
export function lemmaOf(word: string): string {
  if (word === 'has') return 'have';
  if (!/^[a-z]/u.test(word)) return word;
  if (/[^aeiou]ies$/u.test(word)) return `${word.slice(0, -3)}y`;
  return word.replace(/(?<=s|x|z|ch|sh|o)es$|(?<!s|^i|wa)s$/u, '');
}

/** "live" → "lives" */
export function third(lemma: string): string {
  if (lemma === 'have') return 'has';
  if (/[^aeiou]y$/u.test(lemma)) return `${lemma.slice(0, -1)}ies`;
  return /(?:s|x|z|ch|sh|o)$/u.test(lemma) ? `${lemma}es` : `${lemma}s`;
}

function gerund(lemma: string): string {
  if (/[^aeioy]e$/u.test(lemma)) return `${lemma.slice(0, -1)}ing`;
  return DOUBLING.test(lemma) ? `${lemma}${lemma.at(-1)}ing` : `${lemma}ing`;
}

/** People and animals near the user: "my …". */
export const RELATION =
  '(?:wife|husband|spouse|partner|girlfriend|boyfriend|fianc[eé]e?|mother|mom|mum|father|dad|parents?|sister|brother|siblings?|sons?|daughters?|kids?|child|children|baby|twins?|grandmother|grandma|grandfather|grandpa|grandparents?|uncle|aunt|cousin|niece|nephew|mother-in-law|father-in-law|best friend|friend|roommate|flatmate|neighbou?r|boss|manager|colleague|coworker|team|dogs?|cats?|puppy|kitten|pets?|parrot|rabbit|hamster|horse|fish|bird|turtle)';

/** What of the user has a name of its own: "my address is …". */
export const ATTRIBUTE =
  '(?:nickname|age|birthday|date of birth|birth date|birthplace|job|job title|profession|occupation|employer|company|position|role|salary|major|degree|university|school|college|hometown|home town|home city|city|address|home address|home|nationality|citizenship|native language|mother tongue|first language|second language|languages?|hobby|hobbies|interests?|passion|goal|dream|dream job|ambition|phone|phone number|number|cell|email|email address|e-mail|website|blog|username|handle|twitter|github|linkedin|blood type|height|weight|shoe size|size|clothing size|zodiac sign|star sign|religion|diet|allergy|allergies|timezone|time zone|pronouns|gender|budget|anniversary|wedding anniversary|car|bike|phone model|laptop|anthem|motto|middle name|last name|surname|family name|maiden name|specialty|fear|biggest fear|show|book|film|song)';

/** What has a day: "my flight to Rome is on Friday". */
export const OCCASION =
  "(?:[\\w'-]+ ){0,2}(?:appointment|check-up|meeting|interview|exam|test|flight|train|wedding|graduation|surgery|operation|party|concert|trip|holiday|vacation|lesson|class|deadline|recital|match|race|game|dinner|visit|viewing)(?: (?:to|with|at|in|for) [\\w' -]{1,40}?)?";

/** Words with a capital letter that are no names. */
const NOT_NAMES =
  /^(?:I|A|An|The|Mum|Mom|Dad|Mr|Mrs|Ms|Dr|Monday|Tuesday|Wednesday|Thursday|Friday|Saturday|Sunday|Christian|Catholic|Muslim|Jewish|Hindu|Buddhist|Atheist|Vegan|Vegetarian|Sorry|Fine|Good|Happy|Sad|Tired|Sure|Not|So|Very|Here|Back|Ready|Looking|Going|Trying|OK|Okay|Swiss|French|Dutch|Greek|Czech|Thai|Welsh|Scottish|Iraqi|Israeli|Pakistani|European|Asian|African|American|\p{Lu}\p{Ll}+(?:ese|ish|nian|rian|lian|sian|kian|gian|bian|dian|tian|ican|wegian))(?:\s|$)/u;

const OCCUPATION =
  /(?:^|[\s-])(?:nurse|doctor|physician|surgeon|dentist|vet|pharmacist|therapist|psychologist|lawyer|attorney|judge|teacher|tutor|lecturer|professor|researcher|scientist|chemist|physicist|biologist|engineer|developer|programmer|coder|designer|architect|analyst|consultant|manager|director|executive|ceo|cto|cfo|founder|entrepreneur|accountant|auditor|banker|broker|trader|economist|statistician|mathematician|actuary|secretary|assistant|receptionist|clerk|librarian|journalist|reporter|editor|writer|author|translator|interpreter|photographer|painter|artist|illustrator|sculptor|musician|singer|pianist|guitarist|violinist|drummer|composer|dj|actor|actress|comedian|dancer|model|producer|filmmaker|chef|cook|baker|barista|bartender|waiter|waitress|butcher|farmer|gardener|fisherman|carpenter|plumber|electrician|mechanic|welder|builder|mason|roofer|driver|pilot|sailor|captain|flight attendant|conductor|courier|postman|firefighter|fireman|policeman|police officer|detective|soldier|officer|guard|paramedic|midwife|caregiver|nanny|babysitter|cleaner|janitor|hairdresser|barber|beautician|tailor|jeweller|florist|shopkeeper|cashier|salesperson|salesman|saleswoman|sales rep|realtor|real estate agent|agent|recruiter|hr specialist|marketer|freelancer|contractor|technician|administrator|sysadmin|data scientist|product owner|scrum master|coach|trainer|instructor|athlete|footballer|referee|politician|diplomat|priest|pastor|monk|nun|social worker|civil servant|veterinarian|optician|radiologist|cardiologist|neurologist|paediatrician|pediatrician|psychiatrist|physiotherapist|geologist|historian|philosopher|astronaut|youtuber|streamer|blogger|intern|apprentice|postdoc|specialist|supervisor|foreman|operator|inspector|surveyor|investor|landlord|housewife|homemaker|stay-at-home (?:mom|mum|dad|parent))s?$/iu;

/** Whether this is what somebody does for a living. */
export const isOccupation = (text: string): boolean => OCCUPATION.test(text);

/** Heads of "I have a …" that belong to the talk at hand. */
export const NOT_HELD =
  /\b(?:questions?|problems?|issues?|ideas?|doubts?|requests?|bugs?|errors?|feelings?|look|trouble|troubles|time|fun|clue|favou?r|concerns?|suggestions?|points?|thoughts?|lists?|files?|tables?|functions?|code|tasks?|scripts?|datasets?|strings?|arrays?|choice|words?|say|news|day|weekend|morning|evening|week|nice|reason|right|chance|sense|difficulty|hard time)\b/iu;

/** Wishes that are requests to the assistant. */
const REQUEST =
  /^(?:know|ask|understand|see|check|find|hear|say|tell|thank|try|do (?:it|that|this)|talk|discuss|clarify|confirm|make sure|use|test|let|be (?:sure|able|back)|get back|get (?:some|your|a) (?:help|advice|info\w*)|give|show|write (?:a|an|some) (?:email|code|function|script|letter|poem|essay|text|message)|create (?:a|an) (?:table|list|file|function|script|account)|have (?:a|an|some|you)|fix|add|change|remove|delete|look|think|go (?:now|to bed|to sleep)|order|book|compare|convert|generate|summari[sz]e|translate|explain|share|point out|add|mention|need|call it|keep|stop here|leave it|pick|choose|start over|note|be honest|admit|wait)\b/iu;

/** Pairs that are one thing. */
const PAIRS =
  /\b(?:mac and cheese|fish and chips|rock and roll|rhythm and blues|arts and crafts|bed and breakfast|salt and pepper|salt and vinegar|black and white|peanut butter and jelly|tom and jerry|dungeons and dragons|drum and bass|country and western|r and b|track and field|cookies and cream|gin and tonic)\b/iu;

const BARE_ADJECTIVE =
  /^(?:red|blue|green|white|black|yellow|dark|light|hot|cold|spicy|sweet|sour|salty|old|new|big|small|long|short|warm|dry|wet|loud|quiet|classical|modern|indoor|outdoor|fast|slow|both)$/iu;
