import type { IndexPoint, Scope, ShownPoint } from '@slowwave/engine';
import { shownPart } from '@slowwave/engine/storing';

/**
 * What an index keeps of a point to show it, as JSON, where its rows say whose and which point it is: under short names, and without
 * what is as usual. Filters look into it by these names.
 *
 *   t text · r revision · o whose word it is · e message ids · k speaker · s, q said at, and its order · v valid from, where it is
 *   another moment · c, m made and changed, the latter where it is another moment · n confirmations · g category · d metadata
 *   x immutable · f flagged · z expires at · u, j, p, a user, agent, run and app of its scope, where they are not the owner · i ids it
 *   was said under · y the rest, under its own names
 */
interface Kept {
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
}

/** What the rows of an index say of a point. */
export type PlaceOfPoint = Pick<ShownPoint, 'shelf' | 'tenant' | 'lane' | 'owner' | 'memoryId' | 'version' | 'live'>;

/** What few points have. */
type Rest = Partial<Omit<ShownPoint, keyof PlaceOfPoint | 'text' | 'saidAt' | 'createdAt'>>;

export function keptPart(point: IndexPoint): string {
  const { shelf: _, tenant: __, lane: ___, live: ____, version: _____, owner, memoryId, ...shown } = shownPart(point);
  const { text, saidAt, createdAt, revision, trust, sourceIds, speaker, validFrom, updatedAt, ...more } = shown;
  const { confirmations, category, metadata, immutable, flagged, scope, ids, expiresAt, ...others } = more;
  const { invalidAt, deletedAt, ...rest } = others;
  const usual = scopeOf(owner);
  const said = Object.fromEntries(Object.entries(ids).filter(([, list]) => list.length > 0));
  const few = { ...rest, invalidAt: unless(invalidAt, null), deletedAt: unless(deletedAt, null) };
  const ofItself = sourceIds.length === 1 && sourceIds[0] === memoryId;
  const kept: { [Name in keyof Kept]: Kept[Name] | undefined } = {
    ...{ t: text, s: saidAt.at, q: saidAt.seq, c: createdAt },
    ...{ r: unless(revision, 1), o: unless(trust, 'user'), e: ofItself ? undefined : sourceIds },
    ...{ k: unless(speaker, null), v: unless(validFrom, saidAt.at), m: unless(updatedAt, createdAt) },
    ...{ n: unless(confirmations, 0), g: unless(category, null), d: unlessEmpty(metadata) },
    ...{ x: unless(immutable, false), f: unless(flagged, false), z: unless(expiresAt, null) },
    ...{ u: unless(scope.userId, usual.userId), j: unless(scope.agentId, usual.agentId) },
    ...{ p: unless(scope.runId, usual.runId), a: unless(scope.appId, usual.appId) },
    ...{ i: unlessEmpty(said), y: unlessEmpty(JSON.parse(JSON.stringify(few)) as Rest) },
  };
  return JSON.stringify(kept);
}

/** What is undefined is not in the JSON. */
const unless = <T, Usual extends T>(value: T, usual: Usual): Exclude<T, Usual> | undefined =>
  value === usual ? undefined : (value as Exclude<T, Usual>);

const unlessEmpty = <T extends object>(value: T): T | undefined =>
  Object.keys(value).length === 0 ? undefined : value;

export function shownFrom(text: string, place: PlaceOfPoint): ShownPoint {
  const kept = JSON.parse(text) as Kept;
  const usual = scopeOf(place.owner);
  const { s, c, u = usual.userId, j = usual.agentId, p = usual.runId, a = usual.appId, y = {} } = kept;
  const { invalidAt = null, deletedAt = null, ...rest } = y;
  return {
    ...place,
    scope: { userId: u, agentId: j, runId: p, appId: a },
    ids: { agentId: [], runId: [], appId: [], ...kept.i },
    revision: kept.r ?? 1,
    text: kept.t,
    saidAt: { at: s, seq: kept.q },
    validFrom: kept.v ?? s,
    ...{ invalidAt, deletedAt, expiresAt: kept.z ?? null },
    category: kept.g ?? null,
    metadata: kept.d ?? {},
    immutable: kept.x ?? false,
    trust: kept.o ?? 'user',
    flagged: kept.f ?? false,
    sourceIds: kept.e ?? [place.memoryId],
    confirmations: kept.n ?? 0,
    createdAt: c,
    updatedAt: kept.m ?? c,
    speaker: kept.k ?? null,
    ...rest,
  };
}

/** The scope of what is said to its owner alone. */
const scopeOf = ({ kind, id }: ShownPoint['owner']): Scope => ({
  userId: kind === 'user' ? id : null,
  agentId: kind === 'agent' ? id : null,
  runId: kind === 'run' ? id : null,
  appId: null,
});
