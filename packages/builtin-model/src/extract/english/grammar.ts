import type { Dated, Found } from '../sentences.ts';
import { isThird, lemmaOf } from './verbs.ts';

/** What follows "I" or "my", and what that says of the user. */
export interface Rule {
  readonly pattern: RegExp;
  readonly category: string;
  /** A state leaves the date out of its text; an event keeps it; where the date is the fact itself, it is read raw. */
  readonly reads: 'state' | 'event' | 'raw';
  /** Follows "User"; null when the match says nothing worth keeping. */
  readonly says: (groups: Groups) => string | readonly string[] | null;
}
export type Groups = Readonly<Record<string, string>>;

/** Rules that are read in the usual way, unless one says otherwise. */
export const rules = (
  usual: Pick<Rule, 'category' | 'reads'>,
  list: readonly (Pick<Rule, 'pattern' | 'says'> & Partial<Rule>)[],
): readonly Rule[] => list.map((rule) => ({ ...usual, ...rule }));

/** What the first rule that has something to say about a predicate says. */
export function firstSaid(list: readonly Rule[], predicate: Dated): readonly Found[] {
  for (const { pattern, category, reads, says } of list) {
    const match = pattern.exec(textFor(reads, predicate));
    const texts = match === null ? null : says(Object.fromEntries(present(match.groups ?? {})));
    const list = typeof texts === 'string' ? [texts] : (texts ?? []);
    const validFrom = reads === 'raw' ? null : predicate.validFrom;
    if (list.length > 0) return list.map((text) => ({ text: ofUser(text), category, validFrom }));
  }
  return [];
}

function textFor(reads: Rule['reads'], { raw, without, labelled }: Dated): string {
  if (reads === 'raw') return raw;
  return reads === 'state' ? without : labelled;
}

const ofUser = (text: string): string => `User${text.startsWith("'s") ? '' : ' '}${text}`;

const present = (groups: Readonly<Record<string, string | undefined>>): readonly [string, string][] =>
  Object.entries(groups).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]]));

