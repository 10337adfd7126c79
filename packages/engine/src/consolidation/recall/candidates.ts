import type { EngineDeps } from '../../deps.ts';
import { deletedAt, lastSaidAt, newest, newestOrNull } from '../../memories/evolve.ts';
import { isRemoved } from '../../memories/former.ts';
import type { Candidate, Fact } from '../../plan.ts';
import type { Turn } from '../../ports/ledger/lanes.ts';
import type { Tombstone } from '../../ports/ledger/memories.ts';
import { askedInSlices } from '../../slices.ts';
import { normaliseText } from '../../text/normalise.ts';
import { type Memory, saidBefore } from '../../words.ts';
import { isProcedure, PROCEDURAL } from '../extract/procedure.ts';
import type { Extracted } from '../values.ts';
import type { Neighbour } from './neighbours.ts';

/** The memories behind what was found, as the ledger has them now, by id. */
export async function memoriesOf(
  { ledger, tools }: EngineDeps,
  { tenant, lane }: Turn,
  neighbours: ReadonlyMap<string, readonly Neighbour[]>,
): Promise<ReadonlyMap<string, Memory>> {
  const ids = [...new Set([...neighbours.values()].flat().map((neighbour) => neighbour.memoryId))];
  const found = await askedInSlices(tools, ids, (some) => ledger.memories.many(tenant, some));
  // The index is asked for this lane alone; what is shown of a memory is the ledger's word, and so is whose it is.
  const own = found.filter((memory) => memory.lane === lane && isSaid(memory));
  return new Map(own.map((memory) => [memory.id, memory]));
}

/** What is undone as a whole was never said, and what retention has emptied says nothing, also where the index does not know it yet. */
function isSaid(memory: Memory): boolean {
  const version = newestOrNull(memory);
  return version !== null && !isRemoved(version);
}

/** The union of all neighbours as the ledger has them now, numbered for the model in the order of the facts. */
export function candidatesOf(
  facts: readonly Fact[],
  neighbours: ReadonlyMap<string, readonly Neighbour[]>,
  memories: ReadonlyMap<string, Memory>,
): readonly Candidate[] {
  const candidates = new Map<string, Omit<Candidate, 'shortId'>>();
  for (const fact of facts) {
    for (const { memoryId, vector, keyword } of neighbours.get(fact.id) ?? []) {
      const memory = memories.get(memoryId);
      if (memory === undefined || isPast(memory, fact) || isOtherKind(memory, fact)) continue;
      const known = candidates.get(memoryId) ?? candidateOf(memory);
      candidates.set(memoryId, { ...known, recalledBy: [...known.recalledBy, { fact: fact.id, vector, keyword }] });
    }
  }
  return [...candidates.values()].map((candidate, i) => ({ ...candidate, shortId: String(i) }));
}

/** Procedures are never merged with facts. */
const isOtherKind = (memory: Memory, fact: Fact): boolean => isProcedure(memory) !== (fact.category === PROCEDURAL);

/** Deleted before the fact was said: what is said anew is new. */
function isPast(memory: Memory, fact: Fact): boolean {
  const deleted = deletedAt(memory);
  return deleted !== null && !saidBefore(fact.saidAt, deleted);
}

function candidateOf(memory: Memory): Omit<Candidate, 'shortId'> {
  const version = newest(memory);
  return {
    memoryId: memory.id,
    version: version.number,
    revision: memory.revision,
    text: version.text,
    // What was said once more since is not older than a fact said in between.
    saidAt: lastSaidAt(memory),
    ...(version.details.utcOffset !== undefined && { utcOffset: version.details.utcOffset }),
    standing: deletedAt(memory) === null ? 'live' : 'deleted',
    immutable: version.details.immutable,
    recalledBy: [],
  };
}

/** What was recalled for each fact, in the order in which it is shown. */
export function candidatesByFact(candidates: readonly Candidate[]): ReadonlyMap<string, readonly Candidate[]> {
  const byFact = new Map<string, Candidate[]>();
  for (const candidate of candidates) {
    for (const { fact } of candidate.recalledBy) byFact.set(fact, [...(byFact.get(fact) ?? []), candidate]);
  }
  return byFact;
}

/** Later deletions of exactly what the facts say, by fact. */
export async function tombstonesOf(
  { ledger, tools }: EngineDeps,
  extracted: Extracted,
): Promise<Map<string, Tombstone>> {
  const hashes = new Map(extracted.facts.map((fact) => [fact.id, tools.hash(normaliseText(fact.text))]));
  const { turn } = extracted;
  const all = await ledger.memories.tombstones(turn.lane, [...new Set(hashes.values())]);
  const stones = turn.settings.ownAppOnly === true ? await ofOwnApp(ledger, { turn, stones: all }) : all;
  return new Map(
    extracted.facts.flatMap((fact) => {
      const later = stones.find(
        (stone) => stone.textHash === hashes.get(fact.id) && saidBefore(fact.saidAt, stone.deletedAt),
      );
      return later === undefined ? [] : [[fact.id, later] as const];
    }),
  );
}

/** What another app deleted blocks nothing that this one says. */
async function ofOwnApp(
  ledger: EngineDeps['ledger'],
  { turn, stones }: { turn: Turn; stones: readonly Tombstone[] },
): Promise<readonly Tombstone[]> {
  const ids = [...new Set(stones.map(({ memoryId }) => memoryId))];
  const memories = ids.length === 0 ? [] : await ledger.memories.many(turn.tenant, ids);
  const own = new Set(memories.filter(({ scope }) => scope.appId === turn.scope.appId).map(({ id }) => id));
  return stones.filter(({ memoryId }) => own.has(memoryId));
}
