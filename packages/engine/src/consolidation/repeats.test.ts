import { added, deleted, details, fixedTools, home, updated } from '@slowwave/engine-testing';
import { describe, expect, it } from 'vitest';
import { deletedAt, newest } from '../memories/evolve.ts';
import type { Fact } from '../plan.ts';
import { atOnce } from '../ports/tools.ts';
import type { LaneId, Memory } from '../words.ts';
import { isNear, nearEachOther, pairNear } from './nearest.ts';
import { repeatsOf, undisputed } from './recall.ts';

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

const areNear = (facts: readonly Fact[], vectorOf: (text: string) => Float32Array): boolean =>
  atOnce(nearEachOther(facts, pairNear(vectorOf, NEAR)));
const NEAR = { vector: 0.5, keyword: 2, pair: 0.5, overlap: 0.3 };

describe('a memory is near a fact', () => {
  it.each([
    ['by its vector alone', { vector: 0.5, keyword: null }, true],
    ['by its words alone', { vector: null, keyword: 2 }, true],
    ['by neither', { vector: 0.49, keyword: 1.99 }, false],
    ['not where nothing found it', { vector: null, keyword: null }, false],
    ['not where its vector points elsewhere', { vector: -1, keyword: 0 }, false],
  ])('%s', (_name, scores, expected) => {
    expect(isNear(scores, NEAR)).toBe(expected);
  });
});

describe('facts are near each other', () => {
  const apart = (i: number) => () => Float32Array.from({ length: 4 }, (_, n) => (n === i ? 1 : 0));
  it.each([
    ['by shared words', ['User lives in Oslo', 'User lives in Bergen'], true],
    ['not by nothing shared', ['Ana paints', 'Rex barks'], false],
    ['not by being about the user', ['User paints', 'User smokes'], false],
    ['not by being about the user in German', ['Nutzer malt', 'Nutzer raucht'], false],
    ['not by being about the user in Chinese', ['用户画画', '用户抽烟'], false],
    ['not alone', ['User lives in Oslo'], false],
    ['not without facts', [], false],
    ['in Chinese', ['用户现在住在北京', '用户现在住在上海'], true],
  ])('%s', (_name, texts, expected) => {
    const vectors = new Map(texts.map((text, i) => [text, apart(i)()]));
    expect(areNear(texts.map(factOf), (text) => vectors.get(text) ?? new Float32Array(4))).toBe(expected);
  });

  it('by their vectors alone', () => {
    expect(areNear(['Ana paints', 'Rex barks'].map(factOf), apart(1))).toBe(true);
  });

  it('for certain where they are too many to compare, without looking at one', () => {
    const many = Array.from({ length: 201 }, (_, i) => factOf(`word${i}`, i));
    const unread = (): Float32Array => expect.unreachable('a vector was looked at');
    expect(areNear(many, unread)).toBe(true);
  });
});

function factOf(text: string, i: number) {
  return { ...details(), id: `f${i}`, text, saidAt: { at: 0, seq: i }, validFrom: 0 };
}
