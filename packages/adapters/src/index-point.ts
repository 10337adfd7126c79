import type { Filterable, IndexPoint, Scope, ShownPoint } from '@slowwave/engine';
import { EngineError, lengthOf } from '@slowwave/engine/storing';

/**
 * What an index keeps of a point to show it, as JSON, where its rows say whose and which point it is: under short names, and without
 * what is as usual. Filters look into it by these names.
 *
 *   t text · r revision · o whose word it is · e message ids · k speaker · s, q said at, and its order · v valid from, where it is
 *   another moment · c, m made and changed, the latter where it is another moment · n confirmations · g category · d metadata
 *   x immutable · f flagged · z expires at · h no longer valid at · l deleted at, and its order · w shown from
 *   u, j, p, a user, agent, run and app of its scope, where they are not the owner · i ids it
 *   was said under · y the rest, under its own names
 */
export interface Kept {
  readonly t: string;
  readonly s: number;
  readonly q: number;
  readonly c: number;
  readonly r?: number;
  readonly o?: ShownPoint['trust'];
  readonly e?: ShownPoint['sourceIds'];
  readonly k?: string;
  readonly v?: number;
  readonly m?: number;
  readonly n?: number;
  readonly g?: string;
  readonly d?: ShownPoint['metadata'];
  readonly x?: boolean;
  readonly f?: boolean;
  readonly u?: string | null;
  readonly j?: string | null;
  readonly p?: string | null;
  readonly a?: string | null;
  readonly i?: Partial<ShownPoint['ids']>;
  readonly y?: Rest;
  readonly z?: number;
  readonly h?: number;
  readonly l?: readonly [at: number, seq: number];
  readonly w?: number;
}

/** What the rows of an index say of a point. */
export type PlaceOfPoint = Pick<ShownPoint, 'shelf' | 'tenant' | 'lane' | 'owner' | 'memoryId' | 'version' | 'live'>;

/** What few points have: all that has no short name, nor is in the place of a point. */
type Rest = Omit<
  ShownPoint,
  | (keyof PlaceOfPoint | 'text' | 'saidAt' | 'createdAt' | 'revision' | 'trust' | 'sourceIds' | 'speaker')
  | ('validFrom' | 'updatedAt' | 'confirmations' | 'category' | 'metadata' | 'immutable' | 'flagged' | 'scope')
  | ('ids' | 'expiresAt' | 'invalidAt' | 'deletedAt' | 'shownFrom')
>;
const NAMES_OF_REST = { toldLast: 1, utcOffset: 1, concluded: 1, skill: 1, feedback: 1 } satisfies Record<
  keyof Rest,
  1
>;
const REST = Object.keys(NAMES_OF_REST) as (keyof Rest)[];

export function keptPart(point: IndexPoint): Kept {
  const { text, saidAt, createdAt, revision, trust, sourceIds, memoryId, speaker, validFrom, updatedAt } = point;
  const kept: Keeping = { t: text, s: saidAt.at, q: saidAt.seq, c: createdAt };
  if (revision !== 1) kept.r = revision;
  if (trust !== 'user') kept.o = trust;
  if (sourceIds.length !== 1 || sourceIds[0] !== memoryId) kept.e = sourceIds;
  if (speaker !== null) kept.k = speaker;
  if (validFrom !== saidAt.at) kept.v = validFrom;
  if (updatedAt !== createdAt) kept.m = updatedAt;
  keepScope(kept, point);
  keepDetails(kept, point);
  keepEnds(kept, point);
  const rest = REST.filter((name) => point[name] !== undefined);
  if (rest.length > 0) kept.y = Object.fromEntries(rest.map((name) => [name, point[name]])) as Rest;
  return kept;
}

type Keeping = { -readonly [Name in keyof Kept]: Kept[Name] };

