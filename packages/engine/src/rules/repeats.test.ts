import { describe, expect, it } from 'vitest';
import { added, deleted, details, fixedTools, home, updated } from '../testing/index.ts';
import type { LaneId, Memory } from '../words.ts';
import { newest } from './evolve.ts';
import { repeatsOf } from './repeats.ts';

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

function repeats(texts: readonly string[], memories: readonly Memory[], recalledBy?: readonly string[]) {
  const facts = texts.map((text, i) => ({
    ...details(),
    id: `f${i}`,
    text,
    saidAt: { at: tools.now() + 10, seq: i },
    validFrom: tools.now(),
  }));
  const candidates = memories.map((memory, i) => ({
    shortId: String(i),
    memoryId: memory.id,
    version: newest(memory).number,
    revision: memory.revision,
    text: newest(memory).text,
    saidAt: newest(memory).saidAt,
    standing: 'live' as const,
    immutable: false,
    recalledBy: (recalledBy ?? facts.map(({ id }) => id)).map((fact) => ({ fact, vector: null, keyword: 1 })),
  }));
  const found = repeatsOf(facts, candidates, new Map(memories.map((memory) => [memory.id, memory])));
  return facts.map(({ id }) => found.get(id));
}
