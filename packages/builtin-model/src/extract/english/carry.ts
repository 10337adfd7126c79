import { isLemma, isPast, isThird } from './verbs.ts';
import { isOccupation } from './words.ts';

/** A statement of a sentence that begins with "I …" or "my …", or with a thing ("Pizza is my favourite food"). */
export interface Clause {
  readonly text: string;
  readonly subject: 'self' | 'mine' | 'other';
}

export interface Piece {
  readonly text: string;
  /** What stood between it and the piece before. */
  readonly joint: string;
}

/** A piece without a subject as a statement about the last one's; null when it is more of the last statement. */
export function carriedOver(last: Clause, piece: Piece): Clause | null {
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
