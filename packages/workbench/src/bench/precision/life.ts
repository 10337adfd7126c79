import type { Random } from '../../chaos/random.ts';
import type { Frame } from './frames/frame.ts';
import { drawnPeople, type Person, SELF, saidText, type Voice, voiceOf } from './voice.ts';
import type { World } from './world.ts';

/** What one user's memory holds. */
export interface Life {
  readonly user: string;
  readonly world: World;
  readonly voice: Voice;
  readonly relatives: readonly Person[];
  readonly memories: readonly SaidMemory[];
}

export type Slots = Readonly<Record<string, string>>;

/** Who else may have said it, beside the user: one of them at most. */
export interface Place {
  readonly agent_id?: string;
  readonly run_id?: string;
  readonly app_id?: string;
}

export interface SaidMemory {
  readonly frame: Frame;
  readonly person: Person;
  readonly slots: Slots;
  readonly place: Place;
  readonly text: string;
  /** What it said before it changed; null: it never did. */
  readonly former: string | null;
}

const OWN = 44; // frames that are said of the user
const RELATIVES = 4;
const OF_RELATIVES = 12;
const ELSEWHERE = 8; // said in another app or run, or to another agent
const AGAIN = 3; // said twice, in other words
const CHANGED = 6;
const FOREIGN = 3;
/** How often somebody has a second and a third of what one may have several of. */
const ANOTHER = 0.35;

export const PLACES: readonly Place[] = [
  { agent_id: 'coach' },
  { agent_id: 'concierge' },
  { app_id: 'kitchen' },
  { run_id: 'onboarding' },
];

/** A life that follows from the random numbers alone. */
export function drawLife(user: string, random: Random, world: World): Life {
  const voice = voiceOf(world.speech, random.fork('voice'));
  const relatives = drawnPeople(world.speech, random.fork('relatives'), RELATIVES);
  const drawing = { world, voice, random: random.fork('memories') };
  const frames = drawing.random.shuffled(world.frames);
  const own = frames.slice(0, OWN).flatMap((frame) => several(frame, drawing));
  const memories = [
    ...changing(own, drawing),
    ...ofRelatives(relatives, drawing),
    ...elsewhere(frames, drawing),
    ...again(own, drawing),
    ...drawing.random
      .shuffled(world.tongues)
      .slice(0, FOREIGN)
      .map((frame) => say({ frame, person: SELF }, drawing)),
  ];
  return { user, world, voice, relatives, memories: drawing.random.shuffled(unlike(memories)) };
}

/** Nothing is said twice in the same words, now or formerly. */
function unlike(memories: readonly SaidMemory[]): SaidMemory[] {
  const texts = new Set<string>();
  return memories.filter(({ text, former }) => {
    const own = former === null ? [text] : [text, former];
    if (own.some((one) => texts.has(one))) return false;
    for (const one of own) texts.add(one);
    return true;
  });
}

interface Drawing {
  readonly world: World;
  readonly voice: Voice;
  readonly random: Random;
}

function several(frame: Frame, drawing: Drawing): SaidMemory[] {
  const count = frame.many !== true ? 1 : 1 + [1, 2].filter(() => drawing.random.chance(ANOTHER)).length;
  const drawn = Array.from({ length: count }, () => say({ frame, person: SELF }, drawing));
  return distinct(drawn);
}

/** Two of one kind say different things. */
const distinct = (memories: readonly SaidMemory[]): SaidMemory[] => [
  ...new Map(memories.map((memory) => [Object.values(memory.slots)[0], memory])).values(),
];

type Drawn = Pick<SaidMemory, 'frame' | 'person'> & { readonly place?: Place; readonly slots?: Slots };

function say({ frame, person, place = {}, slots }: Drawn, { voice, random }: Drawing): SaidMemory {
  const filled = slots ?? slotsOf(frame, random);
  const text = saidText({ template: random.pick(frame.says), slots: filled, person }, voice, frame.plain === true);
  return { frame, person, place, slots: filled, text, former: null };
}

export const slotsOf = ({ slots }: Frame, random: Random): Slots =>
  Object.fromEntries(Object.entries(slots).map(([name, values]) => [name, random.pick(values)]));

/** Some of what may change did: the former version is said as the present one is. */
function changing(memories: readonly SaidMemory[], drawing: Drawing): SaidMemory[] {
  const may = drawing.random.shuffled(memories.filter(({ frame }) => frame.changes === true)).slice(0, CHANGED);
  const changed = new Set(may);
  return memories.map((memory) => {
    if (!changed.has(memory)) return memory;
    const before = say({ frame: memory.frame, person: memory.person }, drawing);
    return before.text === memory.text ? memory : { ...memory, former: before.text };
  });
}

/** Near neighbours: what is true of the user, said of somebody else, as often as not with the same object. */
function ofRelatives(relatives: readonly Person[], drawing: Drawing): SaidMemory[] {
  const { random, world } = drawing;
  const frames = random.shuffled(world.frames.filter(({ others }) => others === true)).slice(0, OF_RELATIVES);
  return frames.map((frame) => say({ frame, person: random.pick(relatives) }, drawing));
}

/** The same kinds of facts with other objects, said somewhere else. */
function elsewhere(frames: readonly Frame[], drawing: Drawing): SaidMemory[] {
  const { random } = drawing;
  const known = frames.slice(0, OWN).filter(({ many }) => many === true);
  const unknown = frames.slice(OWN);
  const half = ELSEWHERE / 2;
  return [...random.shuffled(known).slice(0, half), ...random.shuffled(unknown).slice(0, half)].map((frame) =>
    say({ frame, person: SELF, place: random.pick(PLACES) }, drawing),
  );
}

function again(memories: readonly SaidMemory[], drawing: Drawing): SaidMemory[] {
  const twice = drawing.random.shuffled(memories.filter(({ frame }) => frame.changes !== true)).slice(0, AGAIN);
  return twice.map(({ frame, person, slots }) => say({ frame, person, slots }, drawing));
}
