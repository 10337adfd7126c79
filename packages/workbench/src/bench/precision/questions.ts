import { termSet } from '@slowwave/engine';
import type { Random } from '../../chaos/random.ts';
import type { Frame } from './frames/frame.ts';
import { type Life, PLACES, type Place, type SaidMemory, type Slots, slotsOf } from './life.ts';
import { askedText, type Person, SELF } from './voice.ts';

/** A question, and what of the life answers it; nothing does where nothing in the life says it. */
export interface Question {
  readonly kind: Kind;
  readonly text: string;
  readonly place: Place;
  readonly relevant: readonly SaidMemory[];
}

/**
 * same words    shares words with the memory that answers it
 * other words   shares none: synonyms, and what stands for the whole kind
 * not told      of a kind that nothing in the life says anything of
 * not of them   said of somebody else only
 * not there     said, but not in the app, in the run or to the agent that is asked for
 */
export const KINDS = ['same words', 'other words', 'not told', 'not of them', 'not there'] as const;
export type Kind = (typeof KINDS)[number];

/** Of so many questions a third has no answer. */
const PARTS: Readonly<Record<Kind, number>> = {
  'same words': 10,
  'other words': 10,
  'not told': 5,
  'not of them': 3,
  'not there': 2,
};

export const QUESTIONS_OF_LIFE = Object.values(PARTS).reduce((sum, part) => sum + part, 0);

/** Questions about one life, each once. */
export function drawQuestions(life: Life, random: Random): readonly Question[] {
  const asked = new Map<string, Question>();
  for (const kind of KINDS) {
    const forked = random.fork(kind);
    const before = asked.size;
    for (const question of candidates(kind, life, forked)) {
      if (asked.size - before === PARTS[kind]) break;
      const key = `${question.text} ${JSON.stringify(question.place)}`;
      if (!asked.has(key)) asked.set(key, question);
    }
    if (asked.size - before < PARTS[kind]) throw new Error(`expected ${PARTS[kind]} questions of the kind "${kind}"`);
  }
  return [...asked.values()];
}

function candidates(kind: Kind, life: Life, random: Random): readonly Question[] {
  if (kind === 'same words')
    return random.shuffled(life.memories).flatMap((one) => answered(one, 'same', { life, random }));
  if (kind === 'other words')
    return random.shuffled(life.memories).flatMap((one) => answered(one, 'other', { life, random }));
  return unanswerable(kind, life, random).filter(({ relevant }) => relevant.length === 0);
}

interface Drawing {
  readonly life: Life;
  readonly random: Random;
}

/** A question that this memory answers; none where no wording of the wanted kind fits. */
function answered(
  { frame, person, slots, place }: SaidMemory,
  words: 'same' | 'other',
  { life, random }: Drawing,
): Question[] {
  // Asked of everything, or where it was said, as often as not.
  const where = random.chance(1 / 2) ? place : {};
  const kind = words === 'same' ? 'same words' : 'other words';
  for (const template of random.shuffled(frame[words])) {
    const question = questionOf({ kind, template, frame, person, slots, place: where }, words, life);
    const shared = question.relevant.map((memory) => sharedWords(question.text, memory));
    // Whom it is about is named by the same words, too; that alone is not enough.
    const fits = words === 'same' ? shared.some((some) => some.length > 0) : shared.every((some) => some.length === 0);
    if (fits && question.relevant.length > 0) return [question];
  }
  return [];
}

/** Words of content that a question shares with a memory, without those that name whom it is about. */
export function sharedWords(question: string, { text, person }: SaidMemory): readonly string[] {
  const names = termSet(`${person.relation ?? ''} ${person.name}`);
  const said = termSet(text);
  return [...termSet(question)].filter((term) => said.has(term) && !names.has(term));
}

function unanswerable(kind: Kind, life: Life, random: Random): readonly Question[] {
  const frames = random.shuffled(life.world.frames);
  const ask = (frame: Frame, person: Person, place: Place): Question[] => {
    const words = random.pick(['same', 'other'] as const);
    const template = random.pick(frame[words]);
    return [questionOf({ kind, template, frame, person, slots: slotsOf(frame, random), place }, words, life)];
  };
  const isSaid = (frame: Frame, person: Person): boolean =>
    life.memories.some((memory) => memory.frame.name === frame.name && samePerson(memory.person, person));
  if (kind === 'not told') {
    return frames
      .filter(({ name }) => !life.memories.some(({ frame }) => frame.name === name))
      .flatMap((frame) => ask(frame, SELF, {}));
  }
  const saidFrames = frames.filter(({ name }) => life.memories.some(({ frame }) => frame.name === name));
  if (kind === 'not of them') {
    return saidFrames
      .filter(({ others }) => others === true)
      .flatMap((frame) => {
        const people = [SELF, ...life.relatives].filter((person) => !isSaid(frame, person));
        return people.length === 0 ? [] : ask(frame, random.pick(people), {});
      });
  }
  return saidFrames.filter((frame) => isSaid(frame, SELF)).flatMap((frame) => ask(frame, SELF, random.pick(PLACES)));
}

interface Asking {
  readonly kind: Kind;
  readonly template: string;
  readonly frame: Frame;
  readonly person: Person;
  readonly slots: Slots;
  readonly place: Place;
}

function questionOf(asking: Asking, words: 'same' | 'other', life: Life): Question {
  const { kind, template, frame, person, slots, place } = asking;
  const named = Object.entries(slots).filter(([slot]) => template.includes(`{${slot}}`));
  const relevant = life.memories.filter(
    (memory) =>
      memory.frame.name === frame.name &&
      samePerson(memory.person, person) &&
      isIn(memory.place, place) &&
      named.every(([slot, value]) => memory.slots[slot] === value),
  );
  const text =
    frame.plain === true ? plainText(template, slots) : askedText({ template, slots, person }, life.voice, words);
  return { kind, text, place, relevant };
}

const plainText = (template: string, slots: Slots): string =>
  template.replace(/\{([^}]+)\}/gu, (place, name: string) => slots[name] ?? place);

const samePerson = (a: Person, b: Person): boolean => a.relation === b.relation;

const isIn = (place: Place, asked: Place): boolean =>
  Object.entries(asked).every(([id, value]) => place[id as keyof Place] === value);
