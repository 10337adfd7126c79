import {
  type Embedder,
  type IndexMarker,
  type Ledger,
  type MessagesInIndex,
  markerOf,
  type SearchIndex,
  type Tools,
} from '@slowwave/engine';

/** The age from which the state is read again in the background, in ms; searches continue with the old one. */
const BELIEVED_MS = 1_000;
/** The age from which a search waits for the new state, in ms. */
const STALE_MS = 10_000;

interface StateDeps {
  readonly index: SearchIndex;
  readonly ledger: Pick<Ledger, 'id' | 'outbox'>;
  readonly embedder: Pick<Embedder, 'fingerprint'>;
  readonly tools: Tools;
  readonly messagesInIndex: MessagesInIndex;
}

/** Returns why the index cannot be trusted, or null. Reads it at most once per second. */
export function indexState(deps: StateDeps): () => Promise<string | null> {
  let known: { readonly state: string | null; readonly at: number } | null = null;
  let asking: Promise<string | null> | null = null;
  const ask = (): Promise<string | null> => {
    asking ??= stateOf(deps)
      .then((state) => {
        known = { state, at: deps.tools.now() };
        return state;
      })
      .finally(() => {
        asking = null;
      });
    return asking;
  };
  return async () => {
    if (known === null) return ask();
    const age = Math.abs(deps.tools.now() - known.at);
    if (age >= STALE_MS) return ask();
    // After a failure the next search reads it again, and the search itself fails anyway.
    if (age >= BELIEVED_MS) ask().catch(() => {});
    return known.state;
  };
}

async function stateOf(deps: StateDeps): Promise<string | null> {
  const { index, ledger } = deps;
  const marker = await index.marker();
  const mine = markerOf({ ...deps, settings: deps });
  // In this order: an index is filled from the outbox before it gets its marker.
  return doubt(marker, mine) ?? filling(ledger);
}

function doubt(found: IndexMarker | null, mine: IndexMarker): string | null {
  if (found === null) return 'the index is being built';
  if (found.ledgerId !== mine.ledgerId) return 'the index belongs to another ledger';
  if (found.fingerprint === mine.fingerprint) return null;
  return 'the index was built with another embedding model or another setting for messages';
}

/** Without the ledger, it is unknown whether the index is complete. */
async function filling({ outbox }: StateDeps['ledger']): Promise<string | null> {
  try {
    return (await outbox.refilling()) ? 'the index is being rebuilt from the ledger: some memories are missing' : null;
  } catch {
    return 'the ledger is not available: the latest writes may be missing';
  }
}
