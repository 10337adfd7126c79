import { type Day, datedEnglish, isOnlyDate } from '../dates.ts';
import type { Dated, Found, Sentence } from '../sentences.ts';
import {
  type Denial,
  firstSaid,
  fromGerund,
  isEvent,
  isHabit,
  lemmaOf,
  OCCASION,
  RELATION,
  tidy,
  writtenOut,
} from './grammar.ts';
import { MINE, SELF } from './rules.ts';

/** Suppositions, doubts and wishes: what does not hold. */
const NOT_SO =
  /\b(?:if|unless|suppose|supposing|imagine|pretend|assuming|wish|maybe|perhaps|might|may be|could be|would have|would be|could have|should have|had I|almost|nearly|barely|hardly|probably|possibly|supposedly|allegedly|apparently|basically|practically|literally|virtually|so-called|as good as|feel like|once I|as soon as|used to think|dreamt|dreamed|was going to|were going to|was about to|my soul|I am (?:Batman|Superman|God|Santa|Groot|Iron Man))\b/iu;
/** Others who say, think or sing something. */
const REPORTED =
  /\b(?:says?|said|thinks?|thought|told me|tells|claims?|claimed|believes?|believed|insists?|insisted|jokes?|joked|writes that|wrote|heard|goes I|according to|rumou?r|lyrics?|horoscope|quote|quoted|subject line|headline|caption|screenplay|novel|the movie|the song|the book|the game|the story|the form|the text)\b/iu;
const OWN_WORD = /\bI (?:already |just |have )?(?:say|said|told you|think|believe)\b|\bas I said\b/giu;
/** Praise that is not meant: "oh great, I just love waiting". */
const IRONY =
  /^(?:oh (?:great|joy|sure|yes|yeah|wow|lovely)|yeah,? right|sure,? because|great,|wow,|how nice)|\bI (?:just|sure|so) love (?:it|how|when|being|wait|pay|gett|hav)|\blove (?:waiting|paying|being told|getting (?:up|stuck))\b/iu;

/** What an English sentence says about its speaker. What no rule reads wholly is left. */
export function readEnglish(sentence: Sentence, today: Day): readonly Found[] {
  const text = writtenOut(sentence.text);
  if (NOT_SO.test(text) || IRONY.test(text) || REPORTED.test(text.replace(OWN_WORD, '')) || /["“][^"”]* /u.test(text))
    return [];
  const clauses: Clause[] = [];
  let date = '';
  for (const piece of asked(piecesOf(text), sentence.question)) {
    if (isOnlyDate(piece.text) && clauses.at(-1)?.subject !== 'I') {
      date = ` ${piece.text}`;
      continue;
    }
    take(clauses, { ...piece, text: `${piece.text}${date}` }, today);
    date = '';
  }
  return clauses.flatMap(({ found }) => found);
}

/** A statement, whom it is of, and what was read of it. */
interface Clause {
  readonly text: string;
  /** "I", or "my sister": what a clause without a subject goes on about. */
  readonly subject: string;
  readonly found: readonly Found[];
}
interface Piece {
  readonly text: string;
  /** What stood between it and the piece before. */
  readonly joint: string;
}

const JOINT =
  /(\s*(?:[,:](?![\d/])|[;—]| -+ | – )\s*(?:(?:and|but|so|or|then)\s+)?|\s+(?:and then|and|but|so(?! (?:much|many|that|far))|or|because|although|though|while|whereas|yet|before|until|which|where)\s+)/iu;
