import { ByteReader, ByteWriter, formOf, IdReader, isSmall, LITERAL, ownerIn, putId, timeIn } from './bytes.ts';
import { FLOAT, FLOATS } from './record.ts';

/** What `live` is for a point that is withdrawn. */
export const WITHDRAWN = 2;

/** Which point it is, how new, and when what it says holds. */
export interface Head {
  readonly slot: number;
  /** 1 what holds, 0 what once held, 2 withdrawn. */
  readonly live: number;
  readonly memoryId: string;
  readonly version: number;
  readonly revision: number;
  /** The owner's count of changes when it was last written. */
  readonly change: number;
  /** In the order of FLOAT, from its first on; those of a withdrawn one are not kept. */
  readonly moments: Float64Array;
}

/** What the row of heads says of all of them: the first slot that may be in it, and the last change of any. */
interface RowOfHeads {
  readonly first: number;
  readonly change: number;
}

/**
 * Heads of points by their slots, each as it differs from the one before:
 *
 *   number    how many slots were left out
 *   one byte  live · form of the id × 4 · whether it is not the first version and revision × 64 · moments that are not as usual × 128
 *   id        see bytes.ts; as near as may be to the one before
 *   numbers   version and revision, where they are not the first · changes from it to the last one of the row
 *   moments   as usual: when it was said, and its order, from the ones before. Else two bytes with the form of each: 0 the usual one,
 *             1 a number, from the one before or from when it was said, 2 eight bytes. Of a withdrawn one: none
 */
export function packHeads(heads: readonly Head[], row: RowOfHeads): Buffer {
  const out = new ByteWriter();
  const before: Before = { slot: row.first, time: 0, owner: 0, at: 0, seq: 0 };
  for (const head of heads) putHead(out, head, { row, before });
  return out.all;
}

/** What the next head is as different as it is from. */
interface Before extends Said {
  slot: number;
  time: number;
  owner: number;
}

function putHead(out: ByteWriter, head: Head, { row, before }: { row: RowOfHeads; before: Before }): void {
  const { live, memoryId, moments } = head;
  const form = formOf(memoryId, before);
  const isFirst = head.version === 1 && head.revision === 1;
  const forms = live === WITHDRAWN ? AS_USUAL : formsOf(moments, before);
  out.number(head.slot - before.slot);
  out.byte(live | (form << FORM_BIT) | (isFirst ? 0 : LATER) | (forms === AS_USUAL ? 0 : UNUSUAL));
  putId(out, memoryId, { form, time: before.time });
  if (!isFirst) for (const number of [head.version, head.revision]) out.number(number);
  out.number(row.change - head.change);
  before.slot = head.slot + 1;
  if (form !== LITERAL) [before.time, before.owner] = [timeIn(memoryId), ownerIn(memoryId)];
  if (live !== WITHDRAWN) putMoments(out, moments, { forms, before });
}

/** Reads one head after the other into itself: of most nothing is needed as a text. */
export class HeadReader {
  slot: number;
  live = 0;
  version = 1;
  revision = 1;
  change = 0;
  readonly moments = new Float64Array(FLOATS);
  readonly id = new IdReader();
  readonly #reader: ByteReader;
  readonly #row: RowOfHeads;
  #at = 0;
  #seq = 0;

  constructor(heads: Uint8Array, row: RowOfHeads) {
    this.#reader = new ByteReader(heads);
    this.#row = row;
    this.slot = row.first - 1;
  }

  /** false: there was none. */
  next(): boolean {
    const reader = this.#reader;
    if (reader.isAtEnd) return false;
    this.slot += 1 + reader.number();
    const flags = reader.byte();
    this.live = flags & LIVE;
    this.id.read(reader, (flags >>> FORM_BIT) & FORM);
    this.version = (flags & LATER) === 0 ? 1 : reader.number();
    this.revision = (flags & LATER) === 0 ? 1 : reader.number();
    this.change = this.#row.change - reader.number();
    if (this.live !== WITHDRAWN) this.#readMoments((flags & UNUSUAL) !== 0);
    return true;
  }

  get head(): Head {
    const { slot, live, version, revision, change } = this;
    return { slot, live, memoryId: this.id.text, version, revision, change, moments: this.moments.slice() };
  }

  #readMoments(unusual: boolean): void {
    const reader = this.#reader;
    const forms = unusual ? reader.half() : AS_USUAL;
    const at = (forms & 3) === NEAR ? this.#at + reader.signed() : reader.float();
    const seq = ((forms >>> 2) & 3) === NEAR ? this.#seq + reader.signed() : reader.float();
    this.#at = isSmall(at) ? at : 0;
    this.#seq = isSmall(seq) ? seq : 0;
    this.moments[0] = at;
    this.moments[1] = seq;
    for (let place = 2; place < FLOATS; place += 1) {
      const form = (forms >>> (place * 2)) & 3;
      this.moments[place] =
        form === USUAL ? usualOf(place, at) : form === NEAR ? this.#at + reader.signed() : reader.float();
    }
  }
}

export function headsIn(heads: Uint8Array, row: RowOfHeads): Head[] {
  const reader = new HeadReader(heads, row);
  const found: Head[] = [];
  while (reader.next()) found.push(reader.head);
  return found;
}

const LIVE = 3;
const FORM_BIT = 2;
const FORM = 15;
const LATER = 64;
const UNUSUAL = 128;

const USUAL = 0;
const NEAR = 1;
const LONG = 2;
/** Of all that moments may be, in two bits each: when it was said and its order are near those before, the others as usual. */
const AS_USUAL = NEAR | (NEAR << 2);

const never = Number.POSITIVE_INFINITY;
/** What each moment is where nobody says otherwise; the third is when it was said. */
const USUAL_MOMENTS: readonly number[] = [0, 0, 0, never, never, never, 0, Number.NaN];
const VALID_FROM = FLOAT.validFrom - FLOAT.saidAt;

const usualOf = (place: number, saidAt: number): number =>
  place === VALID_FROM ? saidAt : (USUAL_MOMENTS[place] as number);

interface Said {
  at: number;
  seq: number;
}

function formsOf(moments: Float64Array, before: Readonly<Said>): number {
  const [at = 0, seq = 0] = moments;
  const near = isSmall(at) ? at : 0;
  let forms = formOfNumber(at, before.at) | (formOfNumber(seq, before.seq) << 2);
  for (let place = 2; place < FLOATS; place += 1) {
    const value = moments[place] as number;
    const form = Object.is(value, usualOf(place, at)) ? USUAL : formOfNumber(value, near);
    forms |= form << (place * 2);
  }
  return forms;
}

const formOfNumber = (value: number, near: number): number => (isSmall(value) && isSmall(value - near) ? NEAR : LONG);

function putMoments(out: ByteWriter, moments: Float64Array, { forms, before }: { forms: number; before: Said }): void {
  if (forms !== AS_USUAL) out.half(forms);
  const near = isSmall(moments[0] as number) ? (moments[0] as number) : 0;
  for (let place = 0; place < FLOATS; place += 1) {
    const form = (forms >>> (place * 2)) & 3;
    const from = place === 0 ? before.at : place === 1 ? before.seq : near;
    const value = moments[place] as number;
    if (form === NEAR) out.signed(value - from);
    if (form === LONG) out.float(value);
  }
  [before.at, before.seq] = [near, isSmall(moments[1] as number) ? (moments[1] as number) : 0];
}
