import { DEFAULT_TENANT, type IndexPoint, type Owner } from '@slowwave/engine';
import { seededRandom } from '../../chaos/random.ts';
import { termsOf, textOf, type Vocabulary, vectorOf } from './words.ts';

/** How much an index holds; every user has equally much. */
export interface Size {
  readonly users: number;
  readonly perUser: number;
}

export const memoriesIn = ({ users, perUser }: Size): number => users * perUser;

export const userAt = (n: number): string => `reader-${n}`;
export const ownerAt = (n: number): Owner => ({ kind: 'user', id: userAt(n) });

const TEXT_WORDS = 12; // a fact of one sentence
const SOURCE_WORDS = 24; // the message it came from, and the one before it
const FIRST_SAID = Date.UTC(2026, 0, 1);
const MINUTE_MS = 60_000;

/** All memories of one user, the same at every run. */
export function pointsOf(user: number, { perUser }: Size, words: Vocabulary): Omit<IndexPoint, 'lane'>[] {
  const random = seededRandom(`memories of ${user}`);
  return Array.from({ length: perUser }, (_, n) => {
    const text = words.sentence(random, TEXT_WORDS);
    const contextTerms = [...termsOf(text), ...termsOf(words.sentence(random, SOURCE_WORDS))];
    const body = { text: textOf(text), terms: termsOf(text), vector: vectorOf(text), contextTerms };
    return { ...body, ...placeOf(user, n) };
  });
}

function placeOf(user: number, n: number): Omit<IndexPoint, 'text' | 'terms' | 'vector' | 'contextTerms' | 'lane'> {
  const at = FIRST_SAID + n * MINUTE_MS;
  const id = `${String(user).padStart(10, '0')}${String(n).padStart(10, '0')}`;
  return {
    shelf: 'memories',
    tenant: DEFAULT_TENANT,
    owner: ownerAt(user),
    scope: { userId: userAt(user), agentId: null, runId: null, appId: null },
    ids: { agentId: [], runId: [], appId: [] },
    memoryId: `mem_${id}`,
    version: 1,
    revision: 1,
    speaker: null,
    live: true,
    saidAt: { at, seq: n },
    validFrom: at,
    invalidAt: null,
    expiresAt: null,
    deletedAt: null,
    category: null,
    metadata: {},
    immutable: false,
    trust: 'user',
    flagged: false,
    sourceIds: [`msg_${id}`],
    confirmations: 0,
    createdAt: at,
    updatedAt: at,
  };
}