const LEAD_IN =
  /^(?:and|but|so|well|oh|ah|um+|hmm+|hi|hey|hello|yes|yeah|yep|no(?! longer)|nope|ok|okay|right|also|actually|anyway|besides|plus|fyi|btw|by the way|in fact|to be honest|honestly|unfortunately|sadly|luckily|fortunately|sorry|wait|thanks|thank you|then|now|currently|today|these days|nowadays|right now|at the moment|in case you wondered|just so you know|you know|as you know|as I said|I said(?: that)?|I told you(?: that)?|I mean(?:t)?|I think(?: that)?|I guess(?: that)?|I believe(?: that)?|I forgot to (?:say|mention|tell you)(?: that)?|I should (?:say|mention|add)(?: that)?|let me (?:correct|introduce) myself|correction|it turns out(?: that)?|turns out(?: that)?|good news|big news|(?:please )?(?:remember|note|keep in mind|be aware|don't forget|do not forget)(?: that)?|for (?:the record|your information)|the thing is|from now on|(?:where|since|because|although|though|that)(?= (?:I|my|we|our) ))(?![\w'-])[\s,:!.-]*(?=\S)/iu;

function piecesOf(sentence: string): readonly Piece[] {
  const parts = alone(sentence).split(JOINT);
  const pieces: Piece[] = [];
  for (let i = 0; i < parts.length; i += 2) {
    const text = inFirstPerson(withDateLast(withoutLeadIn((parts[i] ?? '').trim())));
    if (text !== '') pieces.push({ text, joint: (parts[i - 1] ?? '').trim().toLowerCase() });
  }
  return pieces;
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
  const [, date = '', rest = ''] = /^(.{3,40}?),? ((?:I|we|my|our) .+)$/iu.exec(text) ?? [];
  return date !== '' && isOnlyDate(date) ? `${rest} ${date}` : text;
}

/** What "we" do, the user does. */
const inFirstPerson = (text: string): string =>
  text
    .replace(/^(?:we|both of us) are\b/iu, 'I am')
    .replace(/^we were\b/iu, 'I was')
    .replace(/^we\b/iu, 'I')
    .replace(/^our\b/iu, 'my')
    .replace(
      /^(?:(?:you can|you may|please|just|but) )*call me |^(?:people|(?:my |all my )?friends|everyone|everybody) calls? me /iu,
      'I go by ',
    );

/** "My wife and I moved": I did; with whom matters to couples only. */
const alone = (sentence: string): string =>
  sentence
    .replace(/^([Mm]y [\w-]+|\p{Lu}\p{L}+) and I ((?:broke|split) up)\b/u, 'I $2 with $1')
    .replace(
      /(?<=^|week |month |year |yesterday )(\p{Lu}\p{L}+) and I ((?:got|are|have got) (?:married|engaged))\b/u,
      'I $2 to $1',
    )
    .replace(/(?<=^|week |month |year |yesterday )(?:[Mm]y [\w-]+|\p{Lu}\p{L}+) and I\b/u, 'I');

/** A question without the part that asks: its last, unless that part is the reason for asking. */
function asked(pieces: readonly Piece[], question: boolean): readonly Piece[] {
  if (!question) return pieces;
  const [first, last] = [pieces.at(0)?.text ?? '', pieces.at(-1)?.text ?? ''];
  if (/^(?:right|ok|okay|correct|you know|no|yes|huh|eh)$/iu.test(last)) return pieces.slice(0, -1);
  const reason =
    pieces.length > 1 && FOREIGN.test(first) && /^(?:I (?:am|have|live|work|do not|can not)|my)\b/u.test(last);
  return reason ? pieces.slice(-1) : FOREIGN.test(first) ? [] : pieces.slice(0, -1);
}
const FOREIGN =
  /^(?:you|he|she|it|they|this|that|these|those|there|who|which|what|when|why|how|unless|your|his|her|its|their|every\w+|some(?:one|body)|people|please|can|could|would|will|should|do|does|did|is|are|was|were|has|let|tell|show|give|help|write|thanks?|(?:nice|great|good|pleased) to|good (?:morning|evening|day|night|afternoon)|never mind|any)\b/iu;

function take(clauses: Clause[], piece: Piece, today: Day): void {
  const last = clauses.at(-1);
  const whose = RELATIVE.exec(piece.text)?.groups?.whose;
  if (/^I\b/u.test(piece.text)) clauses.push(clauseOf(piece.text, 'I', today));
  else if (/^my\b/iu.test(piece.text))
    clauses.push(clauseOf(piece.text, whose === undefined ? 'my' : `my ${whose}`, today));
  else if (last === undefined || FOREIGN.test(piece.text) || last.subject === '')
    clauses.push(clauseOf(piece.text, '', today));
  else goOn(clauses, last, { piece, today });
}

