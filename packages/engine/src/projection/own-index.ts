import type { MessagesInIndex } from '../deps.ts';
import type { Ledger } from '../ports/ledger/ledger.ts';
import type { Embedder } from '../ports/models.ts';
import type { IndexMarker } from '../ports/search-index.ts';

/** Goes up whenever other points are made of the same ledger: an index made with another number has to be rebuilt. */
const POINTS_VERSION = 1;

interface Maker {
  readonly ledger: Pick<Ledger, 'id'>;
  readonly embedder: Pick<Embedder, 'fingerprint'>;
  readonly settings: { readonly messagesInIndex: MessagesInIndex };
}

/** Whose projection an index has to be to be believed: of this ledger, in this vector space, with these messages in it. */
export const markerOf = ({ ledger, embedder, settings }: Maker): IndexMarker => ({
  ledgerId: ledger.id,
  fingerprint: `${embedder.fingerprint}, messages ${settings.messagesInIndex}, points ${POINTS_VERSION}`,
});

export const sameMarker = (found: IndexMarker | null, wanted: IndexMarker): boolean =>
  found?.ledgerId === wanted.ledgerId && found.fingerprint === wanted.fingerprint;
