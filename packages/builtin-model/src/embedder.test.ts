import { cosine } from '@slowwave/engine';
import { fixedTools } from '@slowwave/engine-testing';
import { describe, expect, it } from 'vitest';
import { builtinEmbedder } from './index.ts';

const tools = fixedTools();
const NEVER = new AbortController().signal;
const LIFE = [
  "User's name is Ana",
  'User lives in Oslo (moved from Lisbon)',
  'User works at Acme as a nurse',
  'User is allergic to peanuts',
  'User is 34 years old',
  'User has a dog named Rex',
  "User's sister lives in Rome",
  'User loves hiking',
];
const 小明 = ['名字是小明', '住在北京', '工作是医生', '对花生过敏', '喜欢吃辣的', '今年28岁', '妈妈住在成都'];

async function nearest(question: string, texts: readonly string[]): Promise<string | undefined> {
  const { vectors } = await builtinEmbedder(tools).embed([question, ...texts], NEVER);
  const [asked = new Float32Array(), ...known] = vectors.flatMap((vector) => vector ?? []);
  const scores = known.map((vector) => cosine(asked, vector));
  return texts[scores.indexOf(Math.max(...scores))];
}

describe('builtin embedder', () => {
  it.each([
    ['where does she live?', LIFE[1]],
    ['home address', LIFE[1]],
    ['她住在哪里', LIFE[1]],
    ['what is her name', LIFE[0]],
    ['what is her job?', LIFE[2]],
    ['occupation', LIFE[2]],
    ['any allergies?', LIFE[3]],
    ['how old is she', LIFE[4]],
    ['what pets does she have', LIFE[5]],
    ['where does her sister live', LIFE[6]],
  ])('%s finds the fact', async (question, fact) => {
    expect(await nearest(question, LIFE)).toBe(fact);
  });

  it.each([
    ['他住在哪里？', 小明[1]],
    ['地址', 小明[1]],
    ['where does he live', 小明[1]],
    ['他叫什么', 小明[0]],
    ['他做什么工作', 小明[2]],
    ['他对什么过敏', 小明[3]],
    ['口味', 小明[4]],
    ['他多大了', 小明[5]],
  ])('%s 找到事实', async (question, fact) => {
    expect(await nearest(question, 小明)).toBe(fact);
  });

  it('gives vectors of the asked size and length 1, the same every time', async () => {
    const embedder = builtinEmbedder(tools, 256);
    const [first] = (await embedder.embed(['User lives in Oslo'], NEVER)).vectors;
    const [second] = (await embedder.embed(['User lives in Oslo'], NEVER)).vectors;
    expect(first).toEqual(second);
    expect(first).toHaveLength(256);
    expect(Math.hypot(...(first ?? []))).toBeCloseTo(1, 5);
  });

  it('names each size as a space of its own', () => {
    expect(builtinEmbedder(tools, 256).fingerprint).not.toBe(builtinEmbedder(tools).fingerprint);
  });
});
