import type { Ledger } from '../ports/ledger/ledger.ts';
import type { Embedder } from '../ports/models.ts';
import type { IndexMarker } from '../ports/search-index.ts';

/** Whose projection an index has to be to be believed. */
export const markerOf = (ledger: Pick<Ledger, 'id'>, embedder: Pick<Embedder, 'fingerprint'>): IndexMarker => ({
  ledgerId: ledger.id,
  fingerprint: embedder.fingerprint,
});

export const sameMarker = (found: IndexMarker | null, wanted: IndexMarker): boolean =>
  found?.ledgerId === wanted.ledgerId && found.fingerprint === wanted.fingerprint;
