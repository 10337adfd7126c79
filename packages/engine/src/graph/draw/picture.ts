import { isoOf } from '../../text/dates.ts';
import type { Millis } from '../../words.ts';
import type { Entity, KeptRelation } from '../words.ts';

export type DrawnEntity = Pick<Entity, 'id' | 'name' | 'kind' | 'self' | 'aliases'>;
export type DrawnRelation = Pick<KeptRelation, 'source' | 'relationship' | 'destination' | 'validFrom' | 'invalidAt'>;

/** What is drawn: relations, and the entities at their ends. */
export interface Picture {
  readonly entities: readonly DrawnEntity[];
  readonly relations: readonly DrawnRelation[];
}

/** A relation as it is drawn: from one entity to another, by their places in the picture. */
export interface Arrow {
  readonly from: number;
  readonly to: number;
  readonly label: string;
  /** It is over: dashed. */
  readonly over: boolean;
}

/** The owner by what they are called, where that was said; anybody else as they were first called. */
export const nameOf = ({ name, self, aliases: [alias] }: DrawnEntity): string => (self ? (alias ?? name) : name);

/** The arrows of a picture, in its order. What has an end that is not in the picture has none. */
export function arrowsOf({ entities, relations }: Picture): readonly Arrow[] {
  const placeOf = new Map(entities.map(({ id }, place) => [id, place]));
  return relations.flatMap((relation) => {
    const [from, to] = [placeOf.get(relation.source), placeOf.get(relation.destination)];
    if (from === undefined || to === undefined || from === to) return [];
    return [{ from, to, label: labelOf(relation), over: relation.invalidAt !== null }];
  });
}

/** "lives in", and of what is over how long: "lives in (2021-04-02 to 2024-01-15)". */
function labelOf({ relationship, validFrom, invalidAt }: DrawnRelation): string {
  const words = relationship.replaceAll('_', ' ');
  return invalidAt === null ? words : `${words} (${spanOf(validFrom, invalidAt)})`;
}

function spanOf(from: Millis, to: Millis): string {
  const [first, last] = [dayOf(from), dayOf(to)];
  return first === last ? first : `${first} to ${last}`;
}

const dayOf = (at: Millis): string => isoOf(at).slice(0, DAY_LENGTH);
const DAY_LENGTH = 'yyyy-mm-dd'.length;

/** A text on one line, not longer than can be read in a drawing. */
export function shortened(text: string, max: number): string {
  const letters = [...text.replace(/\s+/gu, ' ').trim()];
  return letters.length <= max ? letters.join('') : `${letters.slice(0, max - 1).join('')}…`;
}
