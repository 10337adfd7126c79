import { EngineError } from '../errors.ts';
import type { IndexHit, IndexMarker, IndexPoint, SearchIndex } from '../ports/search-index.ts';
import { scan } from '../rules/scan.ts';

/** A search index in memory: the reference for what the others must find. Its first vector sets its dimensions. */
export function createMemoryIndex(): SearchIndex {
  const points = new Map<string, IndexPoint>();
  let marker: IndexMarker | null = null;

  const keep = (point: IndexPoint): void => {
    const key = JSON.stringify([point.tenant, point.memoryId, point.version]);
    if ((points.get(key)?.revision ?? 0) <= point.revision) points.set(key, structuredClone(point));
  };
  const checked = (vector: Float32Array | null): void => {
    const dimensions = points.values().next().value?.vector.length ?? vector?.length;
    if (vector !== null && vector.length !== dimensions) throw wrongDimensions(dimensions ?? 0, vector.length);
  };

  return {
    marker: async () => marker,
    stamp: async (given) => {
      if (points.size > 0 && marker !== null && marker.ledgerId !== given.ledgerId) throw notEmpty(marker);
      marker = given;
    },
    upsert: async (given) => {
      for (const point of given) checked(point.vector);
      given.forEach(keep);
    },
    search: async (queries) => {
      for (const query of queries) checked(query.vector);
      return queries.map((query) => scan([...points.values()], query));
    },
    clear: async () => {
      points.clear();
      marker = null;
    },
    count: async (tenant) => [...points.values()].filter((point) => point.tenant === tenant).length,
    page: async (after, limit) => {
      const keys = [...points.keys()].sort().filter((key) => after === null || key > after);
      const shown = keys.slice(0, limit).flatMap((key) => shownOf(points.get(key)));
      return { points: shown, next: keys.length > limit ? (keys[limit - 1] ?? null) : null };
    },
    close: async () => {},
  };
}

function shownOf(point: IndexPoint | undefined): IndexHit['point'][] {
  if (point === undefined) return [];
  const { vector: _, terms: __, ...shown } = point;
  return [shown];
}

function wrongDimensions(expected: number, got: number): EngineError {
  return new EngineError(`expected vectors of ${expected} dimensions, got one of ${got}; rebuild the index`, {
    code: 'index_unavailable',
    retryable: false,
  });
}

function notEmpty(marker: IndexMarker): EngineError {
  return new EngineError(
    `expected an empty index to stamp, got one with points of ledger ${marker.ledgerId}; clear it first`,
    {
      code: 'index_unavailable',
      retryable: false,
    },
  );
}