function keepScope(kept: Keeping, { scope, owner, ids }: IndexPoint): void {
  const usual = scopeOf(owner);
  if (scope.userId !== usual.userId) kept.u = scope.userId;
  if (scope.agentId !== usual.agentId) kept.j = scope.agentId;
  if (scope.runId !== usual.runId) kept.p = scope.runId;
  if (scope.appId !== usual.appId) kept.a = scope.appId;
  const said = KINDS.filter((kind) => ids[kind].length > 0);
  if (said.length > 0) kept.i = Object.fromEntries(said.map((kind) => [kind, ids[kind]]));
}

const KINDS = ['agentId', 'runId', 'appId'] as const;

function keepDetails(kept: Keeping, { confirmations, category, metadata, immutable, flagged }: IndexPoint): void {
  if (confirmations !== 0) kept.n = confirmations;
  if (category !== null) kept.g = category;
  if (Object.keys(metadata).length > 0) kept.d = metadata;
  if (immutable) kept.x = immutable;
  if (flagged) kept.f = flagged;
}

function keepEnds(kept: Keeping, { expiresAt, invalidAt, deletedAt, shownFrom }: IndexPoint): void {
  if (expiresAt !== null) kept.z = expiresAt;
  if (invalidAt !== null) kept.h = invalidAt;
  if (deletedAt !== null) kept.l = [deletedAt.at, deletedAt.seq];
  if (shownFrom !== undefined) kept.w = shownFrom;
}

export function shownFrom(kept: Kept, place: PlaceOfPoint): ShownPoint {
  const { s, c, y = {} } = kept;
  return {
    ...place,
    ...detailsFrom(kept, place.owner),
    revision: kept.r ?? 1,
    text: kept.t,
    saidAt: { at: s, seq: kept.q },
    validFrom: kept.v ?? s,
    ...{ invalidAt: kept.h ?? null, expiresAt: kept.z ?? null, deletedAt: deletedIn(kept) },
    ...(kept.w !== undefined && { shownFrom: kept.w }),
    sourceIds: kept.e ?? [place.memoryId],
    createdAt: c,
    updatedAt: kept.m ?? c,
    speaker: kept.k ?? null,
    ...y,
  };
}

/** What neither the text nor the moments of a point say, and most have in common. */
export type Details = Pick<
  Filterable,
  'scope' | 'ids' | 'category' | 'metadata' | 'immutable' | 'trust' | 'flagged' | 'confirmations'
>;

export function detailsFrom(kept: Partial<Kept>, owner: PlaceOfPoint['owner']): Details {
  const usual = scopeOf(owner);
  const { u = usual.userId, j = usual.agentId, p = usual.runId, a = usual.appId } = kept;
  return {
    scope: { userId: u, agentId: j, runId: p, appId: a },
    ids: { agentId: [], runId: [], appId: [], ...kept.i },
    category: kept.g ?? null,
    metadata: kept.d ?? {},
    immutable: kept.x ?? false,
    trust: kept.o ?? 'user',
    flagged: kept.f ?? false,
    confirmations: kept.n ?? 0,
  };
}

const deletedIn = ({ l }: Kept): ShownPoint['deletedAt'] => (l === undefined ? null : { at: l[0], seq: l[1] });

/** The scope of what is said to its owner alone. */
const scopeOf = ({ kind, id }: ShownPoint['owner']): Scope => ({
  userId: kind === 'user' ? id : null,
  agentId: kind === 'agent' ? id : null,
  runId: kind === 'run' ? id : null,
  appId: null,
});

/** A vector that cannot be compared is a mistake of the caller's or of its model. */
export function checkVector(vector: Float32Array, { dimensions }: { readonly dimensions: number }): void {
  const problem = vector.length === dimensions ? 'one with numbers that are not finite' : `one of ${vector.length}`;
  if (vector.length === dimensions && Number.isFinite(lengthOf(vector))) return;
  throw new EngineError(
    `expected vectors of ${dimensions} dimensions, got ${problem}; check the embedding model and its dimensions`,
    { code: 'index_unavailable', retryable: false },
  );
}
