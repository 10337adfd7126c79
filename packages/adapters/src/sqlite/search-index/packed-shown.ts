import type { Kept } from '../../index-point.ts';
import { ByteReader, ByteWriter, formOf, IdReader, isSmall, LITERAL, ownerIn, putId } from './bytes.ts';
import { FLOAT } from './record.ts';

/**
 * What hits show of a point, without what its head says (heads.ts), in parts that are the same wherever it is kept: from one row it goes
 * into another one as it is.
 */
export interface ShownParts {
  /** What is in `near`: CREATED, UPDATED, SOURCES. */
  readonly flags: number;
  /** As it is; null: UTF-8 has no place for it, so it is in the remainder. */
  readonly text: Uint8Array | null;
  /** JSON of what few points have, and most of these have the same; null: there is none. */
  readonly remainder: string | null;
  /** Created at, from when it was said · updated at, from then · how many messages, then the form and the bytes of the id of each. */
  readonly near: Uint8Array;
}

const CREATED = 1;
const UPDATED = 2;
const SOURCES = 4;

/** With the moments of its head. */
export function partsOf(kept: Kept, moments: Float64Array): ShownParts {
  const { t, c, m, e, s: _, q: __, v: ___, z: ____, h: _____, w: ______, l: _______, ...few } = kept;
  const said = nearOf(moments);
  const near = new ByteWriter();
  let flags = 0;
  const left: { -readonly [Name in keyof Kept]?: Kept[Name] | undefined } = few;
  if (isSmall(c) && isSmall(c - said)) {
    flags |= CREATED;
    near.signed(c - said);
  } else left.c = c;
  if (m !== undefined && isSmall(c) && isSmall(m) && isSmall(m - c)) {
    flags |= UPDATED;
    near.signed(m - c);
  } else if (m !== undefined) left.m = m;
  if (e?.every((id) => id.isWellFormed())) {
    flags |= SOURCES;
    putSources(near, e, said);
  } else if (e !== undefined) left.e = e;
  const text = t.isWellFormed() ? Buffer.from(t) : null;
  if (text === null) left.t = t;
  return { flags, text, remainder: Object.keys(left).length === 0 ? null : JSON.stringify(left), near: near.all };
}

const nearOf = ([saidAt = 0]: Float64Array): number => (isSmall(saidAt) ? saidAt : 0);

function putSources(out: ByteWriter, ids: readonly string[], said: number): void {
  out.number(ids.length);
  let owner = 0;
  for (const id of ids) {
    const form = formOf(id, { owner });
    out.byte(form);
    putId(out, id, { form, time: said });
    if (form !== LITERAL) owner = ownerIn(id);
  }
}

/** Parts whose text may have been read already. */
export type ReadParts = Omit<ShownParts, 'text'> & { readonly text: ShownParts['text'] | string };

/** What was kept in parts, as JSON; with the moments of its head. It is what crosses from thread to thread, and so not made anything else of first. */
export function keptJson({ flags, text, remainder, near }: ReadParts, moments: Float64Array): string {
  const said = nearOf(moments);
  let json = `{"s":${moments[0]},"q":${moments[1]}`;
  if (text !== null) json += `,"t":${JSON.stringify(typeof text === 'string' ? text : textIn(text))}`;
  const reader = new ByteReader(near);
  const created = (flags & CREATED) === 0 ? 0 : said + reader.signed();
  if ((flags & CREATED) !== 0) json += `,"c":${created}`;
  if ((flags & UPDATED) !== 0) json += `,"m":${created + reader.signed()}`;
  if ((flags & SOURCES) !== 0) json += `,"e":${JSON.stringify(sourcesIn(reader, said))}`;
  json += momentsIn(moments);
  return remainder === null ? `${json}}` : `${json},${remainder.slice(1)}`;
}

/** What few points have, of a remainder. */
export const fewIn = (remainder: string | null): Partial<Kept> => (remainder === null ? {} : JSON.parse(remainder));

/** When it was made and when it was changed. */
export function changedAt(
  { flags, near }: Pick<ShownParts, 'flags' | 'near'>,
  few: Partial<Kept>,
  moments: Float64Array,
): readonly [number, number] {
  const reader = new ByteReader(near);
  const created = (flags & CREATED) === 0 ? (few.c as number) : nearOf(moments) + reader.signed();
  return [created, (flags & UPDATED) === 0 ? (few.m ?? created) : created + reader.signed()];
}

export const textIn = ({ buffer, byteOffset, length }: Uint8Array): string =>
  Buffer.from(buffer, byteOffset, length).toString();

function sourcesIn(reader: ByteReader, said: number): string[] {
  const ids = new IdReader();
  return Array.from({ length: reader.number() }, () => {
    ids.time = said;
    ids.read(reader, reader.byte());
    return ids.text;
  });
}

const placeIn = (float: number): number => float - FLOAT.saidAt;
const [VALID_FROM, INVALID_AT, EXPIRES_AT] = [
  placeIn(FLOAT.validFrom),
  placeIn(FLOAT.invalidAt),
  placeIn(FLOAT.expiresAt),
];
const [DELETED_AT, DELETED_SEQ, SHOWN_FROM] = [
  placeIn(FLOAT.deletedAt),
  placeIn(FLOAT.deletedSeq),
  placeIn(FLOAT.shownFrom),
];

/** What a head says of what is shown, beside when it was said. */
function momentsIn(moments: Float64Array): string {
  let json = moments[VALID_FROM] === moments[0] ? '' : `,"v":${moments[VALID_FROM]}`;
  if (Number.isFinite(moments[EXPIRES_AT])) json += `,"z":${moments[EXPIRES_AT]}`;
  if (Number.isFinite(moments[INVALID_AT])) json += `,"h":${moments[INVALID_AT]}`;
  if (Number.isFinite(moments[SHOWN_FROM])) json += `,"w":${moments[SHOWN_FROM]}`;
  if (Number.isFinite(moments[DELETED_AT])) json += `,"l":[${moments[DELETED_AT]},${moments[DELETED_SEQ]}]`;
  return json;
}

/** What a hit shows of the point of a slot. */
interface ShownSlot {
  readonly slot: number;
  readonly parts: ShownParts;
}

/**
 * What hits show of the points of a row, in the parts above, so that one can be read without the others:
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
