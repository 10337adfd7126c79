import { answers, echoExtractor, keyedDecider, type ModelServer, startModelServer } from '@slowwave/testkit';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { get, post } from './client.ts';
import { type Setup, standalone } from './setups.ts';

const CARD = '4242 4242 4242 4242';
const PICTURE = 'data:image/png;base64,iVBORw0KGgo=';

const script = answers({
  extract_facts: echoExtractor({ sentences: true }),
  decide_operations: keyedDecider(() => null),
  describe_image: () => ({ description: 'a grey cat' }),
  summarize_procedure: () => ({ summary: 'Opened the shop; figs cost 3.99.' }),
});

describe('what is extracted by a model behind an API', () => {
  let model: ModelServer;
  let setup: Setup;

  beforeAll(async () => {
    model = await startModelServer({ script });
    setup = await standalone({
      OPENAI_BASE_URL: model.baseUrl,
      SLOWWAVE_CHAT_MODEL: 'scripted',
      SLOWWAVE_IMAGE_MODEL: 'seeing',
      SLOWWAVE_EMBEDDING_MODEL: 'builtin',
    });
  });
  afterAll(async () => {
    await setup.close();
    await model.close();
  });

  const settled = async (body: object) => {
    const answer = await post(`${setup.ingest}/v1/batches?wait=60000`, { flush: true, ...body });
    expect([200, 202]).toContain(answer.status);
    const { body: consolidation } = await get(`${setup.console}/v1/consolidations/${answer.body.consolidation_id}`);
    return { batch: answer.body, consolidation };
  };
  const texts = (batch: { events: { memory: string }[] }) => batch.events.map(({ memory }) => memory);

  it('an image is sent to the model that sees, and remembered in words', async () => {
    const content = [
      { type: 'text', text: 'my pet' },
      { type: 'image_url', image_url: { url: PICTURE } },
    ];
    const { batch } = await settled({ user_id: 'ivy', messages: [{ role: 'user', content }] });
    expect(texts(batch).join(' ')).toContain('[image: a grey cat]');
    const call = model.calls.find(({ name }) => name === 'describe_image');
    expect(call?.request.model).toBe('seeing');
    expect(JSON.stringify(call?.request.messages)).toContain(PICTURE);
  });

  it('a card number reaches neither the model nor the memory, and is counted', async () => {
    const messages = [{ role: 'user', content: `My card is ${CARD}. I like figs.` }];
    const { batch, consolidation } = await settled({ user_id: 'cem', messages });
    expect(texts(batch)).toEqual(['I like figs.']);
    expect(JSON.stringify(consolidation)).toContain('secret: card number');
    expect(JSON.stringify([consolidation, model.calls])).not.toContain(CARD);
  });

  it('what an agent did is one memory', async () => {
    const messages = [{ role: 'assistant', content: 'Opened shop.example: figs 3.99' }];
    const { batch } = await settled({ agent_id: 'scout', mode: 'procedural', messages });
    expect(texts(batch)).toEqual(['Opened the shop; figs cost 3.99.']);
  });

  it('a transcript of 300 messages is read in parts, with one decision at most', async () => {
    const before = model.calls.length;
    const filler = 'Nothing much came of the evening, and it went on like that for a long time, as such evenings do';
    const messages = Array.from({ length: 300 }, (_, i) => ({
      role: i % 2 === 0 ? 'user' : 'assistant',
      content:
        i % 2 === 0 ? `Number ${i} is mine. ${'我们聊了很久花园的事情，'.repeat(18)}。` : `${filler}, `.repeat(9),
    }));
    const { batch } = await settled({ user_id: 'long', messages });
    expect(batch.state).toBe('consolidated');
    const parts = model.calls.slice(before).filter(({ name }) => name === 'extract_facts').length;
    expect([3, 4]).toContain(parts);
    expect(batch.usage.calls).toBeLessThanOrEqual(parts + 1);
  });
});
