import { added, deleted, details, fixedTools, home, updated } from '@slowwave/engine-testing';
import { describe, expect, it } from 'vitest';
import { deletedAt, newest } from '../../memories/evolve.ts';
import { atOnce } from '../../slices.ts';
import type { LaneId, Memory } from '../../words.ts';
import { repeatsOf, undisputed } from './repeats.ts';

const AT = home('lane_1' as LaneId);
const tools = fixedTools();
const live = added(tools, AT, { text: 'User likes tea' }).memory;
const moved = updated(tools, added(tools, AT, { text: 'User lives in Oslo' }).memory, {
  text: 'User lives in Bergen',
  saidAt: { at: tools.now() + 1, seq: 9 },
}).memory;
const gone = deleted(tools, added(tools, AT, { text: 'User smokes' }).memory, {
  saidAt: { at: tools.now() + 1, seq: 9 },
}).memory;

describe('a fact repeats', () => {
  it.each([
    ['a memory in the same words', 'User likes tea', live],
    ['a memory in other case, blanks and dots', 'user  likes TEA.', live],
    ['what a memory said before', 'User lives in Oslo', moved],
    ['what was deleted', 'User smokes', gone],
  ])('%s', (_name, text, memory) => {
    expect(repeats([text], [live, moved, gone])).toEqual([{ kind: 'memory', memoryId: memory.id }]);
  });

  it('rather the memory that holds than one that once said so', () => {
    const back = added(tools, AT, { text: 'User lives in Oslo' }).memory;
    expect(repeats(['User lives in Oslo'], [moved, back])).toEqual([{ kind: 'memory', memoryId: back.id }]);
  });

  it('the first fact with its words', () => {
    expect(repeats(['User has a cat', 'user has a cat', 'User has a cat!'], [])).toEqual([
      undefined,
      { kind: 'fact', fact: 'f0' },
      { kind: 'fact', fact: 'f0' },
    ]);
  });

  it('nothing that is only like it', () => {
    expect(repeats(['User likes green tea', 'User lives in Rome'], [live, moved])).toEqual([undefined, undefined]);
  });

  it('no memory that was not recalled for it', () => {
    expect(repeats(['User has a cat', 'User likes tea'], [live], ['f0'])).toEqual([undefined, undefined]);
  });
});

describe('a repeat is for the model to decide', () => {
  const OSLO = 'User lives in Oslo';
  const TEA = 'User likes tea';
  const near = (one: { text: string }, other: { text: string }) => one.text.split(' ')[1] === other.text.split(' ')[1];
  const settled = (texts: readonly string[], memories: readonly Memory[], minute = 10) => {
    const scene = sceneOf(texts, memories, { minute });
    return [...atOnce(undisputed(scene.facts, found(scene), { ...scene, near })).keys()];
  };

  it('where something near was said in between', () => {
    expect(settled([OSLO, 'User lives in Rome', OSLO, TEA], [])).toEqual([]);
    expect(settled(['User lives in Rome', TEA], [live])).toEqual(['f1']);
    expect(settled(['User likes rum', TEA], [live])).toEqual([]);
  });

  it('not where only something else was', () => {
    expect(settled([OSLO, TEA, OSLO, OSLO], [])).toEqual(['f2', 'f3']);
  });

  it('where it was said before its memory began, and another one near it is gone', () => {
    expect(settled([TEA], [live, gone], -10)).toEqual([]);
    expect(settled([TEA], [live, gone])).toEqual(['f0']);
    expect(settled([TEA], [live], -10)).toEqual(['f0']);
  });
});

interface SceneOptions {
  readonly recalledBy?: readonly string[] | undefined;
  /** When the facts were said, counted from when the memories were. */
  readonly minute?: number;
}

function repeats(texts: readonly string[], memories: readonly Memory[], recalledBy?: readonly string[]) {
  const scene = sceneOf(texts, memories, { recalledBy });
  return scene.facts.map(({ id }) => found(scene).get(id));
}

const found = ({ facts, candidates, memories }: ReturnType<typeof sceneOf>) =>
  atOnce(repeatsOf(facts, candidates, memories));

function sceneOf(texts: readonly string[], memories: readonly Memory[], { recalledBy, minute = 10 }: SceneOptions) {
  const facts = texts.map((text, i) => ({
    ...details(),
    id: `f${i}`,
    text,
    saidAt: { at: tools.now() + minute * 60_000, seq: i },
    validFrom: tools.now(),
  }));
  const candidates = memories.map((memory, i) => ({
    shortId: String(i),
    memoryId: memory.id,
    version: newest(memory).number,
    revision: memory.revision,
    text: newest(memory).text,
    saidAt: newest(memory).saidAt,
    standing: deletedAt(memory) === null ? ('live' as const) : ('deleted' as const),
    immutable: false,
    recalledBy: (recalledBy ?? facts.map(({ id }) => id)).map((fact) => ({ fact, vector: null, keyword: 1 })),
  }));
  return { facts, candidates, memories: new Map(memories.map((memory) => [memory.id, memory])) };
}
