import type { Day } from '../calendar.ts';
import type { Dated, Found, Sentence } from '../sentences.ts';
import { datedEnglish, isOnlyDate } from './dates.ts';
import { type Denial, denied, firstSaid, isOccupation, type Rule, tidy, writtenOut } from './grammar.ts';
import { DOING } from './rules-doing.ts';
import { PERSON, WORK } from './rules-person.ts';
import { MINE, TASTE } from './rules-taste.ts';
import { fromGerund, isLemma, isPast, isThird } from './verbs.ts';

const SELF: readonly Rule[] = [...WORK, ...TASTE, ...PERSON, ...DOING];

/** What an English sentence says about its speaker. */
export function readEnglish(sentence: Sentence, today: Day): readonly Found[] {
  return clausesOf(sentence.text, sentence.question).flatMap((clause) => readClause(clause, today));
}

function readClause({ text, subject }: Clause, today: Day): readonly Found[] {
  if (subject === 'other') return favourite(text);
  const dated = datedEnglish(text, today);
  if (subject === 'mine')
    return firstSaid(
      MINE,
      each(dated, (said) => said.replace(/^my /iu, '')),
    );
  const predicate = each(dated, predicateOf);
  const denial = denialIn(predicate.raw);
  if (denial === null) return firstSaid(SELF, predicate);
  return firstSaid(SELF, each(predicate, affirmed)).flatMap((found) => {
    const said = UNDENIABLE.test(found.text) ? null : denied(found.text, denial);
    return said === null ? [] : [{ ...found, text: said }];
  });
}
/** What somebody does not want to do now is talk, not a fact. */
const UNDENIABLE = /^User (?:plans|wants|hopes|would|used to)\b/u;

/** "Pizza is my favourite food" */
function favourite(text: string): readonly Found[] {
  const [, thing = '', what = ''] = /^(.+?) is my (?:absolute |all-time )?(favou?rite .+)$/iu.exec(text) ?? [];
  const [value, kind] = [tidy(thing), tidy(what)];
  if (value === null || kind === null) return [];
  return [{ text: `User's ${kind} is ${value}`, category: 'user_preferences', validFrom: null }];
}

const SOFT =
  'also|really|absolutely|just|still|currently|actually|now|finally|already|recently|even|personally|honestly|definitely|truly|simply|certainly|kind of|sort of|totally|especially|particularly';
const SOFT_FIRST = new RegExp(`^(?:(?:${SOFT}|only) )+`, 'iu');
const SOFT_SECOND = new RegExp(`^(am|have|do not|am not|can|can not|will)(?: (?:${SOFT}))+ `, 'iu');

/** "I am also allergic to nuts" → "am allergic to nuts" */
function predicateOf(clause: string): string {
  return clause.replace(/^I /u, '').replace(SOFT_FIRST, '').replace(SOFT_SECOND, '$1 ');
}

const ANY_MORE = / (?:any ?more|any longer)\b/iu;
const NO_LONGER = /^(?:no longer|am no longer|have stopped|stopped|gave up|quit(?= \w+ing)) /iu;

function denialIn(predicate: string): Denial | null {
  if (NO_LONGER.test(predicate)) return 'no longer';
  if (!/^(?:do|am|can) not (?!only |stand |bear )/iu.test(predicate)) return null;
  return ANY_MORE.test(predicate) ? 'no longer' : 'not';
}

/** A denial turned into what it denies: "do not like tea any more" → "like tea" */
function affirmed(predicate: string): string {
  return predicate
    .replace(/^am (?:not|no longer) /iu, 'am ')
    .replace(/^can not /iu, 'can ')
    .replace(/^(?:do not|no longer) /iu, '')
    .replace(/^(?:have stopped|stopped|gave up|quit) (\w+)/iu, (_all, gerund: string) => fromGerund(gerund))
    .replace(/^((?:have|own|eat|drink|like|speak) )any /iu, '$1')
    .replace(ANY_MORE, '');
}

function each(dated: Dated, change: (text: string) => string): Dated {
  const { raw, without, labelled, validFrom } = dated;
  return { raw: change(raw), without: change(without), labelled: change(labelled), validFrom };
}

const JOINT =
  /(\s*(?:[,:](?![\d/])|[;—]| -+ | – )\s*(?:(?:and|but|so|or|then)\s+)?|\s+(?:and then|and|but|so(?! (?:much|many|that|far))|or|because|although|though|while|whereas|yet)\s+)/iu;
