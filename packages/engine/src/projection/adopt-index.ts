import type { EngineDeps } from '../deps.ts';
import type { MakingDeps } from './make-points.ts';
import { markerOf, sameMarker } from './own-index.ts';

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
    log.warn({ index: marker, expected: mine }, 'the index was made from other data; it is built anew from the ledger');
    await index.clear();
  }
  const count = (await ledger.outbox.refill()) + (await ledger.graph.refill());
  await index.stamp(mine);
  if (count > 0) log.info({ count }, 'the index is being filled from the ledger');
}
