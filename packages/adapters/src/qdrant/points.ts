import type { Schemas } from '@qdrant/js-client-rest';
import { type IndexPoint, type ShownPoint, shownPart } from '@slowwave/engine';
import { ownerKey, pointId, scopeKey, tenantKey } from './keys.ts';
import type { SpaceNames } from './space.ts';
import { documentWeights, type SparseVector } from './sparse.ts';
import { tokensOf } from './tokens.ts';

/** A moment that never comes: what has no end is compared like what has one. Exact as a double, too. */
export const NEVER = Number.MAX_SAFE_INTEGER;

/** The fields that filter, beside the memory itself. */
export interface Payload {
  readonly owner: string;
  readonly tenant: string;
  readonly agent?: string;
  readonly run?: string;
  readonly app?: string;
  readonly live: boolean;
  readonly said_at: number;
  readonly said_seq: number;
  readonly valid_from: number;
  /** Since when questions about a moment see it; and, below it for most, those about now. */
  readonly held_from: number;
  readonly shown_from: number;
  readonly invalid_at: number;
  readonly expires_at: number;
  /** Missing while the memory is not deleted. */
  readonly deleted_at?: number;
  readonly deleted_seq?: number;
  readonly revision: number;
  readonly created_at: number;
  readonly updated_at: number;
  readonly confirmations: number;
  /** What callers may filter by, see tokens.ts. */
  readonly has: readonly string[];
  /** What a hit shows, as JSON in one text: it comes back to the letter, and nothing in it is taken for a field. */
  readonly point: string;
}

/** A memory version as the server keeps it. */
export function structOf(point: IndexPoint, { dense, sparse, wide }: SpaceNames): Schemas['PointStruct'] {
  return {
    id: pointId(point),
    vector: {
      [dense]: Array.from(point.vector),
      ...weighed(sparse, point.terms),
      ...weighed(wide, [...point.terms, ...point.contextTerms]),
    },
    payload: { ...payloadOf(point) },
  };
}

function weighed(name: string, terms: readonly string[]): Readonly<Record<string, SparseVector>> {
  const weights = documentWeights(terms);
  return weights === null ? {} : { [name]: weights };
}

function payloadOf(point: IndexPoint): Payload {
  const { agentId, runId, appId } = point.scope;
  return {
    owner: ownerKey(point),
    tenant: tenantKey(point),
    ...(agentId === null ? {} : { agent: scopeKey(agentId) }),
    ...(runId === null ? {} : { run: scopeKey(runId) }),
    ...(appId === null ? {} : { app: scopeKey(appId) }),
    live: point.live,
    said_at: point.saidAt.at,
    said_seq: point.saidAt.seq,
    valid_from: point.validFrom,
    held_from: point.shownFrom ?? point.validFrom,
    shown_from: point.shownFrom ?? -NEVER,
    invalid_at: point.invalidAt ?? NEVER,
    expires_at: point.expiresAt ?? NEVER,
    ...(point.deletedAt === null ? {} : { deleted_at: point.deletedAt.at, deleted_seq: point.deletedAt.seq }),
    revision: point.revision,
    created_at: point.createdAt,
    updated_at: point.updatedAt,
    confirmations: point.confirmations,
    has: tokensOf(point),
    point: JSON.stringify(shownPart(point)),
  };
}

/** What a hit shows. */
export function shownOf(payload: unknown): ShownPoint {
  return JSON.parse((payload as Pick<Payload, 'point'>).point) as ShownPoint;
}