const LEAD_IN =
  /^(?:and|but|so|well|oh|ah|um+|hmm+|hi|hey|hello|yes|yeah|yep|no(?! longer)|nope|ok|okay|right|also|actually|anyway|besides|plus|fyi|btw|by the way|in fact|to be honest|honestly|unfortunately|sadly|luckily|fortunately|sorry|wait|thanks|thank you|then|now|currently|today|these days|nowadays|right now|at the moment|in case you wondered|just so you know|you know|as you know|as i said|i said(?: that)?|i told you(?: that)?|i mean(?:t)?|i think(?: that)?|i guess(?: that)?|i believe(?: that)?|i forgot to (?:say|mention|tell you)(?: that)?|i should (?:say|mention|add)(?: that)?|let me (?:correct|introduce) myself|correction|(?:please )?(?:remember|note|keep in mind|be aware|don't forget|do not forget)(?: that)?|for (?:the record|your information)|the thing is|(?:where|since|because|although|though|that)(?= (?:I|my|we|our) ))\b[\s,:!.-]*(?=\S)/iu;
const FOREIGN =
  /^(?:you|he|she|it|they|this|that|these|those|there|who|which|what|when|why|how|unless|your|his|her|its|their|every\w+|some(?:one|body)|people|please|can|could|would|will|should|do|does|did|is|are|let|tell|show|give|help|thanks?|(?:nice|great|good|pleased) to|good (?:morning|evening|day|night|afternoon)|not|never mind|any)\b/iu;
const HYPOTHETICAL =
  /^(?:even )?(?:if|unless|suppose|supposing|imagine|pretend|assuming|say|what if|let us say|had i)\b|\b(?:if|unless|as if)\b/iu;

/** The statements of a sentence, each with its subject; questions, suppositions and talk left out. */
function clausesOf(sentence: string, question: boolean): readonly Clause[] {
  const pieces = piecesOf(writtenOut(sentence));
  const clauses: Clause[] = [];
  let date = '';
  for (const piece of asked(pieces, question)) {
    if (HYPOTHETICAL.test(piece.text)) break;
    if (isOnlyDate(piece.text) && clauses.at(-1)?.subject !== 'self') {
      date = ` ${piece.text}`;
      continue;
    }
    take(clauses, { ...piece, text: `${piece.text}${date}` });
    date = '';
  }
  return clauses.filter(({ subject, text }) => subject !== 'other' || PRAISE.test(text));
}

/** A question without the part that asks: its last, unless that part is the reason for asking. */
function asked(pieces: readonly Piece[], question: boolean): readonly Piece[] {
  const [first, last] = [pieces.at(0)?.text ?? '', pieces.at(-1)?.text ?? ''];
  const tag = /^(?:right|ok|okay|correct|you know|no|yes|huh|eh)$/iu.test(last);
  const reason =
    pieces.length > 1 && FOREIGN.test(first) && /^(?:I (?:am|have|live|work|do not|can not)|my)\b/iu.test(last);
  if (!question || reason) return pieces;
  return tag || pieces.length > 1 ? pieces.slice(0, -1) : [];
}

/** The one statement worth hearing that does not begin with its speaker. */
const PRAISE = /^.+ is (?:my|our) (?:absolute |all-time )?favou?rite /iu;

function piecesOf(sentence: string): readonly Piece[] {
  const parts = sentence.split(JOINT);
  const pieces: Piece[] = [];
  for (let i = 0; i < parts.length; i += 2) {
    const text = withDateLast(withoutLeadIn((parts[i] ?? '').trim()));
    if (text !== '') pieces.push({ text, joint: parts[i - 1] ?? '' });
  }
  return pieces.flatMap(withOriginApart);
}

function withoutLeadIn(piece: string): string {
  let text = piece;
  for (let before = ''; before !== text; ) {
    before = text;
    text = text.replace(LEAD_IN, '');
  }
  return text;
}

/** "Last week I moved" → "I moved last week" */
function withDateLast(text: string): string {
  const [, date = '', rest = ''] = /^(.{3,40}?) ((?:I|we|my|our) .+)$/iu.exec(text) ?? [];
  return date !== '' && isOnlyDate(date) ? `${rest} ${date}` : text;
}

/** "I am Ana from Lisbon" says two things. */
function withOriginApart(piece: Piece): readonly Piece[] {
  const [, name = '', origin = ''] =
    /^((?:I am|[Mm]y name is|[Cc]all me) \p{Lu}[\p{L}'-]+(?: \p{Lu}[\p{L}'-]+)?) (from .+)$/u.exec(piece.text) ?? [];
  return name === ''
    ? [piece]
    : [
        { ...piece, text: name },
        { text: origin, joint: ', ' },
      ];
}

function take(clauses: Clause[], piece: Piece): void {
  const text = asFirstPerson(piece.text);
  const last = clauses.at(-1);
  if (/^I\b/u.test(text)) clauses.push({ text, subject: 'self' });
  else if (/^my\b/iu.test(text)) clauses.push({ text, subject: 'mine' });
  else if (
    /^(?:(?:you can |you may |please |just )?call me|(?:people|friends|everyone|everybody) calls? me)\b/iu.test(text)
  )
    clauses.push({ text: `I go by ${text.replace(/^.*call\w* me /iu, '')}`, subject: 'self' });
  else if (last === undefined || FOREIGN.test(text)) clauses.push({ text, subject: 'other' });
  else goOn(clauses, { ...piece, text });
}

/** A piece without a subject of its own: a new statement about the same one, or more of the last. */
function goOn(clauses: Clause[], piece: Piece): void {
  const last = clauses.at(-1);
  if (last === undefined) return;
  const carried = last.subject === 'other' ? null : carriedOver(last, piece);
  if (carried !== null) clauses.push(carried);
  else clauses[clauses.length - 1] = { ...last, text: `${last.text}${piece.joint}${piece.text}` };
}

/** What "we" do, the user does. */
function asFirstPerson(text: string): string {
  return text
    .replace(/^we are\b/iu, 'I am')
    .replace(/^we were\b/iu, 'I was')
    .replace(/^we\b/iu, 'I')
    .replace(/^our\b/iu, 'my');
}

/** A statement of a sentence that begins with "I …" or "my …", or with a thing ("Pizza is my favourite food"). */
interface Clause {
  readonly text: string;
  readonly subject: 'self' | 'mine' | 'other';
}

interface Piece {
  readonly text: string;
  /** What stood between it and the piece before. */
  readonly joint: string;
}

/** A piece without a subject as a statement about the last one's; null when it is more of the last statement. */
function carriedOver(last: Clause, piece: Piece): Clause | null {
  if (/\bor\b/iu.test(piece.joint)) return null;
  const named = /^my (?:full |first )?name is/iu.test(last.text);
  if (last.subject === 'mine' && !named) return ofRelative(last, piece);
  if (/^(?:I am|my name is)\b(?! allergic)/iu.test(last.text) && describesSelf(last, piece)) {
    return { text: `I am ${piece.text}`, subject: 'self' };
  }
  return continues(last, piece) ? { text: `I ${piece.text}`, subject: 'self' } : null;
}

const ADVERB = /^(?:also|always|usually|often|sometimes|never|really|just|now|do not|have|no longer) /iu;

const verbOf = (piece: Piece): string => piece.text.replace(ADVERB, '').split(' ')[0] ?? '';

/** "My sister lives in Rome and works as a doctor" */
function ofRelative(last: Clause, piece: Piece): Clause | null {
  const [, owner = ''] = /^([Mm]y \w+(?: \p{Lu}\w+)?) /u.exec(last.text) ?? [];
  const verb = verbOf(piece);
  const says = piece.text.includes(' ') && (isThird(verb) || /^(?:is|has)$/u.test(verb));
  return says ? { text: `${owner} ${piece.text}`, subject: 'mine' } : null;
}

const DESCRIBES_SELF =
  /^(?:from\s|(?:currently |now |originally |recently )?(?:living|working|studying|born|based|raised|married|single|divorced|engaged|allergic|retired|vegan|vegetarian)\b|\d{1,3}(?: years? old)?$)/iu;

/** "I am Ana, 34, from Lisbon, a nurse" */
function describesSelf(last: Clause, piece: Piece): boolean {
  if (DESCRIBES_SELF.test(piece.text)) return true;
  const [, noun] = /^an? (.+)$/iu.exec(piece.text) ?? [];
  if (noun === undefined) return false;
  const parallel = /and/iu.test(piece.joint) && /^I am an? /u.test(last.text);
  return parallel || isOccupation(noun.replace(/ (?:at|in|for|from|by) .*$/iu, ''));
}

/** "… and love dogs" begins a statement; "I want to cook and read books" goes on with what is wanted. */
function continues(last: Clause, piece: Piece): boolean {
  const verb = verbOf(piece);
  const openEnded =
    / to \w+/u.test(last.text) && isLemma(verb) && !isPast(verb) && !/ (?:moved|relocated) /u.test(last.text);
  const begins = isLemma(verb) || isPast(verb) || /^(?:am|was|do not|can not|come)\b/iu.test(piece.text);
  return piece.text.includes(' ') && begins && !openEnded;
}
