import type { ShownPoint } from '../ports/search-index.ts';
import { shownPart } from '../rules/shown-part.ts';
import { pointsOf } from '../rules/standing.ts';
import { heard } from '../steps/heard.ts';
import { canonical } from '../views/canonical.ts';
import type { Memory } from '../words.ts';
import type { DoctorDeps } from './findings.ts';

/** What the ledger says of some points of the index. */
interface Expected {
  /** Whether the point says what the ledger says. */
  says(point: ShownPoint): boolean;
  /** Whether there should be such a point, whatever it says. */
  has(point: ShownPoint): boolean;
  /** Whether the ledger has changed since it was asked. */
  isOlderThan(point: ShownPoint): boolean;
  /** The ids of those that the index is still to be told of. */
  onTheirWay(): Promise<ReadonlySet<string>>;
}

/** Of every point on a page, what should be there in its place. */
export async function expectedOf(deps: DoctorDeps, points: readonly ShownPoint[]): Promise<Expected> {
  const memories = await memoriesOf(deps, points);
  const expected = new Map<string, string>();
  for (const [lane, ofLane] of Map.groupBy(memories.values(), ({ lane }) => lane)) {
    const said = await heard(deps, lane, ofLane);
    for (const point of ofLane.flatMap((memory) => pointsOf(memory, { vectorOf: () => NO_VECTOR, said })))
      expected.set(nameOf(point), canonical(shownPart(point)));
  }
  return {
    says: (point) => expected.get(nameOf(point)) === canonical(point),
    has: (point) => expected.has(nameOf(point)),
    isOlderThan: ({ memoryId, revision }) => revision > (memories.get(memoryId)?.revision ?? revision),
    onTheirWay: async () => {
      const entries = await deps.ledger.outbox.ofMemories([...memories.keys()]);
      return new Set(entries.map(({ memoryId }) => memoryId));
    },
  };
}

export const nameOf = ({ memoryId, version }: Pick<ShownPoint, 'memoryId' | 'version'>): string =>
  `${memoryId} version ${version}`;

const NO_VECTOR = new Float32Array(0);

async function memoriesOf({ ledger }: DoctorDeps, points: readonly ShownPoint[]): Promise<Map<string, Memory>> {
  const found = new Map<string, Memory>();
  for (const [tenant, ofTenant] of Map.groupBy(points, (point) => point.tenant)) {
    const ids = [...new Set(ofTenant.map(({ memoryId }) => memoryId))];
    for (const memory of await ledger.memories.many(tenant, ids)) found.set(memory.id, memory);
  }
  return found;
}
