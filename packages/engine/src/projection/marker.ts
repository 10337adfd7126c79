import type { EngineDeps, MessagesInIndex } from '../deps.ts';
import type { Ledger } from '../ports/ledger/ledger.ts';
import type { Embedder } from '../ports/models.ts';
import type { IndexMarker } from '../ports/search-index.ts';
import type { MakingDeps } from './make-points.ts';

/**
 * Makes the index this ledger's own before anything relies on it: an empty one is filled from the ledger, and one that
 * was made from another ledger, by another embedder or with other messages in it is emptied first. Until the outbox is caught up, decisions
 * read what is missing from the ledger itself, so nothing known looks new.
 */
export async function adoptIndex(
  deps: Pick<EngineDeps, 'index' | 'ledger' | 'embedder' | 'log'> & Pick<MakingDeps, 'settings'>,
): Promise<void> {
  const { index, ledger, log } = deps;
  const marker = await index.marker();
  const mine = markerOf(deps);
  if (sameMarker(marker, mine)) return;
  if (marker !== null) {
    log.warn({ index: marker, expected: mine }, 'the index was built from other data; rebuilding it from the ledger');
    await index.clear();
  }
  const count = (await ledger.outbox.refill()) + (await ledger.graph.refill());
  await index.stamp(mine);
  if (count > 0) log.info({ count }, 'the index is being filled from the ledger');
}

/** Goes up whenever other points are made of the same ledger: an index made with another number has to be rebuilt. */
const POINTS_VERSION = 4;

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
