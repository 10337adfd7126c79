import { engineBench, fixedTools } from '@slowwave/engine-testing';
import { describe, expect, it } from 'vitest';
import { builtinChat, builtinEmbedder } from './index.ts';

const ANA = [
  "Hi! I'm Ana, I moved from Lisbon to Oslo last week and I'm allergic to peanuts.",
  'I work as a nurse at Acme, I have a dog named Rex and I love sushi. What should I cook tonight?',
  "Actually I live in Bergen now. I don't like sushi any more.",
];
const ANA_KNOWN = [
  "User's name is Ana",
  'User has a dog named Rex',
  'User is allergic to peanuts',
  'User lives in Bergen',
  'User no longer likes sushi',
  'User works at Acme as a nurse',
];
const MING = ['我叫小明，住在上海，喜欢吃辣的。', '我是医生，对花生过敏。', '我搬到北京了。'];
const MING_KNOWN = ['住在北京', '名字是小明', '喜欢吃辣的', '对花生过敏', '工作是医生'];

/** What holds after posts that are consolidated one by one, or all together. */
async function known(posts: readonly string[], together: boolean): Promise<readonly string[]> {
  const bench = await engineBench({ chat: builtinChat(), embedder: builtinEmbedder(fixedTools()) });
  for (const post of posts) {
    await bench.post([post]);
    if (!together) await bench.run();
  }
  await bench.run();
  return bench.live();
}

describe('the pipeline on builtin models', () => {
  it.each([false, true])("knows Ana's life (all posts together: %s)", async (together) => {
    expect(await known(ANA, together)).toEqual([...ANA_KNOWN].sort());
  });

  it.each([false, true])('knows 小明 (all posts together: %s)', async (together) => {
    expect(await known(MING, together)).toEqual([...MING_KNOWN].sort());
  });

  it('forgets what it is asked to forget, and the asking', async () => {
    expect(await known([...ANA, 'Please forget that I am allergic to peanuts'], false)).toEqual(
      ANA_KNOWN.filter((text) => !text.includes('peanuts')).sort(),
    );
  });

  it('resolves days where the speaker is', async () => {
    const bench = await engineBench({ chat: builtinChat(), embedder: builtinEmbedder(fixedTools()) });
    const clock = { at: Date.UTC(2026, 1, 28, 15, 30), offset: 540 };
    bench.tools.set(clock.at);
    await bench.post([{ content: 'I moved to Osaka yesterday.', at: clock.at, clock }]);
    await bench.run();
    const [memory] = await bench.memories();
    expect(new Date(memory?.versions[0]?.validFrom ?? 0).toISOString()).toBe('2026-02-28T00:00:00.000Z');
    expect(memory?.versions[0]?.details.utcOffset).toBe(540);
  });

  it('changes nothing when all is said again', async () => {
    expect(await known([...MING, '我住在北京'], false)).toEqual([...MING_KNOWN].sort());
  });
});
