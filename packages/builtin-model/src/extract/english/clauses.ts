import { type Clause, carriedOver, type Piece } from './carry.ts';
import { isOnlyDate } from './dates.ts';
import { writtenOut } from './grammar.ts';

const JOINT =
  /(\s*(?:[,:](?![\d/])|[;—]| -+ | – )\s*(?:(?:and|but|so|or|then)\s+)?|\s+(?:and then|and|but|so(?! (?:much|many|that|far))|or|because|although|though|while|whereas|yet)\s+)/iu;
const LEAD_IN =
  /^(?:and|but|so|well|oh|ah|um+|hmm+|hi|hey|hello|yes|yeah|yep|no(?! longer)|nope|ok|okay|right|also|actually|anyway|besides|plus|fyi|btw|by the way|in fact|to be honest|honestly|unfortunately|sadly|luckily|fortunately|sorry|wait|thanks|thank you|then|now|currently|today|these days|nowadays|right now|at the moment|in case you wondered|just so you know|you know|as you know|as i said|i said(?: that)?|i told you(?: that)?|i mean(?:t)?|i think(?: that)?|i guess(?: that)?|i believe(?: that)?|i forgot to (?:say|mention|tell you)(?: that)?|i should (?:say|mention|add)(?: that)?|let me (?:correct|introduce) myself|correction|(?:please )?(?:remember|note|keep in mind|be aware|don't forget|do not forget)(?: that)?|for (?:the record|your information)|the thing is|(?:where|since|because|although|though|that)(?= (?:I|my|we|our) ))\b[\s,:!.-]*(?=\S)/iu;
const FOREIGN =
  /^(?:you|he|she|it|they|this|that|these|those|there|who|which|what|when|why|how|unless|your|his|her|its|their|every\w+|some(?:one|body)|people|please|can|could|would|will|should|do|does|did|is|are|let|tell|show|give|help|thanks?|(?:nice|great|good|pleased) to|good (?:morning|evening|day|night|afternoon)|not|never mind|any)\b/iu;
const HYPOTHETICAL =
  /^(?:even )?(?:if|unless|suppose|supposing|imagine|pretend|assuming|say|what if|let us say|had i)\b|\b(?:if|unless|as if)\b/iu;

/** The statements of a sentence, each with its subject; questions, suppositions and talk left out. */
export function clausesOf(sentence: string, question: boolean): readonly Clause[] {
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
