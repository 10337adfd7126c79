import {
  atOnce,
  type Candidate,
  deletedAt,
  type EventKind,
  evolve,
  type Fact,
  guard,
  type LaneId,
  liveVersion,
  type Memory,
  newest,
  normaliseText,
  type RawOperation,
  repeatsOf,
  saidBefore,
  type Tombstone,
  type Verdicts,
} from '@slowwave/engine';
import { expect } from 'vitest';
import { details, home } from './builders.ts';
import { fixedTools, MORNING } from './fixed-tools.ts';
import { expectNoOverlap, expectSound } from './soundness.ts';

const MINUTE = 60_000;
const HOME = home('lane_1' as LaneId);

/** What was said of a memory: at which minute, and the text, or null for its deletion. */
type Life = readonly (readonly [minute: number, text: string | null])[];

interface KnownMemory {
  readonly life: Life;
  readonly immutable?: boolean;
  /** Minute of its expiry. */
  readonly expires?: number;
  /** Numbers of the facts that recall it; all unless given. */
  readonly recalledBy?: readonly number[];
  /** Belongs to somebody else. */
  readonly foreign?: boolean;
}

/** A wish in short; 'forget' stands for keep: false. */
export type Wish = readonly [
  fact: string,
  event: EventKind,
  id?: string | null,
  text?: string | null,
  forget?: 'forget',
];

export interface Scene {
  readonly memories?: readonly (string | KnownMemory)[];
  /** Said from minute 100 on, one a minute, unless said otherwise. */
  readonly facts: readonly (string | { readonly text: string; readonly minute: number; readonly category?: string })[];
  /** null: no model was asked. */
  readonly asked: readonly (Wish | Partial<RawOperation>)[] | null;
  /** Texts deleted at a minute, whose memories nobody recalled. */
  readonly tombstones?: readonly (readonly [minute: number, text: string])[];
  readonly deletesMax?: number;
  readonly addOnly?: boolean;
  /** Whether users asked themselves for what is to be forgotten; they did, unless said otherwise. */
  readonly ownWishes?: boolean;
}

interface Played extends Verdicts {
  /** "ADD", "UPDATE" … of each fact, in order. */
  readonly ends: readonly string[];
  /** What holds afterwards, sorted. */
  readonly live: readonly string[];
  /** Texts of the versions of the i-th known memory; added ones follow. */
  versions(i: number): readonly string[];
  memory(i: number): Memory;
}

/** A scene and how it must end. */
export interface Case extends Scene {
  readonly ends: readonly string[];
  readonly live: readonly string[];
  /** Parts of what the remarks did, in order. */
  readonly did?: readonly string[];
}

export function expectCase({ ends, live, did = [], ...scene }: Case): Played {
  const played = playGuard(scene);
  expect({ ends: played.ends, live: played.live }).toEqual({ ends, live: [...live].sort() });
  expect(played.remarks.map((remark) => remark.did)).toEqual(did.map((text) => expect.stringContaining(text)));
  return played;
}

/** Plays one guard scene on plain values, and checks what must hold in every scene. */
export function playGuard(scene: Scene): Played {
  const tools = fixedTools(at(1_000));
  const facts = scene.facts.map(factOf);
  const known = (scene.memories ?? []).map((given, i) => knownOf(typeof given === 'string' ? plain(given) : given, i));
  const candidates = known.map(({ memory, given }, i) =>
    candidateOf(memory, i, given.recalledBy?.map((n) => `f${n}`) ?? facts.map(({ id }) => id)),
  );
  const memories = new Map(known.map(({ memory }) => [memory.id, memory]));
  const verdicts = guard(
    {
      home: HOME,
      consolidationId: 'con_1',
      facts,
      candidates,
      memories,
      metadataOf: () => ({}),
      isOwnWish: () => scene.ownWishes ?? true,
      shared: new Set<string>(),
      expiresAt: null,
      deletesMax: scene.deletesMax ?? 10,
      externalWaits: false,
      isFlagged: () => false,
      review: [],
      waiting: new Map(),
      tools,
    },
    {
      asked: scene.asked?.map(wishOf) ?? null,
      repeats: atOnce(repeatsOf(facts, candidates, memories)),
      tombstones: new Map(facts.flatMap((fact) => tombstoneOf(fact, scene.tombstones ?? []))),
      ...(scene.addOnly === undefined ? {} : { addOnly: scene.addOnly }),
    },
  );
  const after = expectSound(verdicts, { home: HOME, facts, before: memories });
  const all = [...after.values()];
  for (const memory of all) expectNoOverlap(memory);
  return {
    ...verdicts,
    ends: verdicts.outcomes.map(({ outcome }) => outcome),
    live: all.flatMap((memory) => liveVersion(memory)?.text ?? []).sort(),
    memory: (i) => all[i] ?? expect.unreachable(`there is no memory ${i}`),
    versions: (i) => all[i]?.versions.map(({ text }) => text) ?? [],
  };
}

