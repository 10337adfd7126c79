import { type Random, seededRandom } from '../../chaos/random.ts';

/** What one owner may say, and where it is for an embedder: the same at every run. */
export interface Sayings {
  /** A memory of one line; no two are alike. */
  line(random: Random, number: number): string;
  /** A question about what lines of one topic say. */
  question(random: Random): string;
  vectorOf(text: string): Float32Array;
}

const TOPICS = 300;
const WORDS_OF_A_TOPIC = 24;
const COMMON_WORDS = 800;
const SYLLABLES = ['ba', 'do', 'fi', 'gu', 'ke', 'la', 'mo', 'ni', 'pa', 'ro', 'su', 'te', 'vi', 'wo', 'ze', 'shi'];

/**
 * Vectors as a model has them, not at random: all lean to one side, what is of one topic lies together, topics lie near others,
 * and some directions say much more than others.
 */
const SIDE = 0.5;
const OF_TOPIC = 1.4;
const OF_WORD = 0.8;
const OF_TEXT = 0.25;
/** How fast directions say less: the last one says this much of what the first one does. */
const LEAST_SAYING = 0.25;
const FAMILIES = 30;

export function sayings(dimensions: number): Sayings {
  const random = seededRandom('what an owner says');
  const word = (): string => Array.from({ length: random.between(2, 4) }, () => random.pick(SYLLABLES)).join('');
  const topics = Array.from({ length: TOPICS }, () => Array.from({ length: WORDS_OF_A_TOPIC }, word));
  const common = Array.from({ length: COMMON_WORDS }, word);
  const topicOf = new Map(topics.flatMap((words, topic) => words.map((one) => [one, topic] as const)));
  const directions = directionsOf(dimensions);
  // The n-th of them is about as frequent as 1 ÷ n (Zipf).
  const often = <T>(from: Random, list: readonly T[]): T => list[Math.floor(list.length ** from.next()) - 1] as T;
  const some = (from: Random, list: readonly string[], count: number): string =>
    Array.from({ length: count }, () => often(from, list)).join(' ');

  return {
    line: (from, number) => {
      const topic = often(from, topics);
      return `User ${some(from, common, 2)} ${some(from, topic, 4)} with ${some(from, common, 2)} on trip ${number}`;
    },
    question: (from) => `${some(from, often(from, topics), 3)} ${some(from, common, 2)}?`,
    vectorOf: (text) => {
      const sum = directions.of('every text', SIDE);
      const said = text.toLowerCase().match(/[a-z0-9]+/g) ?? [];
      for (const one of said) {
        const topic = topicOf.get(one);
        if (topic !== undefined) directions.add(sum, `family ${topic % FAMILIES}`, OF_TOPIC / 8);
        if (topic !== undefined) directions.add(sum, `topic ${topic}`, OF_TOPIC / 4);
        directions.add(sum, `word ${one}`, OF_WORD / 4);
      }
      directions.add(sum, `text ${said.join(' ')}`, OF_TEXT);
      return ofLengthOne(sum);
    },
  };
}

/** Directions by name. */
function directionsOf(dimensions: number) {
  const known = new Map<string, Float32Array>();
  const made = (name: string): Float32Array => {
    const random = seededRandom(name);
    // About as a bell: a sum of three is near enough.
    const any = (): number => random.next() + random.next() + random.next() - 1.5;
    return ofLengthOne(Float32Array.from({ length: dimensions }, (_, i) => any() * LEAST_SAYING ** (i / dimensions)));
  };
  const named = (name: string): Float32Array => {
    const direction = known.get(name) ?? made(name);
    if (!name.startsWith('text ')) known.set(name, direction);
    return direction;
  };
  return {
    of: (name: string, weight: number): Float32Array => named(name).map((value) => weight * value),
    add: (sum: Float32Array, name: string, weight: number): void => {
      const direction = named(name);
      for (let i = 0; i < sum.length; i += 1) sum[i] = (sum[i] ?? 0) + weight * (direction[i] ?? 0);
    },
  };
}

function ofLengthOne(vector: Float32Array): Float32Array {
  const length = Math.sqrt(vector.reduce((sum, value) => sum + value * value, 0));
  return vector.map((value) => value / (length || 1));
}
