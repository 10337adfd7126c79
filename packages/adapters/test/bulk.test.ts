import { fixedTools, recordingLog } from '@slowwave/engine-testing';
import { answers, type ModelServer, refusal, startModelServer } from '@slowwave/testkit';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { knownManners, openaiBulk } from '../src/openai/index.ts';

const NEVER = new AbortController().signal;
const CALL = { name: 'extract_facts', system: 'Find.', user: '{"messages":[]}', schema: { type: 'object' } };
const tools = fixedTools();
const JOB = {
  id: tools.id('blk'),
  questions: [
    { id: 'ask_1', call: CALL },
    { id: 'ask_2', call: CALL },
  ],
};

let model: ModelServer;
beforeEach(async () => {
  model = await startModelServer({ script: answers({ extract_facts: () => ({ facts: [] }) }) });
});
afterEach(() => model.close());

const provider = (baseUrl = model.baseUrl) =>
  openaiBulk(
    { baseUrl, apiKey: null, model: 'm', timeoutMs: 5_000, log: recordingLog(), extraBody: { user: 'slowwave' } },
    async () => knownManners(),
  );

describe('a job at OpenAI', () => {
  it('asks what single calls would ask, and brings an answer for each', async () => {
    const one = provider();
    const remote = await one.submit(JOB, NEVER);
    expect(await one.look(remote, NEVER)).toMatchObject({ isOver: false });
    await model.batches.finish();
    const { remote: over, isOver } = await one.look(remote, NEVER);
    expect(isOver).toBe(true);
    const brought = await one.answers(over, NEVER);
    expect(brought.map(({ id, answer }) => [id, answer?.text])).toEqual([
      ['ask_1', '{"facts":[]}'],
      ['ask_2', '{"facts":[]}'],
    ]);
    const [billed] = model.batches.bill;
    expect(billed?.request).toMatchObject({ model: 'm', user: 'slowwave', temperature: 0 });
    expect(billed?.request).not.toHaveProperty('stream');
    expect(brought[0]?.answer?.usage).toEqual({
      promptTokens: billed?.tokens.prompt,
      completionTokens: billed?.tokens.completion,
    });
    await one.remove(over, NEVER);
    expect(model.batches.files()).toEqual([]);
    await one.remove(over, NEVER);
  });

  it('is handed in once, whoever does it again', async () => {
    const remote = await provider().submit(JOB, NEVER);
    expect(await provider().submit(JOB, NEVER)).toEqual(remote);
    expect(await provider().find(JOB.id, NEVER)).toEqual(remote);
    expect([model.batches.made.length, model.batches.files().length]).toEqual([1, 1]);
  });

  it('whose worker died after the file is handed in with that file', async () => {
    const form = new FormData();
    form.set('purpose', 'batch');
    form.set('file', new File(['{"custom_id":"ask_1","body":{}}\n'], `slowwave-${JOB.id}.jsonl`));
    await fetch(`${model.baseUrl}/files`, { method: 'POST', body: form });
    await provider().submit(JOB, NEVER);
    expect([model.batches.made.length, model.batches.files().length]).toEqual([1, 1]);
  });

  it('brings nothing for a question that the provider answers with an error', async () => {
    const one = provider();
    const remote = await one.submit(JOB, NEVER);
    model.setScript(({ count }) => (count === 1 ? refusal(500, { message: 'no' }) : { json: { facts: [] } }));
    await model.batches.finish();
    const { remote: over } = await one.look(remote, NEVER);
    const brought = await one.answers(over, NEVER);
    expect(brought.map(({ id, answer }) => [id, answer === null])).toContainEqual(['ask_1', true]);
  });

  it('may be cancelled, also when it is over or gone', async () => {
    const one = provider();
    const remote = await one.submit(JOB, NEVER);
    await one.cancel(remote, NEVER);
    expect(await one.look(remote, NEVER)).toMatchObject({ isOver: true });
    await one.cancel(remote, NEVER);
    await one.cancel({ batch: 'batch_unknown' }, NEVER);
    expect(await one.look({ batch: 'batch_unknown' }, NEVER)).toMatchObject({ isOver: true });
    expect(await one.find('blk_unknown', NEVER)).toBeNull();
  });

  it('is given up at once where the server has no batches', async () => {
    await expect(provider(`${model.url}/nowhere/v1`).submit(JOB, NEVER)).rejects.toMatchObject({
      retryable: false,
      message: expect.stringContaining('SLOWWAVE_CHAT_BATCHES=off'),
    });
  });
});
