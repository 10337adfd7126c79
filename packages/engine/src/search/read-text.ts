import type { IndexHit } from '../ports/search-index.ts';
import { mayMiss, overlapsBy, readTerms, remembering } from '../text/terms.ts';
import { type Topics, topicsOf } from '../text/topics.ts';
import { type Subject, toldAbout } from './subjects.ts';

/** A text as ranking and judging read it: each part when it is first asked for, and then kept. */
export class ReadText {
  readonly text: string;
  #terms: ReadonlySet<string> | null = null;
  #marks: number | null = null;
  #told: { readonly subject: Subject | null } | null = null;
  #topics: Topics | null = null;

  constructor(text: string) {
    this.text = text;
  }

  get terms(): ReadonlySet<string> {
    this.#terms ??= new Set(readTerms(this.text));
    return this.#terms;
  }

  /** A bit for each term, often the same one for several: of what the marks of another text lack its terms lack as much or more. */
  get marks(): number {
    this.#marks ??= marksOf(this.terms);
    return this.#marks;
  }

  /** Whom it is about, if it is about one of somebody's. */
  get told(): Subject | null {
    this.#told ??= { subject: toldAbout(this.text) };
    return this.#told.subject;
  }

  /** What it is about, whomever it is about. */
  get topics(): Topics {
    this.#topics ??=
      this.told === null ? topicsOf(this.text, this.terms) : topicsOf(this.text.slice(this.told.phrase.length));
    return this.#topics;
  }
}

/** About fifteen megabytes: those who talk now ask the same memories again and again. */
const remembered = remembering<ReadText>({ max: 20_000, length: 1_000 });

export const readText = (text: string): ReadText => remembered(text, () => new ReadText(text));

/** A hit with its text read. It is looked up once for a question: to find one of ten thousand texts takes longer than to use it. */
export interface ReadHit extends IndexHit {
  readonly read: ReadText;
}

export const readHit = ({ point, vectorScore, keywordScore }: IndexHit): ReadHit => ({
  point,
  vectorScore,
  keywordScore,
  read: readText(point.text),
});

/** The same as if its text ended after so many UTF-16 units. */
export const cutText = (hit: ReadHit, length: number): ReadHit =>
  hit.point.text.length <= length
    ? hit
    : readHit({ ...hit, point: { ...hit.point, text: hit.point.text.slice(0, length) } });

/** Whether texts have so much in common at least, in terms of both. Nearly none have, which their marks tell. */
export const alikeBy = (least: number, a: ReadText, b: ReadText): boolean =>
  !missesMore(a.marks & ~b.marks, mayMiss(least, a.terms.size, b.terms.size)) && overlapsBy(least, a.terms, b.terms);

/** Whether more bits are set. */
function missesMore(bits: number, most: number): boolean {
  let left = bits;
  for (let set = 1; left !== 0; set += 1) {
    if (set > most) return true;
    left &= left - 1;
  }
  return false;
}

const BITS = 32;
/** Of a term so many characters are looked at. */
const MARKED = 6;

function marksOf(terms: ReadonlySet<string>): number {
  let marks = 0;
  for (const term of terms) {
    let hash = term.length;
    for (let i = 0; i < Math.min(MARKED, term.length); i += 1) hash = (hash * 31 + term.charCodeAt(i)) | 0;
    marks |= 1 << ((hash >>> 3) % BITS);
  }
  return marks;
}
