import { ENTITY_KINDS, type EntityKind } from './words.ts';

/** The kind in any words a model uses for it. */
export function kindOf(words: string | null): EntityKind {
  const plain = (words ?? '').trim().toLowerCase().replace(/s$/u, '');
  return KINDS.get(plain) ?? 'thing';
}

/** Whether two kinds may be of one entity: what nobody could tell the kind of may be anything. */
export const mayBeOneKind = (a: EntityKind, b: EntityKind): boolean => a === b || VAGUE.has(a) || VAGUE.has(b);

const VAGUE: ReadonlySet<EntityKind> = new Set<EntityKind>(['thing', 'concept']);

const OTHER_WORDS: Readonly<Record<EntityKind, string>> = {
  person: 'people human man woman boy girl user friend relative family individual character name',
  animal: 'pet dog cat bird fish horse species',
  organisation: 'organization company org business employer school university team band institution group club brand',
  place: 'location city town country region address state village district building restaurant area venue',
  product: 'device software app food drink vehicle car tool dish brand_name technology medicine',
  work: 'book film movie song album game series show painting artwork artwork_title',
  event: 'holiday trip meeting wedding conference festival appointment date time',
  activity: 'hobby sport job occupation profession role skill hobbie',
  concept: 'idea topic subject language field interest disease condition preference value',
  thing: 'object item other unknown misc',
};

const KINDS: ReadonlyMap<string, EntityKind> = new Map(
  ENTITY_KINDS.flatMap((kind): [string, EntityKind][] =>
    [kind, ...OTHER_WORDS[kind].split(' ')].map((word) => [word, kind]),
  ),
);
