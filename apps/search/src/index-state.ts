import type { Embedder, IndexMarker, Ledger, SearchIndex, Tools } from '@slowwave/engine';

/** How long an answer about the index is believed, in ms: searches must not pay for asking again. */
const BELIEVED_MS = 1_000;

/** Says why the index cannot be fully believed, or null; asks it at most once a second. */
export function indexState(deps: {
  readonly index: SearchIndex;
  readonly ledger: Pick<Ledger, 'id' | 'outbox'>;
  readonly embedder: Pick<Embedder, 'fingerprint'>;
  readonly tools: Tools;
}): () => Promise<string | null> {
  const { index, ledger, embedder, tools } = deps;
  let known: { readonly state: string | null; readonly at: number } | null = null;
  return async () => {
    if (known !== null && tools.now() - known.at < BELIEVED_MS) return known.state;
    const marker = await index.marker();
    // Only now: an index is filled from the outbox before it is stamped.
    const filling = await ledger.outbox.refilling();
    const state = doubt(marker, { ledgerId: ledger.id, fingerprint: embedder.fingerprint }, filling);
    known = { state, at: tools.now() };
    return state;
  };
}

function doubt(found: IndexMarker | null, mine: IndexMarker, filling: boolean): string | null {
  if (found === null) return 'the index is being built';
  if (found.ledgerId !== mine.ledgerId) return 'the index was made from another ledger';
  if (found.fingerprint !== mine.fingerprint) return 'the index was made by another embedding model';
  return filling ? 'the index is being filled again from the ledger: some memories are missing' : null;
}
