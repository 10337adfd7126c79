import type { JsonObject } from '@slowwave/engine';
import { listOf, objectOf, textOf } from '../shapes.ts';

/** What somebody usually has one of at a time, though not always. */
const USUALLY_ONE = new Set(['works_at', 'works_as', 'studies_at', 'dating', 'partner_of']);
const COUPLES = new Set(['married_to', 'engaged_to', 'dating', 'partner_of']);

/** Of what somebody usually has one of, the last said holds; what is said to be over is. Whether two names are of one it cannot tell. */
export function decideGraph(input: JsonObject): JsonObject {
  const fresh = listOf(input.new).map(objectOf);
  const known = listOf(input.known).map(objectOf);
  const ends = fresh.flatMap((one) =>
    [...known, ...fresh].flatMap((other) => {
      if (one === other || !clashes(one, other)) return [];
      const [first, last] = textOf(other.said_at) <= textOf(one.said_at) ? [other, one] : [one, other];
      return [
        {
          relation: textOf(first.id),
          by: textOf(last.id),
          reason: one.said === 'ended' ? 'said to be over' : 'said later',
        },
      ];
    }),
  );
  return { ends: unique(ends), pairs: [] };
}

function clashes(one: JsonObject, other: JsonObject): boolean {
  if (one.source !== other.source) return false;
  if (one.said === 'ended') return one.destination === other.destination;
  const [a, b] = [textOf(one.relationship), textOf(other.relationship)];
  if (COUPLES.has(a) && COUPLES.has(b)) return one.destination !== other.destination || a !== b;
  return a === b && USUALLY_ONE.has(a) && one.destination !== other.destination;
}

function unique(ends: readonly { relation: string; by: string; reason: string }[]) {
  return [...new Map(ends.map((end) => [end.relation, end])).values()];
}
