import type { Filter, Filterable, IndexQuery } from '@slowwave/engine';
import { matches } from '@slowwave/engine/storing';
import { type Details, detailsFrom, type Kept } from '../../shown-point.ts';
import { seesOnlyLive, type TouchedSlot } from './fitting.ts';
import { HeadReader, WITHDRAWN } from './heads.ts';
import type { PackedRow } from './packed-row.ts';
import { changedAt, fewIn, type ShownParts, textIn } from './packed-shown.ts';
import { FLOAT } from './record.ts';
import { ShownRow } from './shown-row.ts';

/** A row of points as far as filters look into it, and the slot that it begins at. */
interface FilteredRow extends Omit<PackedRow, 'records'> {
  readonly first: number;
}

/** Of points that changed since. */
export type Filtering = Pick<IndexQuery, 'owner' | 'visibility'> & { readonly where: Filter; readonly since: number };

/** Of which points of a row a filter is true. */
export function touchedIn(row: FilteredRow, { where, since, owner, visibility }: Filtering): TouchedSlot[] {
  const onlyLive = seesOnlyLive({ visibility });
  const shown = new ShownRow(row.shown, row.first);
  const heads = new HeadReader(row.heads, row);
  const found: TouchedSlot[] = [];
  for (let place = 0; heads.next(); ) {
    const isThere = heads.live !== WITHDRAWN;
    if (heads.change > since) {
      const isSeen = isThere && (heads.live === 1 || !onlyLive);
      const fits = isSeen && matches(where, new FilteredPoint(shown.partsAt(place), heads, owner));
      found.push({ slot: heads.slot, fits: fits ? 1 : 0 });
    }
    if (isThere) place += 1;
  }
  return found;
}

const VALID_FROM = FLOAT.validFrom - FLOAT.saidAt;
const EXPIRES_AT = FLOAT.expiresAt - FLOAT.saidAt;

/** A point as filters look at it, before the next head is read: nothing is read of it but what they ask for. */
class FilteredPoint implements Filterable {
  readonly #parts: ShownParts;
  readonly #head: HeadReader;
  readonly #owner: IndexQuery['owner'];
  #few: Partial<Kept> | null = null;
  #details: Details | null = null;

  constructor(parts: ShownParts, head: HeadReader, owner: IndexQuery['owner']) {
    this.#parts = parts;
    this.#head = head;
    this.#owner = owner;
  }

  get memoryId() {
    return this.#head.id.text;
  }
  get text() {
    return this.#parts.text === null ? (this.#read.t as string) : textIn(this.#parts.text);
  }
  get saidAt() {
    const [at = 0, seq = 0] = this.#head.moments;
    return { at, seq };
  }
  get validFrom() {
    return this.#head.moments[VALID_FROM] as number;
  }
  get expiresAt() {
    const expiresAt = this.#head.moments[EXPIRES_AT] as number;
    return Number.isFinite(expiresAt) ? expiresAt : null;
  }
  get createdAt() {
    return changedAt(this.#parts, this.#read, this.#head.moments)[0];
  }
  get updatedAt() {
    return changedAt(this.#parts, this.#read, this.#head.moments)[1];
  }
  get scope() {
    return this.#known.scope;
  }
  get ids() {
    return this.#known.ids;
  }
  get category() {
    return this.#known.category;
  }
  get metadata() {
    return this.#known.metadata;
  }
  get immutable() {
    return this.#known.immutable;
  }
  get flagged() {
    return this.#known.flagged;
  }
  get trust() {
    return this.#known.trust;
  }
  get confirmations() {
    return this.#known.confirmations;
  }

  get #read(): Partial<Kept> {
    this.#few ??= fewIn(this.#parts.remainder);
    return this.#few;
  }
  get #known(): Details {
    this.#details ??= detailsFrom(this.#read, this.#owner);
    return this.#details;
  }
}
