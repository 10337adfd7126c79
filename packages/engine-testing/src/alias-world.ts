import type { GraphTurn } from './graph-talk.ts';
import { pick as pickOf, seeded } from './worlds.ts';

/** People and firms under many names, some of them nearly alike. */
export interface AliasWorld {
  readonly talk: readonly GraphTurn[];
  readonly kinds: Readonly<Record<string, string>>;
  /** Whose each name is. */
  readonly names: ReadonlyMap<string, number>;
  /** Names that only somebody who knows them can recognize as the same: short forms and slips. */
  readonly pairs: readonly (readonly [string, string])[];
}

const FIRST =
  'Anna Maria Mario Jonas Jonah Clara Klara Pedro Petra Luis Luisa Eva Ewan Rosa Ross Tomas Thora Ines Ivan Ivo Nadia Nils Olga Oskar Paula Pavel'.split(
    ' ',
  );
const LAST =
  'Silva Berg Borg Holm Núñez Müller Larsen Larson Costa Kostas Weber Novák Ferreira Lindqvist Okafor Sørensen'.split(
    ' ',
  );
const FIRM =
  'Acme Globex Initech Umbrell Hooli Vandel Stark Wonka Tyrell Cyberon Oscorp Soylent Zentral Nordwind'.split(' ');
const TRADE = 'Robotics Foods Energy Shipping Media Steel Textiles Pharma'.split(' ');

type Dress = (name: string) => string;

/** What a name may look like where nobody doubts whose it is. */
const OF_PERSON: readonly Dress[] = [
  (name) => `Dr. ${name}`,
  (name) => name.toUpperCase(),
  (name) => name.normalize('NFD').replace(/\p{M}/gu, ''),
  (name) => `Ms ${name}`,
];
const OF_FIRM: readonly Dress[] = [
  (name) => `${name} Inc.`,
  (name) => `The ${name}`,
  (name) => `${name} Ltd`,
  (name) => `${name} GmbH`,
  (name) => name.toLowerCase(),
];

/** Shares of entities that are people, of names that are said, and of slips. */
const PEOPLE = 0.6;
const DRESSED = 0.6;
const SLIPS = 0.2;

/** So many entities, each said under several names. */
export function aliasWorld({ seed, entities }: { seed: number; entities: number }): AliasWorld {
  const next = seeded(seed);
  const pick = (items: readonly string[]): string => pickOf(items, next);
  const names = new Map<string, number>();
  const kinds: Record<string, string> = {};
  const pairs: [string, string][] = [];
  const said: { readonly name: string; readonly of: number }[] = [];
  const say = (of: number, name: string, kind: string): boolean => {
    if (names.has(name)) return false;
    names.set(name, of);
    kinds[name] = kind;
    said.push({ name, of });
    return true;
  };
  const fresh = (of: number, kind: string): string => {
    for (;;) {
      const name = kind === 'person' ? `${pick(FIRST)} ${pick(LAST)}` : `${pick(FIRM)} ${pick(TRADE)}`;
      if (say(of, name, kind)) return name;
    }
  };
  for (let of = 0; of < entities; of += 1) {
    const kind = next() < PEOPLE ? 'person' : 'organisation';
    const name = fresh(of, kind);
    for (const dress of kind === 'person' ? OF_PERSON : OF_FIRM) if (next() < DRESSED) say(of, dress(name), kind);
    const slip = slipOf(name, next);
    if (next() < SLIPS && say(of, slip, kind)) pairs.push([name, slip]);
  }
  const talk = said.map(({ name, of }, i) => ({
    day: '',
    says: `${i}: I know ${name}.`,
    statements: [`user | knows | ${name}`],
    of,
  }));
  return { talk, kinds, names, pairs };
}

/** Two letters of the last word, swapped. */
function slipOf(name: string, next: () => number): string {
  const at = name.lastIndexOf(' ') + 2 + Math.floor(next() * 2);
  return `${name.slice(0, at)}${name.charAt(at + 1)}${name.charAt(at)}${name.slice(at + 2)}`;
}
