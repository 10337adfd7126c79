import type { Filter, Filterable, IndexQuery } from '@slowwave/engine';
import { matches } from '@slowwave/engine/storing';
import { type Kept, type PlaceOfPoint, shownFrom } from '../../shown-point.ts';
import { seesOnlyLive, type TouchedSlot } from './fitting.ts';
import { HeadReader, WITHDRAWN } from './heads.ts';
import type { MomentsOfSlot } from './moments.ts';
import type { PackedRow } from './packed-row.ts';
import { changedAt, keptJson, type ShownParts, textIn } from './packed-shown.ts';
import { FLOAT } from './record.ts';
import { ShownRow } from './shown-row.ts';

/** A row of points as far as filters look into it, and the slot that it begins at. */
interface FilteredRow extends Omit<PackedRow, 'records'> {
  readonly first: number;
}

/** Whose points are looked at, and of them those that changed since. */
type Asked = Pick<IndexQuery, 'shelf' | 'tenant' | 'lane' | 'owner'> & { readonly since: number };

export type Filtering = Asked & Pick<IndexQuery, 'visibility'> & { readonly where: Filter };

/** Of which points of a row a filter is true. */
export function touchedIn(row: FilteredRow, { where, visibility, ...asked }: Filtering): TouchedSlot[] {
  const onlyLive = seesOnlyLive({ visibility });
  return eachChanged(row, asked, (point, { slot, live }) => {
    const fits = point !== null && (live === 1 || !onlyLive) && matches(where, point);
    return { slot, fits: fits ? 1 : 0 };
  });
}

/** When the points of a row were said, made and changed, and when they hold. */
export const momentsIn = (row: FilteredRow, asked: Asked): MomentsOfSlot[] =>
  eachChanged(row, asked, (point, { slot }) => ({
    slot,
    createdAt: point?.createdAt ?? null,
    updatedAt: point?.updatedAt ?? null,
    saidAt: point?.saidAt.at ?? null,
    validFrom: point?.validFrom ?? null,
    expiresAt: point?.expiresAt ?? null,
  }));

/** `point` is to be looked at before the next one is; null: it is withdrawn. */
function eachChanged<T>(
  row: FilteredRow,
  { since, ...of }: Asked,
  look: (point: FilteredPoint | null, head: HeadReader) => T,
): T[] {
  const shown = new ShownRow(row.shown, row.first);
  const heads = new HeadReader(row.heads, row);
  const found: T[] = [];
  for (let place = 0; heads.next(); ) {
    const isThere = heads.live !== WITHDRAWN;
    if (heads.change > since)
      found.push(look(isThere ? new FilteredPoint(shown.partsAt(place), heads, of) : null, heads));
    if (isThere) place += 1;
  }
  return found;
}

type Owned = Omit<PlaceOfPoint, 'memoryId' | 'version' | 'live'>;

const VALID_FROM = FLOAT.validFrom - FLOAT.saidAt;
const EXPIRES_AT = FLOAT.expiresAt - FLOAT.saidAt;

/** A point as filters look at it: nothing is read of it but what they ask for. */
class FilteredPoint implements Filterable {
  readonly #parts: ShownParts;
  readonly #head: HeadReader;
  readonly #owned: Owned;
  #shown: Filterable | null = null;

  constructor(parts: ShownParts, head: HeadReader, owned: Owned) {
    this.#parts = parts;
    this.#head = head;
    this.#owned = owned;
  }

  get memoryId() {
    return this.#head.id.text;
  }
  get text() {
    return this.#parts.text === null ? this.#all.text : textIn(this.#parts.text);
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
    return changedAt(this.#parts, this.#head.moments)[0];
  }
  get updatedAt() {
    return changedAt(this.#parts, this.#head.moments)[1];
  }
  get scope() {
    return this.#all.scope;
  }
  get ids() {
    return this.#all.ids;
  }
  get category() {
    return this.#all.category;
  }
  get metadata() {
    return this.#all.metadata;
  }
  get immutable() {
    return this.#all.immutable;
  }
  get flagged() {
    return this.#all.flagged;
  }
  get trust() {
    return this.#all.trust;
  }
  get confirmations() {
    return this.#all.confirmations;
  }

  /** All of it, once something is asked for that is not at hand. */
  get #all(): Filterable {
    const { live, version, moments } = this.#head;
    const place = { ...this.#owned, memoryId: this.memoryId, version, live: live === 1 };
    this.#shown ??= shownFrom(JSON.parse(keptJson(this.#parts, moments)) as Kept, place);
    return this.#shown;
  }
}
