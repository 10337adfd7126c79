import {
  EngineError,
  type IndexLane,
  type IndexMarker,
  type IndexPoint,
  type PointName,
  type SearchIndex,
  type ShownPoint,
  scan,
  shownPart,
  type Withdrawal,
} from '@slowwave/engine';

/** What a search index in memory holds. */
export interface IndexState {
  points: Map<string, IndexPoint>;
  /** The revisions that withdrew points. */
  withdrawn: Map<string, number>;
  marker: IndexMarker | null;
  /** The one that is being built beside it. */
  next: IndexState | null;
}

export const emptyIndex = (): IndexState => ({ points: new Map(), withdrawn: new Map(), marker: null, next: null });

/** As every index keeps a point: never in the place of a newer one. */
export function keepPoint(state: IndexState, point: IndexPoint): void {
  const key = keyOf(point);
  if (revisionOf(state, key) > point.revision || state.withdrawn.get(key) === point.revision) return;
  state.points.set(key, structuredClone(point));
  state.withdrawn.delete(key);
}

export function forgetPoints(points: Map<string, IndexPoint> = new Map(), { tenant, owner, lane }: IndexLane): number {
  const isMine = (point: IndexPoint): boolean =>
    point.tenant === tenant && point.owner.kind === owner.kind && point.owner.id === owner.id && point.lane === lane;
  const gone = [...points].filter(([, point]) => isMine(point));
  for (const [key] of gone) points.delete(key);
  return gone.length;
}

/** As every index withdraws one. */
export function withdrawPoint(state: IndexState, withdrawal: Withdrawal): void {
  const key = keyOf(withdrawal);
  if (revisionOf(state, key) > withdrawal.revision) return;
  state.points.delete(key);
  state.withdrawn.set(key, withdrawal.revision);
}

const keyOf = ({ tenant, shelf, memoryId, version }: PointName): string =>
  JSON.stringify([tenant, shelf, memoryId, version]);

const revisionOf = ({ points, withdrawn }: IndexState, key: string): number =>
  points.get(key)?.revision ?? withdrawn.get(key) ?? 0;

/** A search index in memory: the reference for what the others must find. Its first vector sets its dimensions. */
export function createMemoryIndex(state: IndexState = emptyIndex()): SearchIndex {
  const checked = (vector: Float32Array | null): void => {
    const dimensions = state.points.values().next().value?.vector.length ?? vector?.length;
    if (vector !== null && vector.length !== dimensions) throw wrongDimensions(dimensions ?? 0, vector.length);
  };

  return {
    marker: async () => state.marker,
    stamp: async (given) => {
      const { points, marker } = state;
      if (points.size > 0 && marker !== null && marker.ledgerId !== given.ledgerId) throw notEmpty(marker);
      state.marker = given;
    },
    upsert: async (given) => {
      for (const point of given) checked(point.vector);
      for (const point of given) keepPoint(state, point);
    },
    withdraw: async (given) => {
      for (const one of given) withdrawPoint(state, one);
    },
    search: async (queries) => {
      for (const query of queries) checked(query.vector);
      return queries.map((query) => scan([...state.points.values()], query));
    },
    vectors: async (names) => names.map((name) => vectorIn(state.points.get(keyOf(name)))),
    forget: async (of) => forgetPoints(state.points, of) + forgetPoints(state.next?.points, of),
    compact: async () => ({ done: true, remains: [] }),
    clear: async () => {
      state.points.clear();
      state.withdrawn.clear();
      state.marker = null;
    },
    count: async (tenant, shelf = 'memories') =>
      [...state.points.values()].filter((point) => point.tenant === tenant && point.shelf === shelf).length,
    page: async (after, limit) => {
      const keys = [...state.points.keys()].sort().filter((key) => after === null || key > after);
      const shown = keys.slice(0, limit).flatMap((key) => shownOf(state.points.get(key)));
      return { points: shown, next: keys.length > limit ? (keys[limit - 1] ?? null) : null };
    },
    close: async () => {},
  };
}

const vectorIn = (point: IndexPoint | undefined): Float32Array | null =>
  point?.vector.some((value) => value !== 0) ? point.vector.slice() : null;

const shownOf = (point: IndexPoint | undefined): ShownPoint[] => (point === undefined ? [] : [shownPart(point)]);

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