const at = (minute: number): number => MORNING + minute * MINUTE;
const plain = (text: string): KnownMemory => ({ life: [[1, text]] });

const factOf = (given: Scene['facts'][number], i: number): Fact => {
  const {
    text,
    minute,
    category = null,
  } = typeof given === 'string' ? { text: given, minute: 100 + i, category: null } : given;
  return {
    ...details({ sourceIds: [`msg_${i}`], category }),
    id: `f${i}`,
    text,
    saidAt: { at: at(minute), seq: 1_000 + i },
    validFrom: at(minute),
  };
};

function knownOf(given: KnownMemory, i: number): { memory: Memory; given: KnownMemory } {
  const expiresAt = given.expires === undefined ? null : at(given.expires);
  const events = given.life.map(([minute, text], revision) => ({
    id: `evt_known_${i}_${revision}`,
    memoryId: `mem_known_${i}`,
    revision: revision + 1,
    kind: text === null ? ('DELETE' as const) : revision === 0 ? ('ADD' as const) : ('UPDATE' as const),
    actor: 'api' as const,
    consolidationId: null,
    factId: null,
    reason: 'a test says so',
    previous: null,
    saidAt: { at: at(minute), seq: i },
    validFrom: at(minute),
    recordedAt: at(minute),
    text,
    details: text === null ? null : details({ immutable: given.immutable ?? false, expiresAt }),
    sourceIds: [],
  }));
  const where = given.foreign === true ? home('lane_2' as LaneId) : HOME;
  return { memory: evolve(where, null, events), given };
}

function candidateOf(memory: Memory, i: number, facts: readonly string[]): Candidate {
  return {
    shortId: String(i),
    memoryId: memory.id,
    version: newest(memory).number,
    revision: memory.revision,
    text: newest(memory).text,
    saidAt: newest(memory).saidAt,
    standing: deletedAt(memory) === null ? 'live' : 'deleted',
    immutable: newest(memory).details.immutable,
    recalledBy: facts.map((fact) => ({ fact, vector: 0.5, keyword: null })),
  };
}

const isShort = (given: Wish | Partial<RawOperation>): given is Wish => Array.isArray(given);

function wishOf(given: Wish | Partial<RawOperation>): RawOperation {
  const bare = { fact: null, event: null, id: null, text: null, reason: 'said so', keep: true };
  if (!isShort(given)) return { ...bare, ...given };
  const [fact, event, id = null, text = null, forget] = given;
  return { ...bare, fact, event, id, text, keep: forget === undefined };
}

function tombstoneOf(fact: Fact, stones: NonNullable<Scene['tombstones']>): [string, Tombstone][] {
  const found = stones.find(([, text]) => normaliseText(text) === normaliseText(fact.text));
  if (found === undefined) return [];
  const stone = { memoryId: 'mem_gone', textHash: found[1], deletedAt: { at: at(found[0]), seq: 0 } };
  return saidBefore(fact.saidAt, stone.deletedAt) ? [[fact.id, stone]] : [];
}
