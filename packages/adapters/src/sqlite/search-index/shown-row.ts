import { ByteReader, ByteWriter } from './bytes.ts';
import type { ShownParts } from './packed-shown.ts';

/** What a hit shows of the point of a slot. */
interface ShownSlot {
  readonly slot: number;
  readonly parts: ShownParts;
}

/**
 * What hits show of the points of a row (see packed-shown.ts for its parts), so that one can be read without the others:
 *
 *   numbers   how many remainders there are, then each
 *   numbers   how many points there are; of each how many slots were left out, and the bytes of what follows of it
 *   then each one byte: flags of its parts, and OWN_TEXT or SAME_TEXT
 *             number  the place of its remainder, from 1 on; 0 none
 *             its text, or the place of the point that has the same: people say the same again
 *             what is near the moments of its head
 *
 * Texts are there as they are: who looks for one in the file finds it.
 */
export function packShown(points: readonly ShownSlot[], first: number): Buffer {
  const places: Places = { remainders: new Map(), texts: new Map() };
  const [directory, contents] = [new ByteWriter(), new ByteWriter()];
  directory.number(points.length);
  let next = first;
  for (const [place, { slot, parts }] of points.entries()) {
    const from = contents.length;
    putParts(contents, parts, { place, places });
    directory.number(slot - next);
    directory.number(contents.length - from);
    next = slot + 1;
  }
  const out = new ByteWriter();
  out.number(places.remainders.size);
  for (const remainder of places.remainders.keys()) out.text(Buffer.from(remainder));
  return Buffer.concat([out.all, directory.all, contents.all]);
}

interface Places {
  /** From 1 on. */
  readonly remainders: Map<string, number>;
  /** Of points, by their texts. */
  readonly texts: Map<string, number>;
}

const OWN_TEXT = 64;
const SAME_TEXT = 128;
const PARTS = 63;

function putParts(
  out: ByteWriter,
  { flags, text, remainder, near }: ShownParts,
  { place, places: { remainders, texts } }: { place: number; places: Places },
): void {
  const name = text === null ? '' : Buffer.from(text.buffer, text.byteOffset, text.length).toString('latin1');
  const same = texts.get(name);
  out.byte(flags | (text === null ? 0 : same === undefined ? OWN_TEXT : SAME_TEXT));
  out.number(remainder === null ? 0 : placeOf(remainders, remainder));
  if (text !== null && same !== undefined) out.number(same);
  else if (text !== null) out.text(text);
  if (text !== null && same === undefined) texts.set(name, place);
  out.bytes(near);
}

function placeOf(places: Map<string, number>, json: string): number {
  const place = places.get(json) ?? places.size + 1;
  places.set(json, place);
  return place;
}

/** What hits show of the points of a row, each read when it is asked for. */
export class ShownRow {
  /** In the order of the places of its points. */
  readonly slots: number[] = [];
  readonly #reader: ByteReader;
  readonly #remainders: Buffer[] = [];
  /** Where each ends, from where the first one begins. */
  readonly #ends: number[] = [];
  readonly #begin: number;

  constructor(bytes: Uint8Array, first: number) {
    const reader = new ByteReader(bytes);
    this.#reader = reader;
    for (let left = reader.number(); left > 0; left -= 1) this.#remainders.push(reader.text());
    let [slot, end] = [first, 0];
    for (let left = reader.number(); left > 0; left -= 1) {
      slot += reader.number();
      end += reader.number();
      this.slots.push(slot);
      this.#ends.push(end);
      slot += 1;
    }
    this.#begin = reader.at;
  }

  partsAt(place: number): ShownParts {
    const reader = this.#reader;
    reader.at = this.#begin + (place === 0 ? 0 : (this.#ends[place - 1] as number));
    const flags = reader.byte();
    const remainder = reader.number();
    const same = (flags & SAME_TEXT) === 0 ? null : reader.number();
    const text = (flags & OWN_TEXT) === 0 ? null : reader.text();
    const near = reader.bytes(this.#begin + (this.#ends[place] as number) - reader.at);
    return {
      flags: flags & PARTS,
      text: same === null ? text : this.partsAt(same).text,
      remainder: remainder === 0 ? null : (this.#remainders[remainder - 1] as Buffer).toString(),
      near,
    };
  }
}
