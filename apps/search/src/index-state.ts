import type { Embedder, Ledger, SearchIndex, Tools } from '@slowwave/engine';

/** How long an answer about the index is believed, in ms: searches must not pay for asking again. */
const BELIEVED_MS = 1_000;

/** Says why the index cannot be fully believed, or null; asks it at most once a second. */
export function indexState(deps: {
  readonly index: SearchIndex;
  readonly ledger: Pick<Ledger, 'id'>;
  readonly embedder: Pick<Embedder, 'fingerprint'>;
  readonly tools: Tools;
}): () => Promise<string | null> {
  const { index, ledger, embedder, tools } = deps;
  let known: { readonly state: string | null; readonly at: number } | null = null;
  return async () => {
    if (known !== null && tools.now() - known.at < BELIEVED_MS) return known.state;
    const marker = await index.marker();
    const state =
      marker === null
        ? 'the index is being built'
        : marker.ledgerId !== ledger.id
          ? 'the index was made from another ledger'
          : marker.fingerprint !== embedder.fingerprint
            ? 'the index was made by another embedding model'
            : null;
    known = { state, at: tools.now() };
    return state;
  };
}
