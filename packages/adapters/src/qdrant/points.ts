import { createHash } from 'node:crypto';
import type { Schemas } from '@qdrant/js-client-rest';
import {
  type Field,
  type IndexLane,
  type IndexPoint,
  type Json,
  type Scalar,
  type Shelf,
  type ShownPoint,
  shownPart,
  type TenantId,
  type ToldLast,
  type Withdrawal,
} from '@slowwave/engine';
import type { SpaceNames } from './collections.ts';

/** A moment that never comes: what has no end is compared like what has one. Exact as a double, too. */
export const NEVER = Number.MAX_SAFE_INTEGER;

/** The fields that filter, beside the memory itself. */
export interface Payload {
  readonly owner: string;
  readonly tenant: string;
  /** The shard key of its tenant, where there are shard keys; what is withdrawn keeps it. */
  readonly home?: string;
  readonly agent: readonly string[];
  readonly run: readonly string[];
  readonly app: readonly string[];
  /** Of the apps that were told it last, see `toldKey`. */
  readonly told_last: readonly string[];
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
  /** What callers may filter by, see `tokensOf`. */
  readonly has: readonly string[];
  /** What a hit shows, as JSON in one text: it comes back to the letter, and nothing in it is taken for a field. */
  readonly point: string;
}

/** A memory version as the server keeps it. */
export function structOf(point: IndexPoint, { dense, sparse, wide, shards }: SpaceNames): Schemas['PointStruct'] {
  return {
    id: pointId(point),
    vector: {
      [dense]: Array.from(point.vector),
      ...weighed(sparse, point.terms),
      ...weighed(wide, [...point.terms, ...point.contextTerms]),
    },
    payload: { ...payloadOf(point), ...(shards > 0 ? homeOf(point) : {}) },
  };
}

/** What is left of a point that was withdrawn. */
export const withdrawnStruct = (point: Withdrawal, { shards }: SpaceNames): Schemas['PointStruct'] => ({
  id: pointId(point),
  vector: {},
  payload: { revision: point.revision, ...(shards > 0 ? homeOf(point) : {}) },
});

const homeOf = ({ tenant }: Pick<Place, 'tenant'>) => ({ home: shardKey(tenant) });

function weighed(name: string, terms: readonly string[]): Readonly<Record<string, SparseVector>> {
  const weights = documentWeights(terms);
  return weights === null ? {} : { [name]: weights };
}

