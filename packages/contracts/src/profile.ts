import { z } from 'zod';
import { formedAs, isUnique, TWICE } from './common.ts';
import { OwnerParams } from './erasures.ts';
import { PROFILE_LINES } from './examples.ts';
import { MemoryText } from './memories.ts';

const SLOTS_MAX = 30;
const ABOUT_MAX = 200;
const LINES_MAX = 20;
const CATEGORY_MAX = 64;
const CATEGORIES_MAX = 20;
/** Everything that belongs to a profile and into none of its slots stands there. */
const OTHER = 'other';

const SlotName = z.string().check(formedAs(/^[a-z][a-z0-9_]{0,39}$/u, 'expected a name like diet_and_health'));

const ProfileSlot = z
  .strictObject({
    name: SlotName.refine((name) => name !== OTHER, `“${OTHER}” is built in; choose another name`),
    about: z.string().trim().min(1).max(ABOUT_MAX).describe('What belongs in the slot, for nights and people.'),
    lines: z.int().min(1).max(LINES_MAX).default(5).describe('The maximum number of lines.'),
    categories: z
      .array(z.string().trim().min(1).max(CATEGORY_MAX))
      .max(CATEGORIES_MAX)
      .default([])
      .describe('Memories of these categories belong in it, without a model.'),
  })
  .meta({ id: 'ProfileSlot' });

export const ProfileSlots = z
  .array(ProfileSlot)
  .max(SLOTS_MAX)
  .refine((slots) => isUnique(slots.map(({ name }) => name)), TWICE);

export const ProfileSlotView = z.object({
  name: z.string(),
  about: z.string(),
  lines: z.number().int(),
  categories: z.array(z.string()),
});

const ProfileLineView = z
  .object({
    memory_id: z.string(),
    version: z.number().int().describe('The version of the memory behind the line.'),
    memory: z.string(),
    by: z
      .enum(['person', 'night', 'rule'])
      .describe('Who put it there. rule: by its category, or because it is pinned or was repeated.'),
    said_at: z.string(),
    valid_from: z.string(),
  })
  .meta({ id: 'ProfileLine' });

export const ProfileView = z
  .object({
    user_id: z.string(),
    slots: z.array(
      z
        .object({
          name: z.string(),
          about: z.string(),
          lines: z.array(ProfileLineView),
          left_out: z.number().int().describe('The number of lines that do not fit in the slot.'),
        })
        .meta({ id: 'FilledSlot' }),
    ),
  })
  .meta({ id: 'Profile' });
export type ProfileView = z.infer<typeof ProfileView>;

export const ProfileSlotParams = OwnerParams.extend({ slot: SlotName });
export const ProfileLineParams = ProfileSlotParams.extend({ memory: z.string() });

export const PutProfileLine = z
  .strictObject({
    memory: MemoryText.optional().describe('The text of the line. It becomes a pinned memory of the user.'),
    memory_id: z.string().min(1).max(128).optional().describe('An existing memory of the user, which becomes pinned.'),
  })
  .refine(({ memory, memory_id }) => (memory === undefined) !== (memory_id === undefined), {
    message: 'expected either memory or memory_id',
  })
  .meta({ id: 'PutProfileLine', examples: PROFILE_LINES });
