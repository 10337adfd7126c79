import type { EngineDeps } from '../deps.ts';
import type { Cancellation } from '../ports/tools.ts';
import type { LaneId } from '../words.ts';

/** Embeds texts of a lane, each at most once: vectors made before come from the ledger, all others in one call. */
export async function embedTexts(
  { ledger, embedder, tools }: Pick<EngineDeps, 'ledger' | 'embedder' | 'tools'>,
  { lane, texts }: { lane: LaneId; texts: readonly string[] },
  cancel: Cancellation,
): Promise<(text: string) => Float32Array> {
  const hashes = new Map([...new Set(texts)].map((text) => [text, tools.hash(text)]));
  const known = new Map(await ledger.thoughts.vectors(lane, embedder.fingerprint, [...hashes.values()]));
  const missing = [...hashes].filter(([, hash]) => !known.has(hash));
  if (missing.length > 0) {
    const { vectors } = await embedder.embed(
      missing.map(([text]) => text),
      cancel,
    );
    const made = new Map(missing.flatMap(([, hash], i) => (vectors[i] === undefined ? [] : [[hash, vectors[i]]])));
    await ledger.thoughts.storeVectors(lane, embedder.fingerprint, made);
    for (const [hash, vector] of made) known.set(hash, vector);
  }
  return (text) => {
    const vector = known.get(hashes.get(text) ?? '');
    if (vector === undefined) throw new Error('a text was asked for that was not embedded');
    return vector;
  };
}