function payloadOf(point: IndexPoint): Payload {
  const { agentId, runId, appId } = point.ids;
  return {
    owner: ownerKey(point),
    tenant: tenantKey(point),
    agent: agentId.map(scopeKey),
    run: runId.map(scopeKey),
    app: appId.map(scopeKey),
    told_last: (['alone', 'shared'] as const).flatMap((among) =>
      (point.toldLast?.[among] ?? []).map((id) => toldKey(among, id)),
    ),
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

/** How fast repeats of a term stop to count, and how much long texts are held back: those of the engine's BM25. */
const K1 = 0.9;
const B = 0.4;
/** Terms of a usual memory: one sentence. A constant, for a weight is stored once and the mean moves with every write. */
const USUAL_TERMS = 10;

/** Terms as the server takes them: numbered dimensions, each once, with a weight. */
interface SparseVector {
  readonly indices: number[];
  readonly values: number[];
}

/** The part of BM25 that a text brings; the server multiplies with the rarity of each term. null: a text without terms. */
export function documentWeights(terms: readonly string[]): SparseVector | null {
  const held = K1 * (1 - B + (B * terms.length) / USUAL_TERMS);
  return vectorOf(terms, (count) => (count * (K1 + 1)) / (count + held));
}

/** A term of the question counts as often as it is asked. */
export const questionWeights = (terms: readonly string[]): SparseVector | null => vectorOf(terms, (count) => count);

function vectorOf(terms: readonly string[], weight: (count: number) => number): SparseVector | null {
  const counts = new Map<number, number>();
  for (const term of terms) {
    const dimension = dimensionOf(term);
    counts.set(dimension, (counts.get(dimension) ?? 0) + 1);
  }
  if (counts.size === 0) return null;
  return { indices: [...counts.keys()], values: [...counts.values()].map(weight) };
}

const FNV_OFFSET = 0x81_1c_9d_c5;
const FNV_PRIME = 0x01_00_01_93;

/** FNV-1a with 32 bits over the term's characters: of a million terms, one in four thousand shares its dimension. */
export function dimensionOf(term: string): number {
  let hash = FNV_OFFSET;
  for (let i = 0; i < term.length; i += 1) {
    const unit = term.charCodeAt(i);
    hash = Math.imul(hash ^ (unit & 0xff), FNV_PRIME);
    hash = Math.imul(hash ^ (unit >>> 8), FNV_PRIME);
  }
  return hash >>> 0;
}

/** Hex digest that keeps values apart, whatever is in them, half characters included. */
export const hashOf = (values: readonly Json[]): string =>
  createHash('sha256').update(JSON.stringify(values)).digest('hex');

/** 128 bits: no two ids of one installation ever share a key. */
const key = (...values: readonly string[]): string => hashOf(values).slice(0, 32);

/** One of the places where points are kept apart, each with word statistics of its own. */
export interface Place {
  readonly tenant: TenantId;
  readonly shelf: Shelf;
}

/**
 * The value of the field that every question names. No two owners share one, in whichever tenants they are, and neither do two
 * lanes of one owner: whoever comes by the same id after an erasure.
 */
export const ownerKey = ({ tenant, shelf, owner, lane }: Place & IndexLane): string =>
  key('owner', shelf, tenant, owner.kind, owner.id, lane);

/** Of the shards that a tenant has for itself. */
export const shardKey = (tenant: TenantId): string => key('shard', tenant);

export const tenantKey = ({ tenant, shelf }: Place): string => key('tenant', shelf, tenant);

/** Of an agent, run or app that only filters. */
export const scopeKey = (id: string): string => key('scope', id);

/** Of an app that was told something last, alone or as others were. */
export const toldKey = (among: keyof ToldLast, appId: string): string => key('told', among, appId);

/** What is of each tenant, for tenants may lie in different shards. */
export function byTenant<T extends Pick<Place, 'tenant'>>(all: readonly T[]): ReadonlyMap<TenantId, readonly T[]> {
  const parts = new Map<TenantId, T[]>();
  for (const one of all) {
    const part = parts.get(one.tenant) ?? [];
    part.push(one);
    parts.set(one.tenant, part);
  }
  return parts;
}

/** The id of a point: always the same for a memory's version, so that writing twice is writing once. */
export const pointId = ({ tenant, shelf, memoryId, version }: Pick<IndexPoint, keyof Place | 'memoryId' | 'version'>) =>
  asUuid(hashOf([shelf, tenant, memoryId, version]));

/** The id of a point that is no memory: what the collection says of itself. */
export const serviceId = (name: string): string => asUuid(hashOf(['service', name]));

/** The form of a name-based UUID (version 5, variant 1) around the first bits of a digest. */
function asUuid(hex: string): string {
  const variant = ((Number.parseInt(hex.charAt(16), 16) & 0x3) | 0x8).toString(16);
  return [
    hex.slice(0, 8),
    hex.slice(8, 12),
    `5${hex.slice(13, 16)}`,
    `${variant}${hex.slice(17, 20)}`,
    hex.slice(20, 32),
  ].join('-');
}

/**
 * What a point is and has, each as one text, so that one index serves filters by whatever keys callers use: servers may
 * refuse to filter by fields that have no index, and an index per key of everybody's metadata is out of the question.
 */

type TokenField = Field['name'];

/** 96 bits; what no token says is checked again on what comes back. */
const token = (...values: readonly Json[]): string => hashOf([...values]).slice(0, 24);

/** One value of a field: its own, or an element of it. */
export const valueToken = (field: Field, value: Scalar): string => token('is', ...placeOf(field), value);

/** There is a value, and it is not null. */
export const presenceToken = (field: Field): string => token('has', ...placeOf(field));

/** Of a point with more tokens than are kept: it may have any. */
export const MORE_TOKENS = 'more';
const TOKENS_MAX = 256;

export function tokensOf(point: IndexPoint): string[] {
  const { scope, ids, memoryId, category, immutable, flagged, trust, confirmations, metadata } = point;
  const tokens = new Set<string>();
  const fields: readonly (readonly [TokenField, Json])[] = [
    ['userId', scope.userId],
    ['agentId', someOf(ids.agentId)],
    ['runId', someOf(ids.runId)],
    ['appId', someOf(ids.appId)],
    ['memoryId', memoryId],
    ['category', category],
    ['immutable', immutable],
    ['flagged', flagged],
    ['trust', trust],
    ['confirmations', confirmations],
  ];
  for (const [name, value] of fields) addTokens(tokens, [name], value);
  for (const [key, value] of Object.entries(metadata)) addTokens(tokens, ['metadata', key], value);
  return tokens.size > TOKENS_MAX ? [...[...tokens].slice(0, TOKENS_MAX), MORE_TOKENS] : [...tokens];
}

/** An empty list has no value; one of metadata has. */
const someOf = (ids: readonly string[]): Json => (ids.length === 0 ? null : [...ids]);

const placeOf = (field: Field): string[] => (field.name === 'metadata' ? ['metadata', ...field.keys] : [field.name]);

function addTokens(tokens: Set<string>, place: readonly string[], value: Json): void {
  if (value === null || tokens.size > TOKENS_MAX) return;
  tokens.add(token('has', ...place));
  if (!isObject(value)) {
    for (const one of Array.isArray(value) ? value : [value]) if (isScalar(one)) tokens.add(token('is', ...place, one));
    return;
  }
  for (const [key, inside] of Object.entries(value)) addTokens(tokens, [...place, key], inside);
}

const isObject = (value: Json): value is { [key: string]: Json } =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
const isScalar = (value: Json): boolean => value !== null && typeof value !== 'object';
