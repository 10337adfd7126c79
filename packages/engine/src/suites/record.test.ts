import { engineBench, fakeChat } from '@slowwave/engine-testing';
import { expect, test } from 'vitest';
import { liveVersion } from '../memories/evolve.ts';
import { memoryWriter } from '../memories/write.ts';
import { DEFAULT_TENANT } from '../words.ts';
import { contentOf } from './cases.ts';
import { recordSuite } from './record.ts';

const ASKED = { tenant: DEFAULT_TENANT, owners: 9, batchesPerOwner: 9, masked: false };

/** A fact of each sentence. */
const echo = fakeChat({
  extract_facts: (input) => ({
    facts: (input.messages as unknown as readonly Record<'id' | 'content', string>[]).flatMap(({ id, content }) =>
      content.split('. ').map((text) => ({ text, quote: text, source_ids: [id] })),
    ),
  }),
  decide_operations: () => ({ operations: [] }),
});

test('what is forgotten is in no suite that is recorded later: it begins after the messages that said it', async () => {
  const bench = await engineBench({ chat: echo });
  const { ledger } = bench.deps;
  for (const said of ['I owe Bo ten euros. I like tea', 'I play the cello', 'I have a cat']) {
    bench.tools.advance(1_000);
    await bench.post([said]);
    await bench.run();
  }
  const record = async (name: string) => {
    const made = await recordSuite(bench.deps, { ...ASKED, name });
    if (made.kind !== 'recorded') return null;
    const [one] = await ledger.suites.cases(made.suite.id, { after: -1, limit: 1 });
    return one === undefined ? null : contentOf(one);
  };
  const whole = await record('before');
  expect(whole?.batches).toHaveLength(3);
  const debt = (await bench.memories()).find((memory) => liveVersion(memory)?.text.includes('Bo'));
  await memoryWriter(bench.deps).remove(DEFAULT_TENANT, debt?.id ?? '');
  const before = await ledger.suites.find(DEFAULT_TENANT, 'before');
  expect(await ledger.suites.cases(before?.id ?? '', { after: -1, limit: 9 })).toEqual([]);
  const after = await record('after');
  expect(after?.batches.flatMap(({ messages }) => messages.map(({ content }) => content))).toEqual([
    'I play the cello',
    'I have a cat',
  ]);
  expect(after?.memories.map(({ text }) => text)).toEqual(['I like tea']);
  expect(JSON.stringify(after)).not.toContain('Bo');
});
