import type { Asking } from '../models/ask.ts';
import { CHOOSE_SLOTS, placesIn, type SlotsInput } from '../models/prompts/night.ts';
import type { Remark } from '../plan.ts';
import { portionsOf } from '../ports/tools.ts';
import { type ProfileSlot, placementOf, profileRank, slotOfCategory, slotsOf } from '../profile/placement.ts';
import type { TenantSettings } from '../settings.ts';
import type { Desk, Live } from './drafts.ts';
import { answersAbout, type Judged, type Questions, textsOf } from './neighbours.ts';
import { placeKey, type Sight } from './sight.ts';

/*
 * Places in the profile. Whether a memory belongs there is a matter of its rank, and in which slot it stands, of its category where that
 * decides. A night gives a place to what is left: by a rule where the category names a slot and the rank knows nothing of it, else by a
 * model, which chooses among memories and slots and writes nothing.
 */

/** Memories of one question. */
const GROUP = 40;

interface Placing {
  readonly asking: Asking;
  readonly desk: Desk;
  /** As they are at the end of the night; none that reads otherwise since it began. */
  readonly lives: readonly Live[];
  readonly sight: Sight;
  readonly rules: Pick<TenantSettings, 'sleep' | 'profileSlots'>;
  readonly questions: Questions;
}

/** What its places were judged by: with other slots, all are judged anew. */
export const schemaOf = ({ profileSlots }: Placing['rules']): string =>
  JSON.stringify(slotsOf(profileSlots).map(({ name, about, categories }) => [name, about, categories]));

export async function fillProfile(given: Placing): Promise<Judged> {
  const { desk, sight, rules } = given;
  const slots = slotsOf(rules.profileSlots);
  const schema = schemaOf(rules);
  if (!rules.sleep.acts.profile || slots.length === 0) return { remarks: [], more: false };
  const most = rules.sleep.limits.operations;
  const undecided: Live[] = [];
  for (const live of given.lives.filter(isPlaceable)) {
    if (sight.has(placeKey(schema, live))) continue;
    const slot = slotOfCategory(slots, live.version.details.category);
    const isRanked = profileRank(live.memory) > 0;
    if (slot === undefined && isRanked) undecided.push(live);
    if (slot === undefined || isRanked) continue;
    if (desk.drafts.length >= most) return { remarks: [], more: true };
    sight.judge(placeKey(schema, live));
    const reason = `its category is ${live.version.details.category}`;
    desk.place(live, { slot: slot.name, reason, decidedBy: 'rule' });
  }
  return askAbout(given, { undecided, slots, schema });
}

/** What a person or a night has placed stays where it is; what nobody said, external content and what will end belongs in no slot. */
function isPlaceable({ memory, version: { details } }: Live): boolean {
  const { trust, flagged, expiresAt, concluded, task, skill, about, immutable } = details;
  const isSaid = trust !== 'inferred' && trust !== 'external' && (concluded ?? task ?? skill) === undefined;
  const isOwn = memory.owner.kind !== 'user' || about === 'user';
  return isSaid && isOwn && flagged !== true && expiresAt === null && !immutable && placementOf(memory) === null;
}

interface Undecided {
  readonly undecided: readonly Live[];
  readonly slots: readonly ProfileSlot[];
  readonly schema: string;
}

async function askAbout(given: Placing, { undecided, slots, schema }: Undecided): Promise<Judged> {
  const { desk, sight, rules, questions } = given;
  const remarks: Remark[] = [];
  for (const group of portionsOf(undecided, GROUP)) {
    const room = rules.sleep.limits.operations - desk.drafts.length;
    const asked = group.slice(0, room);
    const told = [...textsOf(asked), ...slots.flatMap(({ name, about }) => [name, about])];
    const step = asked.length === 0 ? null : await questions.next(CHOOSE_SLOTS, told);
    if (step === null) return { remarks, more: true };
    remarks.push(...(await choose(given, { asked, slots, step })));
    for (const live of asked) sight.judge(placeKey(schema, live));
    if (asked.length < group.length) return { remarks, more: true };
  }
  return { remarks, more: false };
}

interface Asked {
  readonly asked: readonly Live[];
  readonly slots: readonly ProfileSlot[];
  readonly step: string;
}

async function choose({ asking, desk }: Placing, { asked, slots, step }: Asked): Promise<readonly Remark[]> {
  const input: SlotsInput = {
    slots: slots.map(({ name, about }) => ({ name, about })),
    memories: asked.map(({ version }, i) => ({ id: String(i), text: version.text })),
  };
  const question = { step, prompt: CHOOSE_SLOTS, ask: 'Which of these belong in which slot?' };
  const places = await answersAbout(asking, { ...question, input, shape: placesIn });
  if ('failed' in places) return [{ asked: 'find slots of the profile', did: places.failed }];
  const placed = new Set<string>();
  return places.flatMap(({ id, slot }): Remark[] => {
    const live = /^\d+$/u.test(id) ? asked[Number(id)] : undefined;
    const refused = (why: string): Remark[] => [{ asked: `put ${id} into ${slot}`, did: `refused: ${why}` }];
    if (live === undefined) return refused('it names a memory that was not shown');
    if (!slots.some(({ name }) => name === slot)) return refused('there is no such slot');
    if (placed.has(live.memory.id)) return refused('it already has a slot');
    placed.add(live.memory.id);
    desk.place(live, { slot, reason: `it belongs under ${slot}`, decidedBy: 'model' });
    return [];
  });
}