/** A piece without a subject: a new statement about the same one, more of the last, or a remark. */
function goOn(clauses: Clause[], last: Clause, { piece, today }: { readonly piece: Piece; readonly today: Day }): void {
  const listing = /^(?:,|and|, and|or|, or)$/u.test(piece.joint);
  const own = readingsOf(last, piece, today).find(({ found }) => found.length > 0);
  if (own !== undefined) {
    clauses.push(own);
    return;
  }
  const more =
    listing && !VERB_FIRST.test(piece.text)
      ? clauseOf(
          `${last.text}${piece.joint === ',' ? ', ' : ` ${piece.joint} `}${piece.text}`.replace(' ,', ','),
          last.subject,
          today,
        )
      : null;
  if (more !== null && more.found.length > 0) clauses[clauses.length - 1] = more;
  else if (
    /^(?:not|only|except|just for|for now|temporarily)\b/u.test(piece.text) ||
    (/and|or/u.test(piece.joint) && listing && !VERB_FIRST.test(piece.text) && piece.text.split(' ').length < 4)
  )
    clauses[clauses.length - 1] = { ...last, text: more?.text ?? last.text, found: [] };
}

/** Words with which a piece of a sentence is more than the end of a list. */
const VERB_FIRST =
  /^(?:know|think|see|am|is|are|was|were|do|does|did|have|has|had|will|would|can|could|need|want|hope|\w+ed|\w+ (?:is|are|was|were|has|have|will|would|can|does|did|hates?|likes?|loves?|wants?|needs?))\b/u;

