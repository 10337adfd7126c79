import { nameKey } from '../graph/names.ts';
import type { Millis, Owner } from '../words.ts';

/** How long a relation held, on one side. */
export interface Time {
  readonly validFrom: Millis;
  /** null while it holds. */
  readonly invalidAt: Millis | null;
}

/** A relation by the names of its ends: ids differ from side to side. */
export interface NamedRelation extends Time {
  readonly source: string;
  readonly relationship: string;
  readonly destination: string;
}

/** How a relation is in life and in the space. null: it is not there. */
export interface RelationDifference {
  readonly owner: Owner;
  readonly source: string;
  readonly relationship: string;
  readonly destination: string;
  readonly life: Time | null;
  readonly whatIf: Time | null;
}

export interface ComparedRelations {
  readonly same: number;
  readonly differences: readonly RelationDifference[];
}

interface Sides {
  readonly life: readonly NamedRelation[];
  readonly whatIf: readonly NamedRelation[];
}

/** The graph of life against that of the space, for one owner: what is there on both sides, and began or ended otherwise, has changed. */
export function compareRelations(owner: Owner, { life, whatIf }: Sides): ComparedRelations {
  const [ofLife, ofSpace] = [Map.groupBy(life, keyOf), Map.groupBy(whatIf, keyOf)];
  let same = 0;
  const differences: RelationDifference[] = [];
  for (const key of new Set([...ofLife.keys(), ...ofSpace.keys()])) {
    const sides = { life: ofLife.get(key) ?? [], whatIf: ofSpace.get(key) ?? [] };
    const left = withoutEqual(sides);
    same += sides.life.length - left.life.length;
    differences.push(...inPairs(owner, left));
  }
  return { same, differences };
}

const keyOf = ({ source, relationship, destination }: NamedRelation): string =>
  JSON.stringify([nameKey(source), relationship, nameKey(destination)]);

/** The same may have held at several times: each counts once. */
function withoutEqual({ life, whatIf }: Sides): Sides {
  const others = [...whatIf];
  const left = life.filter(({ validFrom, invalidAt }) => {
    const at = others.findIndex((other) => other.validFrom === validFrom && other.invalidAt === invalidAt);
    if (at !== -1) others.splice(at, 1);
    return at === -1;
  });
  return { life: left, whatIf: others };
}

/** The first with the first: what is left over is on one side only. */
function inPairs(owner: Owner, sides: Sides): readonly RelationDifference[] {
  const [life, whatIf] = [sides.life.toSorted(byTime), sides.whatIf.toSorted(byTime)];
  return Array.from({ length: Math.max(life.length, whatIf.length) }, (_, i) => i).flatMap((i) => {
    const [a, b] = [life[i] ?? null, whatIf[i] ?? null];
    const named = a ?? b;
    if (named === null) return [];
    const { source, relationship, destination } = named;
    return [{ owner, source, relationship, destination, life: timeOf(a), whatIf: timeOf(b) }];
  });
}

const byTime = (a: Time, b: Time): number => a.validFrom - b.validFrom;

const timeOf = (time: Time | null): Time | null =>
  time === null ? null : { validFrom: time.validFrom, invalidAt: time.invalidAt };
