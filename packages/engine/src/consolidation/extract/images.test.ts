import { echoExtract, engineBench, fakeChat, inputOf, keyedDecide, type Script } from '@slowwave/engine-testing';
import { describe, expect, it } from 'vitest';
import { EngineError } from '../../errors.ts';
import { type ContentPart, DEFAULT_TENANT } from '../../words.ts';

const picture = (url: string): ContentPart => ({ type: 'image_url', image_url: { url } });
const text = (said: string): ContentPart => ({ type: 'text', text: said });
const CAT = 'https://pictures.example/cat.png';
const DOG = 'data:image/png;base64,AAAA';

async function pictured(describe: Script = () => ({ description: 'a grey cat on a sofa' })) {
  const chat = fakeChat({ extract_facts: echoExtract, decide_operations: keyedDecide((said) => said) });
  const imageModel = fakeChat({ describe_image: describe, repair_output: () => ({ description: 'a repaired cat' }) });
  return { chat, imageModel, bench: await engineBench({ chat, imageModel }) };
}

describe('a message with images', () => {
  it('is described by the image model, one call a message, and read with its description', async () => {
    const { bench, chat, imageModel } = await pictured();
    const batch = await bench.post([{ content: [text('my cat'), picture(CAT), picture(DOG)] }]);
    await bench.run();
    expect(imageModel.calls).toHaveLength(1);
    const [call] = imageModel.calls;
    expect(call?.images).toEqual([CAT, DOG]);
    expect(call === undefined ? null : inputOf(call)).toEqual({
      message: { role: 'user', content: 'my cat\n[image]\n[image]' },
      images: 2,
    });
    expect(chat.calls[0]?.user).toContain('my cat\\n[image: a grey cat on a sofa]');
    expect(await bench.live()).toContain('my cat\n[image: a grey cat on a sofa]');
    const plan = await bench.plan(batch);
    expect(plan.prompts.map(({ name }) => name)).toEqual(['describe_image', 'extract_facts']);
    expect(plan.usage.calls).toBe(2);
  });

  it('is worth reading also without a word', async () => {
    const { bench } = await pictured();
    await bench.post([{ content: [picture(CAT)] }]);
    await bench.run();
    expect(await bench.live()).toEqual(['[image: a grey cat on a sofa]']);
  });

  it('is stored as it is with its description where nothing is inferred', async () => {
    const { bench, chat } = await pictured();
    await bench.post([{ content: [text('mine'), picture(CAT)] }], { settings: { mode: 'verbatim' } });
    await bench.run();
    expect(await bench.live()).toEqual(['mine\n[image: a grey cat on a sofa]']);
    expect(chat.calls).toEqual([]);
  });

  it('is described once, whatever fails after it; an unusable description is repaired', async () => {
    const chat = fakeChat({
      extract_facts: (input, nth) =>
        nth === 1 ? new EngineError('down', { code: 'model_server_error', retryable: true }) : echoExtract(input, nth),
    });
    const imageModel = fakeChat({ describe_image: () => 'no idea', repair_output: () => ({ description: 'a cat' }) });
    const bench = await engineBench({ chat, imageModel });
    const batch = await bench.post([{ content: [picture(CAT)] }]);
    await bench.run();
    expect(await bench.live()).toEqual(['[image: a cat]']);
    expect(imageModel.calls.map(({ name, images }) => [name, images])).toEqual([
      ['describe_image', [CAT]],
      ['repair_output', [CAT]],
    ]);
    const { consolidationId } = await bench.plan(batch);
    const steps = (await bench.deps.ledger.thoughts.answers(consolidationId)).map(({ step }) => step);
    expect(steps.filter((step) => step.startsWith('describe:msg_'))).not.toEqual([]);
  });

  it('that came before shows later that it was there', async () => {
    const { bench, chat } = await pictured();
    await bench.post([{ content: [text('my cat'), picture(CAT)] }]);
    await bench.run();
    await bench.post(['and his name is Tom']);
    await bench.run();
    const last = chat.calls.filter(({ name }) => name === 'extract_facts').at(-1);
    expect(last?.user).toContain('my cat\\n[image]');
  });

  it('is parked with what to do, never dropped, where the model for it is gone', async () => {
    const bench = await engineBench({ chat: fakeChat({ extract_facts: echoExtract }) });
    const batch = await bench.post([{ content: [picture(CAT)] }]);
    await bench.run();
    const parked = await bench.deps.ledger.batches.get(DEFAULT_TENANT, batch);
    expect(parked).toMatchObject({ state: 'parked', failure: { code: 'unsupported_content' } });
    expect(parked?.failure?.message).toContain('SLOWWAVE_IMAGE_MODEL');
  });
});
