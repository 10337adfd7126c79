type Embed = (text: string) => Promise<Float32Array>;

/** At 1,536 dimensions about 6 MB. */
const CACHED_QUERIES_MAX = 1_000;

/** The same question asked again, or twice at once, is embedded once. Failures are not kept. */
export function cachedQueries(embed: Embed, limit: number = CACHED_QUERIES_MAX): Embed {
  const cache = new Map<string, Promise<Float32Array>>();
  return (text) => {
    const vector = cache.get(text) ?? embed(text);
    // A map keeps the order of insertion: what is put back last was used last.
    cache.delete(text);
    cache.set(text, vector);
    if (cache.size > limit) dropOldest(cache);
    vector.catch(() => cache.delete(text));
    return vector;
  };
}

function dropOldest(cache: Map<string, unknown>): void {
  for (const oldest of cache.keys()) {
    cache.delete(oldest);
    return;
  }
}
