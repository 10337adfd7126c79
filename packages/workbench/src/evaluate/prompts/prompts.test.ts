import { EXTRACT } from '@slowwave/engine';
import { type Script, startModelServer } from '@slowwave/testkit';
import { expect, test } from 'vitest';
import { originOf, rowsOf, someOf, tableOf, VARIANTS, withExamples, withRows } from './measure.ts';
import { prompts } from './prompts.ts';

const ITS_EXAMPLE = "User's name is Quillon";

async function run(script: Script, ...more: string[]) {
  const server = await startModelServer({ script });
  let result = '';
  const outputs = {
    result: (text: string) => {
      result += text;
    },
    note: () => {},
    progress: () => {},
  };
  try {
    const code = await prompts(['--base-url', server.baseUrl, '--model', 'm', ...more], outputs);
    return { code, result, calls: server.calls };
  } finally {
    await server.close();
  }
}

test('variants have none, one and all of the examples, and are alike otherwise', () => {
  const [none, one, all] = VARIANTS.map(({ prompt: { system } }) => system.split(' gives {').length - 1);
  expect([none, one]).toEqual([0, 1]);
  expect(all).toBeGreaterThanOrEqual(3);
  const plain = withExamples(EXTRACT, 0).system;
  expect(plain).not.toContain('Example');
  expect(plain.split('\n').every((line) => EXTRACT.system.split('\n').includes(line))).toBe(true);
});

test('a fact comes from what was said, from the prompt, or from nowhere', () => {
  const { system } = EXTRACT;
  expect(originOf('User has a dog', { told: ['I have a dog'], system })).toBe('grounded');
  expect(originOf(ITS_EXAMPLE, { told: ['I have a dog'], system })).toBe('copied');
  expect(originOf('User sails to Zanzibar', { told: ['I have a dog'], system })).toBe('invented');
});

test('a model that always answers with the example copies it, and misses all', async () => {
  const { code, result, calls } = await run(() => ({ json: { facts: [{ text: ITS_EXAMPLE, source_ids: ['m0'] }] } }));
  expect(code).toBe(0);
  expect(calls).toHaveLength(72);
  // Without examples nothing of them can be copied: then it is made up.
  const rows = result.split('\n').slice(2);
  expect(rows[0]).toMatch(/\| no example \| 24 \| 24 \| 0 \| 0 \| 24 \| 22 of 22 \| 0 \|/);
  expect(rows[1]).toMatch(/\| one example \| 24 \| 24 \| 0 \| 24 \| 0 \| 22 of 22 \| 0 \|/);
});

test('a model that repeats what was said misses nothing', async () => {
  const echo: Script = ({ input }) => {
    const [message] = (input as { messages: { content: string }[] }).messages;
    return { json: { facts: [{ text: message?.content, source_ids: ['m0'] }] } };
  };
  expect((await run(echo)).result).toMatch(/\| as it is \| 24 \| 24 \| 24 \| 0 \| 0 \| 0 of 22 \| 0 \|/);
});

test('a few of the sentences are of several languages', async () => {
  const { calls } = await run(() => ({ json: { facts: [] } }), '--sentences', '8');
  expect(calls).toHaveLength(24);
  expect(new Set(someOf(8).map(({ language }) => language)).size).toBeGreaterThan(3);
  expect(someOf(24)).toHaveLength(24);
  expect((await run(() => ({ text: '' }), '--sentences', '25')).code).toBe(2);
});

test('a model may be asked for another form, and has rows of its own then', async () => {
  const { result, calls } = await run(() => ({ json: { facts: [] } }), '--sentences', '1', '--format', 'text');
  expect(calls.map(({ request }) => request.response_format)).toEqual([undefined, undefined, undefined]);
  expect(result).toContain('| m, asked for text |');
  expect((await run(() => ({ text: '' }), '--format', 'xml')).code).toBe(2);
});

test('an answer without facts is of no use; a server that is not there, and a wrong option, end the program', async () => {
  expect((await run(() => ({ text: 'Sure!' }))).result).toMatch(
    /\| as it is \| 24 \| 0 \| 0 \| 0 \| 0 \| 22 of 22 \| 24 \|/,
  );
  expect((await run(() => ({ status: 404, body: { error: { message: 'no such model' } } }))).code).toBe(3);
  expect((await run(() => ({ text: '' }), '--small')).code).toBe(2);
});

test('the rows of a model take the place of those it had', () => {
  const measured = [{ variant: 'v', answers: [] }];
  const page = `# Prompts\n\n${tableOf(rowsOf('old', measured))}\nEnd\n`;
  const both = withRows(page, { model: 'new', rows: rowsOf('new', measured) });
  expect(both).toBe(`# Prompts\n\n${tableOf([...rowsOf('old', measured), ...rowsOf('new', measured)])}\nEnd\n`);
  expect(withRows(both, { model: 'new', rows: rowsOf('new', measured) })).toBe(both);
});
