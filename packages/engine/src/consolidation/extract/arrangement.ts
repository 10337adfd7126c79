import { claimsOf, foldedOf, plainOf, type Words } from '../../text/claims.ts';
import { loopIn, mayLoop } from '../../text/loops.ts';
import { isGiven, mayCallUser, namingsIn, type Told } from '../../text/naming.ts';
import { hasWord, shareOf } from '../../text/support.ts';

/** What was said, as it is held against how a fact puts its words together. */
export interface Heard {
  /** In order. */
  readonly told: readonly Told[];
  /** What each of them says. */
  readonly words: readonly Words[];
  readonly summary: Words;
  /** Words that need no more to be names: of the summary, and who the speakers are. */
  readonly known: ReadonlySet<string>;
}

export const MISARRANGED = {
  loop: 'it says the same over and over',
  naming: 'what it calls a name was not said as one',
  apart: 'it puts together what was said apart',
  denied: 'it says what the message denies',
} as const;

/**
 * Why a fact was never said so, though all its words may have been: it ends in a loop, or says of a thing that it is itself; it
 * takes other words for a name; it says of one thing that it is another, and nobody who spoke of the one spoke of the other, or
 * only to deny it. null where it was.
 */
export function whyMisarranged(text: string, heard: Heard): string | null {
  const loop = mayLoop(text) ? loopIn(text) : null;
  if (loop !== null && !isLoopSaid(loop, heard)) return MISARRANGED.loop;
  const predicate = predicateIn(text);
  if (predicate !== null && saysItself(predicate, heard)) return MISARRANGED.loop;
  if (!namingsIn(text).every((naming) => isGiven(naming, heard.told, heard.known))) return MISARRANGED.naming;
  return predicate === null || DENIES.test(predicate.is) ? null : whyNoIdentity(predicate, heard);
}

/** Whether that has to be looked into where a fact begins with "User": found out at once, and false of most. */
export const mayBeMisarranged = (text: string): boolean =>
  mayLoop(text) || (text.startsWith("User's ") ? text.includes(' is ') || text.includes(' are ') : mayCallUser(text));

/** Whether somebody said the same thing twice at once: a line of a song is a loop, too. */
const isLoopSaid = (passage: string, { words }: Heard): boolean =>
  words.some(({ plain }) => plain.indexOf(passage) !== plain.lastIndexOf(passage));

interface Predicate {
  /** What is said to be something… */
  readonly of: string;
  /** …and what. */
  readonly is: string;
}

/** How facts of the prompts' languages say that something of the user's is something; without accents. */
const PREDICATES = [
  /^(?:the )?(?:user['’]s|my) (.{1,60}?) (?:is|are) (.+)$/iu,
  /^(?:der|die|das) (.{1,60}?) (?:des|der) (?:nutzer|benutzer)(?:s|in)? (?:ist|sind) (.+)$/iu,
  /^(?:el|la|los|las|o|a|os|as|il|lo) (.{1,60}?) (?:del?(?: la)?|d[oa]|dell['’]) ?(?:usuari[oa]|utente) (?:e|es|son|sao) (.+)$/iu,
  /^(?:le|la|les|l['’]) ?(.{1,60}?) de l['’]utilisat(?:eur|rice) (?:est|sont) (.+)$/iu,
];

function predicateIn(text: string): Predicate | null {
  const folded = foldedOf(text);
  const [, of = '', is = ''] = PREDICATES.map((form) => form.exec(folded)).find((found) => found !== null) ?? [];
  return of === '' ? null : { of, is };
}

/** "… is not a diet, …", "… is a job of …": what may say of something only that it is itself. "A car from 1998" says more. */
const SAYS_AGAIN =
  /^(?:(?:not|no|nicht|pas) )?(?:(?:an?|kein\p{L}*|ein\p{L}*|une?|uma?|(?:the )?user['’]s|his|her|their) )?(\p{L}{3,})(?= (?:of|de|von) |[,.;:!]|$)/iu;

/** Whether it says of something that it is, or is not, what it is called; somebody may have put it so. */
function saysItself({ of, is }: Predicate, { words }: Heard): boolean {
  const [begin = '', again = ''] = SAYS_AGAIN.exec(is) ?? [];
  const name = of
    .toLowerCase()
    .split(' ')
    .find((word) => word === again.toLowerCase());
  return (
    name !== undefined &&
    !words.some(({ plain }) => plain.includes(`${plainOf(begin).trimEnd()} `) && hasTwice(plain, name))
  );
}

const hasTwice = (plain: string, name: string): boolean =>
  plain.indexOf(` ${name} `) !== plain.lastIndexOf(` ${name} `);

/** Whether it says of a thing that it is, or is not, what nobody spoke of in any words: "User's gamble is not allowed". */
export function saysUnsaidOf(text: string, said: Words): boolean {
  const claims = claimsOf(predicateIn(text)?.is ?? '');
  return claims.words.length > 0 && shareOf(claims, [said]) === 0;
}

/** So many words say what something is: each of them is looked for in all that was said. */
const SAID_TO_BE = 30;

/** Who denies or changes something may name it beside what holds. */
const DENIES =
  /(?<!\p{L})(?:not|no|never|nor|longer|former|formerly|instead|rather|than|but|unlike|without|until|nicht|kein\p{L}*|statt|mehr|nunca|pas|plus|jamais|sin|sem|non|nao|mas|pero)(?!\p{L})|n['’]t/iu;

/** So many messages after each other speak of one thing. */
const TOGETHER = 4;

function whyNoIdentity(predicate: Predicate, { words, summary }: Heard): string | null {
  const [of, is] = [claimsOf(predicate.of).words, claimsOf(predicate.is).words.slice(0, SAID_TO_BE)];
  const isSaid = (word: string): boolean => words.some((one) => hasWord(one, word));
  const [saidOf, saidIs] = [of.filter(isSaid), is.filter(isSaid)];
  const isTogether = words.some((_, at) => {
    const near = [summary, ...words.slice(Math.max(0, at - TOGETHER + 1), at + 1)];
    const isNear = (word: string): boolean => near.some((one) => hasWord(one, word));
    return saidOf.every(isNear) && saidIs.filter(isNear).length * 2 >= saidIs.length;
  });
  if (saidOf.length > 0 && saidIs.length > 0 && !isTogether) return MISARRANGED.apart;
  return saidIs.some((word) => isDenied(word, words)) ? MISARRANGED.denied : null;
}

/** Whether something is spoken of only to say that it is not so: "not the violin". */
function isDenied(word: string, words: readonly Words[]): boolean {
  const form = new RegExp(`(${NOT})?(?<= )${word}`, 'gu');
  const found = words.flatMap(({ plain }) => [...plain.matchAll(form)]);
  return found.length > 0 && found.every(([, denied]) => denied !== undefined);
}

const NOT =
  ' (?:not|nicht|pas|nao|non) (?:(?:the|a|an|my|der|die|das|den|le|la|l|un|une|o|os|as|um|uma|il|lo) )?| (?:kein|keine|keinen) ';