const CONTRACTIONS: readonly (readonly [RegExp, string])[] = [
  [/\bi'?m\b/giu, 'I am'],
  [/\bi'?ve\b/giu, 'I have'],
  [/\bi'll\b/giu, 'I will'],
  [/\bi'd\b/giu, 'I would'],
  [/\b(we)'re\b/giu, '$1 are'],
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

/** A clause goes on with a side remark from here. */
const ASIDE =
  /\s(?:when|while|because|since|although|though|if|unless|until|so that|which|who|where|whereas|as well as you|but|except that)\s.*$/iu;
const TRAILING =
  /[\s,]+(?:now|too|as well|though|again|actually|currently|right now|at the moment|these days|nowadays|anymore|any more|any longer|a lot|so much|very much|really|please|thanks|thank you|by the way|btw|you know|haha+|lol|fluently|already|at all|to be honest|honestly|i think|or something|and so on|and stuff|etc|then|instead|permanently|for good|recently|lately)$/iu;
const POINTING =
  /^(?:especially|particularly|mainly|mostly|it|its|that|this|these|those|them|him|her|he|she|they|so|what|how|why|when|if|something|anything|nothing|things?|stuff|you|your|yours|one|too|here|there|to (?:it|that|this)|the (?:idea|thought|sound|look|way|fact) ?.*)(?:\s|$)/iu;

/** An object of a statement, without asides and fillers; null when it only points at something said elsewhere. */
export function tidy(value: string): string | null {
  let text = value.replace(ASIDE, '').replace(/^[\s,:]+|[\s,.:!?]+$/gu, '');
  for (let before = ''; before !== text; ) {
    before = text;
    text = text.replace(TRAILING, '').replace(/[\s,.]+$/u, '');
  }
  return text === '' || POINTING.test(text) || text.length > VALUE_CHARS_MAX ? null : reported(text);
}
/** Longer objects are stories, not facts. */
const VALUE_CHARS_MAX = 120;

/** A place: what follows its name with a small letter is a remark. */
export function place(value: string): string | null {
  const cut = value.replace(/\s(?:with|near|for|as|on my own|alone|together|and then|to (?!the))\b.*$/iu, '');
  const [head = '', ...rest] = cut.split(/\s*,\s*/u);
  const kept = /^\p{Lu}/u.test(head) ? rest.filter((part) => /^(?:the )?\p{Lu}/u.test(part)) : rest;
  const named = tidy([head, ...kept].join(', '));
  return named === null || NO_PLACE.test(named) ? null : named;
}
const NO_PLACE =
  /^(?:fear|peace|hope|a world|the (?:moment|past|future|present|middle of)|work|home|bed|next|a (?:rush|hurry))\b/iu;

export type Denial = 'no longer' | 'not';

/** "User lives in Oslo" → "User no longer lives in Oslo"; null where denying says nothing. */
export function denied(text: string, how: Denial): string | null {
  const parts = /^(User(?:'s .+?)?) (is|can|has|plans|wants|\w+) (.+)$/u.exec(text);
  const [, subject = '', verb = '', rest = ''] = parts ?? [];
  if (verb === 'is') return `${subject} is ${how} ${rest}`;
  if (verb === 'can') return how === 'not' ? `${subject} cannot ${rest}` : `${subject} can no longer ${rest}`;
  if (!isThird(verb)) return null;
  return how === 'no longer' ? `${subject} no longer ${verb} ${rest}` : `${subject} does not ${lemmaOf(verb)} ${rest}`;
}

const APART = /\s*,\s*(?:and\s+)?|\s+and\s+|\s*&\s*/iu;
/** Pairs that are one thing. */
const PAIRS =
  /\b(?:mac and cheese|fish and chips|rock and roll|rhythm and blues|arts and crafts|bed and breakfast|salt and pepper|salt and vinegar|black and white|peanut butter and jelly|tom and jerry|dungeons and dragons|drum and bass|country and western|r and b|track and field|cookies and cream|gin and tonic)\b/iu;
const BARE_ADJECTIVE =
  /^(?:red|blue|green|white|black|yellow|dark|light|hot|cold|spicy|sweet|sour|salty|old|new|big|small|long|short|warm|dry|wet|loud|quiet|classical|modern|indoor|outdoor|fast|slow|both)$/iu;
/** Longer items are clauses of their own rather than a list. */
const ITEM_WORDS_MAX = 3;

/** "tea, coffee and cake" as three; what belongs together as one. */
export function items(value: string): readonly string[] {
  const parts = value
    .split(APART)
    .map((part) => part.trim())
    .filter((part) => part !== '');
  const short = parts.every((part) => part.split(' ').length <= ITEM_WORDS_MAX && !BARE_ADJECTIVE.test(part));
  return short && !PAIRS.test(value) && !/^(?:to|between) /iu.test(value) ? parts : [value];
}

/** Words with a capital letter that are no names. */
export const NOT_NAMES =
  /^(?:I|A|An|The|Mr|Mrs|Ms|Dr|Monday|Tuesday|Wednesday|Thursday|Friday|Saturday|Sunday|Christian|Catholic|Muslim|Jewish|Hindu|Buddhist|Atheist|Vegan|Vegetarian|Sorry|Fine|Good|Happy|Sad|Tired|Sure|Not|So|Very|Here|Back|Ready|Looking|Going|Trying|OK|Okay|Swiss|French|Dutch|Greek|Czech|Thai|Welsh|Scottish|Iraqi|Israeli|Pakistani|European|Asian|African|American|\p{Lu}\p{Ll}+(?:ese|ish|nian|rian|lian|sian|kian|gian|bian|dian|tian|ican|wegian))(?:\s|$)/u;

/** How somebody feels at the moment, and ways of speaking; not what they are. */
export const FEELINGS =
  /^(?:bit|little|lot|few|tad|mess|wreck|fool|idiot|while|moment|minute|hurry|rush|loss|joke|bad mood|good mood|huge mess|total mess|good (?:boy|girl)|step|new here|real mess)\b/iu;

const OCCUPATION =
  /(?:^|[\s-])(?:nurse|doctor|physician|surgeon|dentist|vet|pharmacist|therapist|psychologist|lawyer|attorney|judge|teacher|tutor|lecturer|professor|researcher|scientist|chemist|physicist|biologist|engineer|developer|programmer|coder|designer|architect|analyst|consultant|manager|director|executive|ceo|cto|cfo|founder|entrepreneur|accountant|auditor|banker|broker|trader|economist|statistician|mathematician|actuary|secretary|assistant|receptionist|clerk|librarian|journalist|reporter|editor|writer|author|translator|interpreter|photographer|painter|artist|illustrator|sculptor|musician|singer|pianist|guitarist|violinist|drummer|composer|dj|actor|actress|comedian|dancer|model|producer|filmmaker|chef|cook|baker|barista|bartender|waiter|waitress|butcher|farmer|gardener|fisherman|carpenter|plumber|electrician|mechanic|welder|builder|mason|roofer|driver|pilot|sailor|captain|flight attendant|conductor|courier|postman|firefighter|fireman|policeman|police officer|detective|soldier|officer|guard|paramedic|midwife|caregiver|nanny|babysitter|cleaner|janitor|hairdresser|barber|beautician|tailor|jeweller|florist|shopkeeper|cashier|salesperson|salesman|saleswoman|sales rep|realtor|real estate agent|agent|recruiter|hr specialist|marketer|freelancer|contractor|technician|administrator|sysadmin|data scientist|product owner|scrum master|coach|trainer|instructor|athlete|footballer|referee|politician|diplomat|priest|pastor|monk|nun|social worker|civil servant|veterinarian|optician|radiologist|cardiologist|neurologist|paediatrician|pediatrician|psychiatrist|physiotherapist|geologist|historian|philosopher|astronaut|youtuber|streamer|blogger|intern|apprentice|postdoc|specialist|supervisor|foreman|operator|inspector|surveyor|investor|landlord|housewife|homemaker|stay-at-home (?:mom|mum|dad|parent))s?$/iu;

/** Whether this is what somebody does for a living. */
export const isOccupation = (text: string): boolean => OCCUPATION.test(text);

/** What "my …" and "I have a …" may be about: people and animals near the user. */
export const RELATION =
  '(?:wife|husband|spouse|partner|girlfriend|boyfriend|fianc[eé]e?|mother|mom|mum|father|dad|parents?|sister|brother|siblings?|sons?|daughters?|kids?|child|children|baby|twins?|grandmother|grandma|grandfather|grandpa|grandparents?|uncle|aunt|cousin|niece|nephew|mother-in-law|father-in-law|best friend|friend|roommate|flatmate|neighbou?r|boss|manager|colleague|coworker|team|dogs?|cats?|puppy|kitten|pets?|parrot|rabbit|hamster|horse|fish|bird|turtle)';

/** What of the user has a name of its own: "my address is …". */
export const ATTRIBUTE =
  '(?:nickname|age|birthday|date of birth|birth date|birthplace|job|job title|profession|occupation|employer|company|position|role|salary|major|degree|university|school|college|hometown|home town|home city|city|address|home address|home|nationality|citizenship|native language|mother tongue|first language|second language|languages?|hobby|hobbies|interests?|passion|goal|dream|dream job|ambition|phone|phone number|number|cell|email|email address|e-mail|website|blog|username|handle|twitter|github|linkedin|blood type|height|weight|shoe size|size|clothing size|zodiac sign|star sign|religion|diet|allergy|allergies|timezone|time zone|pronouns|gender|budget|anniversary|wedding anniversary|wedding|car|bike|phone model|laptop|anthem|motto|middle name|last name|surname|family name|maiden name|specialty|fear|biggest fear|flight|appointment|exam|interview|graduation)';

/** Heads of "I have a …" that belong to the talk at hand. */
export const NOT_HELD =
  /\b(?:questions?|problems?|issues?|ideas?|doubts?|requests?|bugs?|errors?|feelings?|look|trouble|troubles|time|fun|clue|favou?r|concerns?|suggestions?|points?|thoughts?|lists?|files?|tables?|functions?|code|tasks?|scripts?|datasets?|strings?|arrays?|choice|words?|say|news|day|weekend|morning|evening|week|nice|reason|right|chance|sense|difficulty|hard time)\b/iu;

/** Wishes that are requests to the assistant. */
export const REQUEST =
  /^(?:know|ask|understand|see|check|find|hear|say|tell|thank|try|do (?:it|that|this)|talk|discuss|clarify|confirm|make sure|use|test|let|be (?:sure|able|back)|get back|get (?:some|your|a) (?:help|advice|info\w*)|give|show|write (?:a|an|some) (?:email|code|function|script|letter|poem|essay|text|message)|create (?:a|an) (?:table|list|file|function|script|account)|have (?:a|an|some|you)|fix|add|change|remove|delete|look|think|go (?:now|to bed|to sleep)|order|book|compare|convert|generate|summari[sz]e|translate|explain|share|point out|add|mention|need|call it|keep|stop here|leave it|pick|choose|start over|note|be honest|admit|wait)\b/iu;
