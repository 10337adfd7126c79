import {
  DEFAULT_TENANT,
  type IndexHit,
  type IndexPoint,
  type IndexQuery,
  type LaneId,
  listsOfOne,
  type Owner,
  roundedVector,
  type Scope,
  type SearchIndex,
  type TenantId,
  terms,
} from '@slowwave/engine';

/** The vectors of the suite. */
export const SUITE_SPACE = { dimensions: 4, fingerprint: 'suite' } as const;

/** 2026-03-01T12:00:00Z. */
export const NOON = 1_772_366_400_000;
const NOBODY: Scope = { userId: null, agentId: null, runId: null, appId: null };
const ANN: Owner = { kind: 'user', id: 'ann' };
export const OTHER_TENANT = 'other' as TenantId;

type Given = Partial<IndexPoint> & { readonly memoryId: string };

/** A live memory of user ann, said at noon, unless said otherwise. Its terms follow from its text. */
export function point(given: Given): IndexPoint {
  const owner = given.owner ?? ANN;
  const text = given.text ?? 'Ann drinks tea';
  return {
    shelf: 'memories',
    tenant: DEFAULT_TENANT,
    lane: laneOf(owner),
    owner,
    scope: scopeOf(owner),
    ids: listsOfOne(given.scope ?? scopeOf(owner)),
    version: 1,
    revision: 1,
    text,
    terms: terms(text),
    contextTerms: [],
    speaker: null,
    live: true,
    saidAt: { at: NOON, seq: 1 },
    validFrom: NOON,
    invalidAt: null,
    expiresAt: null,
    deletedAt: null,
    category: null,
    metadata: {},
    immutable: false,
    trust: 'user',
    flagged: false,
    sourceIds: [],
    confirmations: 0,
    createdAt: NOON,
    updatedAt: NOON,
    ...given,
    vector: roundedVector(given.vector ?? Float32Array.of(1, 0, 0, 0)),
  };
}

/** The lane of an owner who was never erased. */
const laneOf = ({ kind, id }: Owner): LaneId => `lane-${kind}-${id}` as LaneId;

/** What holds at noon of user ann near (1, 0, 0, 0), unless asked otherwise. */
export const query = (given: Partial<IndexQuery> = {}): IndexQuery => ({
  tenant: DEFAULT_TENANT,
  owner: ANN,
  lane: laneOf(given.owner ?? ANN),
  shelf: 'memories',
  filter: {},
  visibility: { kind: 'live', now: NOON },
  vector: Float32Array.of(1, 0, 0, 0),
  terms: null,
  where: null,
  wide: false,
  limit: 10,
  ...given,
});

/** One question's hits. */
export async function ask(index: SearchIndex, given: Partial<IndexQuery> = {}): Promise<readonly IndexHit[]> {
  const [hits] = await index.search([query(given)]);
  return hits ?? [];
}

/** What a question finds, as "memory.version", in the order of the names. */
export async function found(index: SearchIndex, given: Partial<IndexQuery> = {}): Promise<string[]> {
  const hits = await ask(index, given);
  return hits.map(nameOf).sort();
}

/** What a keyword question in plain text finds. */
export const foundBy = (index: SearchIndex, text: string, lane = laneOf(ANN)): Promise<string[]> =>
  found(index, { vector: null, terms: terms(text), lane });

/** What one leg ranks, best first; equal scores as an index must order them. */
export function ranked(hits: readonly IndexHit[], leg: 'vectorScore' | 'keywordScore'): string[] {
  return hits
    .flatMap((hit) => (hit[leg] === null ? [] : [{ name: nameOf(hit), score: hit[leg] }]))
    .sort((a, b) => b.score - a.score || (a.name < b.name ? -1 : 1))
    .map(({ name }) => name);
}

const nameOf = ({ point: { memoryId, version } }: IndexHit): string => `${memoryId}.${version}`;

function scopeOf({ kind, id }: Owner): Scope {
  if (kind === 'user') return { ...NOBODY, userId: id };
  return kind === 'agent' ? { ...NOBODY, agentId: id } : { ...NOBODY, runId: id };
}
