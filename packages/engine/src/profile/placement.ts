import { holdingMarks, inEffect, isPinned, liveVersion } from '../memories/evolve.ts';
import type { Memory, Placement } from '../words.ts';

/** A kind of things that a profile tells. */
export interface ProfileSlot {
  readonly name: string;
  /** What belongs into it, for people and models. */
  readonly about: string;
  /** How many lines it has at most. */
  readonly lines: number;
  /** Memories of these categories belong into it without anybody saying so. */
  readonly categories: readonly string[];
}

/** What a profile tells where a tenant names no slots of its own. */
const DEFAULT_SLOTS: readonly ProfileSlot[] = [
  { name: 'name', about: 'What the person is called, and how they want to be addressed', lines: 2, categories: [] },
  { name: 'home', about: 'Where they live now', lines: 2, categories: [] },
  { name: 'languages', about: 'Which languages they speak or learn', lines: 3, categories: [] },
  { name: 'family', about: 'Partner, children, relatives, pets', lines: 10, categories: ['family'] },
  { name: 'work', about: 'What they do for a living or study', lines: 5, categories: ['professional_details'] },
  {
    name: 'diet_and_health',
    about: 'What they eat or do not eat, allergies, illnesses',
    lines: 6,
    categories: ['health'],
  },
  { name: 'likes', about: 'What they like or dislike, for good', lines: 20, categories: ['user_preferences'] },
  { name: 'goals', about: 'What they work towards over months or years', lines: 5, categories: [] },
];

/** Where everything stands that belongs to the profile and into none of the slots. */
export const OTHER_SLOT: ProfileSlot = {
  name: 'other',
  about: 'Whatever else lasts',
  lines: 40,
  categories: [],
};

/** The slots of a tenant. */
export const slotsOf = (own: readonly ProfileSlot[] | null): readonly ProfileSlot[] => own ?? DEFAULT_SLOTS;

/** The slot that a category decides; undefined: none. */
export const slotOfCategory = (slots: readonly ProfileSlot[], category: string | null): ProfileSlot | undefined =>
  category === null ? undefined : slots.find(({ categories }) => categories.includes(category));

/** Somebody said that it must stay, or that no consolidation may change it: nothing is more settled. */
const PINNED = 1_000;
const IMMUTABLE = 500;
/** A night found a slot for it, whatever its category. */
const PLACED = 20;
/** Each time it was said again; what was said ten times is not surer than what was said nine times. */
const CONFIRMATION = 10;
const CONFIRMATIONS_MAX = 9;
/** Said three times or more, anything counts as lasting; once more may be the same talk going on. */
const CONFIRMATIONS_LASTING = 2;

/**
 * What a fact of a category is worth before anybody repeats it. These say who somebody is; the other categories are full
 * of trips, plans and passing tastes, which a search finds when they matter.
 */
const LASTING_CATEGORIES: Readonly<Record<string, number>> = {
  personal_details: 30,
  health: 25,
  family: 20,
  professional_details: 15,
  user_preferences: 15,
};

/**
 * How much a memory belongs to the profile of its owner; 0: not at all. The more settled, the higher. What external content
 * claims does not, however often: unless somebody with a key has said that it stays. What nobody said does not, either, nor what a
 * person took out of the profile.
 */
export function profileRank(memory: Memory): number {
  const live = liveVersion(memory);
  if (live === null || live.details.concluded !== undefined) return 0;
  const { category, about, trust, immutable } = live.details;
  const placed = placementOf(memory);
  if (placed?.slot === null) return 0;
  const isChosen = isPinned(memory) || placed?.by === 'person';
  const decreed = (isChosen ? PINNED : 0) + (immutable ? IMMUTABLE : 0);
  if (trust === 'external') return decreed;
  const byCategory = aboutItsOwner(memory, about) ? (LASTING_CATEGORIES[category ?? ''] ?? 0) : 0;
  const lasting = placed === null ? byCategory : Math.max(byCategory, PLACED);
  const repeated = CONFIRMATION * Math.min(memory.confirmations, CONFIRMATIONS_MAX);
  const belongs = decreed > 0 || lasting > 0 || memory.confirmations >= CONFIRMATIONS_LASTING;
  return belongs ? decreed + lasting + repeated : 0;
}

/** What an agent says of itself to a user is kept with the user, and is no trait of theirs. */
const aboutItsOwner = ({ owner }: Memory, about: 'user' | 'agent'): boolean =>
  owner.kind !== 'user' || about === 'user';

/**
 * Where a memory stands in the profile of its owner; null: nobody said. What a person said last holds for the memory whatever it
 * comes to say. What a night said holds for the words it was said of: a memory that is corrected, deleted or undone has lost its place.
 */
export function placementOf({ timeline }: Pick<Memory, 'timeline'>): Placement | null {
  if (!timeline.some((mark) => mark.kind === 'said' && mark.details.placed !== undefined)) return null;
  const placing = inEffect(timeline).flatMap((mark) =>
    mark.kind === 'said' && mark.details.placed !== undefined ? [{ mark, placed: mark.details.placed }] : [],
  );
  const byPerson = placing.findLast(({ placed }) => placed.by === 'person');
  if (byPerson !== undefined) return byPerson.placed;
  const holding = new Set(holdingMarks(timeline));
  return placing.findLast(({ mark }) => holding.has(mark.revision))?.placed ?? null;
}

/** Whether a person gave it its place in the profile: nights leave it as it is. */
export function isPersonsLine(memory: Pick<Memory, 'timeline'>): boolean {
  const placed = placementOf(memory);
  return placed?.by === 'person' && placed.slot !== null;
}