function readingsOf(last: Clause, { text, joint }: Piece, today: Day): readonly Clause[] {
  const openEnded =
    /(?<!(?:moved|relocated|went|came|flew)\b.*) to [a-z]/u.test(last.text) &&
    isHabit(text.split(' ')[0] ?? '') &&
    last.subject === 'I';
  if (/\bor\b/u.test(joint) || openEnded) return [];
  if (last.subject !== 'I' && !/^[Mm]y (?:full |first )?name/u.test(last.text)) {
    return /^(?:also )?(?:is|has|[a-z]+s) /u.test(text)
      ? [clauseOf(`${last.subject} ${text}`, last.subject, today)]
      : [];
  }
  const describes = /^(?:I am|[Mm]y (?:full |first )?name is)\b/u.test(last.text);
  const verb = /^(?:also |now |just |really |do not |no longer |have |am )*(\w+)/u.exec(text)?.[1] ?? '';
  const acts =
    isHabit(verb) ||
    isEvent(verb) ||
    /^(?:am|have|was|do not|no longer|moved|love|like|hate|enjoy|prefer|grew|got|quit|left|married|own|dislike)\b/u.test(
      text,
    );
  const said = [...(describes && last.found.length > 0 ? [`I am ${text}`] : []), ...(acts ? [`I ${text}`] : [])];
  // Who is spoken to has a name too: "I am hungry, Dad".
  return said
    .map((one) => clauseOf(one, 'I', today))
    .filter(({ found }) => !found.some(({ text: fact }) => /'s name is /u.test(fact)));
}

function clauseOf(text: string, subject: string, today: Day): Clause {
  return { text, subject, found: readClause(text, subject, today) };
}

function readClause(text: string, subject: string, today: Day): readonly Found[] {
  const dated = datedEnglish(text, today);
  if (subject === 'I') return ofSelf(each(dated, predicateOf));
  if (OF_OCCASION.test(text)) {
    const found = firstSaid(
      MINE,
      each(dated, (said) => said.replace(/^\w+ /u, '')),
    );
    return /^the /iu.test(text) ? found.map((one) => ({ ...one, text: one.text.replace(/^User's/u, 'The') })) : found;
  }
  if (subject === '') return ofOther(text, dated);
  const mine = firstSaid(
    MINE,
    each(dated, (said) => said.replace(/^my /iu, '')),
  );
  if (mine.length > 0) return mine;
  const [, nth = ''] = /^my (second|third|fourth|fifth) (?:child|kid|baby) (?:was born|arrived)\b/iu.exec(text) ?? [];
  const count = { second: 'two', third: 'three', fourth: 'four', fifth: 'five' }[nth];
  if (count !== undefined)
    return [{ text: `User has ${count} children`, category: 'family', validFrom: dated.validFrom }];
  return ofRelative(dated);
}

const OF_OCCASION = new RegExp(`^(?:[Mm]y|[Tt]he) ${OCCASION} `, 'u');

const SOFT =
  'also|really|absolutely|just|still|currently|actually|now|finally|already|recently|even|personally|honestly|definitely|truly|simply|certainly|kind of|sort of|totally|especially|particularly';
const SOFT_FIRST = new RegExp(`^(?:(?:${SOFT}|only) )+`, 'iu');
const SOFT_SECOND = new RegExp(`^(am|have|do not|am not|can|can not|will)(?: (?:${SOFT}))+ `, 'iu');

/** "I am also allergic to nuts" → "am allergic to nuts" */
const predicateOf = (clause: string): string =>
  clause
    .replace(/^I /u, '')
    .replace(SOFT_FIRST, '')
    .replace(SOFT_SECOND, '$1 ')
    .replace(/^do (?!not )(?=\w)/u, '');

const ANY_MORE = / (?:any ?more|any longer)\b/iu;
const NO_LONGER =
  /^(?:no longer|am no longer|have stopped|stopped|gave up(?= \w+ing\b)|have given up(?= \w+ing\b)|quit(?= \w+ing)) /iu;

function ofSelf(predicate: Dated): readonly Found[] {
  const denial = denialIn(predicate.raw);
  if (denial === null) return firstSaid(SELF, predicate);
  if (/ (?:when|while|without|only|today|tonight|now|yet)\b/u.test(predicate.raw.replace(/^no longer/u, ''))) return [];
  const said = each({ ...predicate, labelled: predicate.without }, affirmed);
  const known = firstSaid(SELF, said);
  // What is over was done as a rule, though nobody says how often.
  const over =
    denial === 'no longer' && known.length === 0
      ? firstSaid(
          SELF,
          each(said, (text) => `usually ${text}`),
        )
      : known;
  return over
    .map((one) => ({ ...one, text: one.text.replace(/^User usually /u, 'User ') }))
    .flatMap((found) => {
      const said = denial === 'not' && UNDENIABLE.test(found.text) ? null : denied(found.text, denial);
      return said === null ? [] : [{ ...found, text: said }];
    });
}
/** What somebody does not want to do now is talk, not a fact. */
const UNDENIABLE = /^User (?:plans|wants|hopes|would|used to)\b/u;

function denialIn(predicate: string): Denial | null {
  if (NO_LONGER.test(predicate)) return 'no longer';
  if (!/^(?:do|am) not (?!only )/u.test(predicate)) return null;
  return ANY_MORE.test(predicate) ? 'no longer' : 'not';
}

/** A denial turned into what it denies: "do not like tea any more" → "like tea" */
const affirmed = (predicate: string): string =>
  predicate
    .replace(/^am (?:not|no longer) /u, 'am ')
    .replace(/^(?:do not|no longer) /u, '')
    .replace(
      /^(?:have stopped|stopped|gave up|have given up|quit) (\w+)/u,
      (_all, gerund: string) => fromGerund(gerund) ?? gerund,
    )
    .replace(/^((?:have|own|eat|drink|like|speak) )any /u, '$1')
    .replace(ANY_MORE, '');

/** "User lives in Oslo" → "User no longer lives in Oslo"; null where denying says nothing. */
function denied(text: string, how: Denial): string | null {
  const [, verb = '', rest = ''] = /^User (\w+)(.*)$/u.exec(text) ?? [];
  if (verb === '' || isEvent(verb) || /^(?:was|grew|left|sold|used|got|broke)$/u.test(verb)) return null;
  if (verb === 'is') return `User is ${how}${rest}`;
  return how === 'no longer' ? `User no longer ${verb}${rest}` : `User does not ${lemmaOf(verb)}${rest}`;
}

const RELATIVE = new RegExp(
  `^[Mm]y (?<whose>(?:(?:older|younger|elder|little|big|oldest|youngest|eldest|late|twin|best) |ex-)?${RELATION}(?: \\p{Lu}[\\p{L}'-]*)?)(?<rest>,? .+|'s name is .+)$`,
  'u',
);
const DEAD =
  /^(?:has |have )?(?:just |recently |sadly )*(?:died|passed away|was put down|had to be put (?:down|to sleep)|is dead|is no more)\b/u;

/** What people and animals near the user do and are, read as if they said it of themselves. */
function ofRelative(dated: Dated): readonly Found[] {
  const { whose = '', rest = '' } = RELATIVE.exec(dated.raw)?.groups ?? {};
  if (whose === '') return [];
  const many = /(?:s|children)$/u.test(whose.split(' ')[0] ?? '') && !/^(?:boss)/u.test(whose);
  const said = each(dated, (text) => (RELATIVE.exec(text)?.groups?.rest ?? '').trim());
  if (DEAD.test(said.raw)) return [{ text: `User's ${whose} died`, category: 'family', validFrom: dated.validFrom }];
  const [, name] =
    /^(?:(?:'s name )?is (?:called |named )?|,? ?)(\p{Lu}[\p{L}'-]*(?: \p{Lu}[\p{L}'-]*){0,2})$/u.exec(rest.trim()) ??
    [];
  if (name !== undefined) return [{ text: `User's ${whose} is named ${name}`, category: 'family', validFrom: null }];
  return firstSaid(
    SELF,
    each(said, (text) => predicateOf(many ? text.replace(/^are\b/u, 'am') : spokenBySelf(text))),
  ).flatMap(({ text, validFrom }) => {
    const told = text.replace(/^User /u, '');
    if (text.startsWith("User's") || /^is called|^plans|^wants|^hopes/u.test(told)) return [];
    return [{ text: `User's ${whose} ${many ? inPlural(told) : told}`, category: 'family', validFrom }];
  });
}

/** "is a vet" → "am a vet", "lives in Rome" → "live in Rome" */
const spokenBySelf = (predicate: string): string =>
  predicate
    .replace(/^(?:just |also |already |recently |currently |really )+/u, '')
    .replace(/^is\b/u, 'am')
    .replace(/^\w+s(?= )/u, (verb) => (verb === 'was' ? verb : lemmaOf(verb)));
const inPlural = (told: string): string =>
  told.replace(/^is\b/u, 'are').replace(/^\w+s(?= )/u, (verb) => (verb === 'was' ? 'were' : lemmaOf(verb)));

/** "Pizza is my favourite food", "Rex died" */
function ofOther(text: string, { validFrom }: Dated): readonly Found[] {
  const [, thing = '', what = ''] = /^(.+?) is (?:my|our) (?:absolute |all-time )?(favou?rite .+)$/iu.exec(text) ?? [];
  const [value, kind] = [tidy(thing), tidy(what)];
  if (value !== null && kind !== null)
    return [{ text: `User's ${kind} is ${value}`, category: 'user_preferences', validFrom: null }];
  const [, name = '', rest = ''] = /^(\p{Lu}[\p{L}'-]+) (.+)$/u.exec(text) ?? [];
  return DEAD.test(rest) && !/\d{4}|years ago/u.test(rest) && !/^(?:It|He|She|They|This|That|Who)$/u.test(name)
    ? [{ text: `${name} died`, category: 'family', validFrom }]
    : [];
}

const each = ({ raw, without, labelled, validFrom }: Dated, change: (text: string) => string): Dated => ({
  raw: change(raw),
  without: change(without),
  labelled: change(labelled),
  validFrom,
});
