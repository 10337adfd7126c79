import type { IndexHit } from '../../ports/search-index.ts';
import { fuse } from '../../search/fuse.ts';
import { normaliseText } from '../../text/normalise.ts';
import { STOP_WORDS, terms } from '../../text/terms.ts';
import type { Entity } from '../words.ts';

/** An entity that a question begins at. */
export interface Seed {
  readonly id: string;
  /** 0…1: how sure it is that the question is about it. */
  readonly weight: number;
  /** The words of the question that name it. */
  readonly terms: readonly string[];
}

/** Entities that are only like something in the question: few, and believed less than what is named. */
const LIKE_MAX = 3;
const LIKE_WEIGHT = 0.6;
/** Nobody is named: then it is about the owner, perhaps. */
const UNNAMED_WEIGHT = 0.5;

/**
 * The entities that are named. Of a name that is part of a longer one the longer counts: who asks for Ana Lopez does not ask
 * for Ana.
 */
export function namedSeeds(mentions: readonly string[], entities: readonly Entity[]): readonly Seed[] {
  const asked = new Set(mentions);
  const found = entities.map((entity) => ({ entity, names: namesOf(entity).filter((name) => asked.has(name)) }));
  const all = found.flatMap(({ names }) => names);
  const isPart = (name: string): boolean => all.some((other) => other !== name && other.includes(name));
  return found
    .filter(({ names }) => names.length === 0 || !names.every(isPart))
    .map(({ entity, names }) => ({ id: entity.id, weight: 1, terms: names.flatMap((name) => terms(name)) }));
}

/** Who asks, in their own words or because nobody else is named. */
export const selfSeed = (self: Entity, isNamed: boolean): Seed => ({
  id: self.id,
  weight: isNamed ? 1 : UNNAMED_WEIGHT,
  terms: [],
});

/** The entities whose names are like something in the question. */
export const likeSeeds = (hits: readonly IndexHit[]): readonly Seed[] =>
  fuse(hits, 'hybrid')
    .slice(0, LIKE_MAX)
    .filter(({ score }) => score > 0)
    .map(({ hit: { point }, score }) => ({
      id: point.memoryId,
      weight: LIKE_WEIGHT * score,
      terms: terms(point.text),
    }));

const namesOf = ({ name, aliases }: Entity): string[] => [name, ...aliases].map(normaliseText);

/** Characters of a question in which names are looked for: in a longer one somebody has pasted a document. */
const READ = 1_000;
/** Words of the longest name that is looked for, and characters where a script puts no spaces between words. */
const WORDS_MAX = 4;
const CHARACTERS = { least: 2, most: 6 } as const;
/** Names that are looked up at once: of longer questions those that come first. */
const NAMES_MAX = 256;

/** Everything in a question that may be somebody's or something's name, in the form in which names are compared. */
export function mentionsIn(question: string): readonly string[] {
  const names = new Set<string>();
  const words = normaliseText(question.slice(0, READ)).split(BETWEEN_WORDS).map(withoutSigns).filter(isWord);
  for (const [at, word] of words.entries()) {
    for (const run of word.match(UNSPACED) ?? []) for (const part of partsOf(run)) names.add(part);
    for (let count = 1; count <= WORDS_MAX && at + count <= words.length; count += 1) {
      for (const name of spellings(words.slice(at, at + count))) names.add(name);
    }
  }
  return [...names].slice(0, NAMES_MAX);
}

/** Whether a question is about who asks: their own entity has no name in it. */
export const isAboutSelf = (question: string): boolean => SELF.test(normaliseText(question.slice(0, READ)));

const SELF = /(?<![\p{L}\p{N}])(?:i|me|my|mine|myself|the user)(?![\p{L}\p{N}])|我|本人/u;

const BETWEEN_WORDS = /[\s,;:!?()[\]{}"“”„«»…。、，；：！？（）「」『』《》]+/u;
const UNSPACED = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Script=Thai}\u30fc]+/gu;
const POSSESSIVE = /['’](?:s)?$/u;

const withoutSigns = (word: string): string => word.replace(/^[.'’\-/]+/u, '').replace(/[.\-/]+$/u, '');
const isWord = (word: string): boolean => word !== '';

/** As it stands there, and without what says whose something is: "ana's" may be Ana, "levi's" may be Levi's. */
function spellings(words: readonly string[]): string[] {
  if (words.every((word) => STOP_WORDS.has(word))) return [];
  const name = words.join(' ');
  const bare = name.replace(POSSESSIVE, '');
  return bare === name || bare === '' ? [name] : [name, bare];
}

function partsOf(run: string): string[] {
  const characters = [...run];
  const lengths = Array.from({ length: CHARACTERS.most - CHARACTERS.least + 1 }, (_, i) => CHARACTERS.most - i);
  return characters.flatMap((_, at) =>
    lengths.flatMap((length) => {
      const part = characters.slice(at, at + length);
      return part.length === length ? [part.join('')] : [];
    }),
  );
}
