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
