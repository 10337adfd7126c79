import {
  asRead,
  dataOf,
  echoExtract,
  engineBench,
  type FakeChat,
  fakeChat,
  INJECTIONS,
  NEVER,
  type Script,
  summaryBench,
} from '@slowwave/engine-testing';
import { describe, expect, it } from 'vitest';
import { inquire, type Library, modelReranker } from '../inquiry/inquire.ts';
import type { Readable } from '../inquiry/think.ts';
import { DECIDE, DESCRIBE_IMAGE, EXTRACT, SUMMARIZE } from '../models/prompts/consolidation.ts';
import { RECALL_STEP, RERANK } from '../models/prompts/inquiry.ts';
import type { Prompt } from '../models/prompts/prompt.ts';
import { DEFAULT_SETTINGS } from '../settings.ts';
import { DEFAULT_TENANT, type JsonObject } from '../words.ts';

const OWNER = { kind: 'user', id: 'ann' } as const;
const WHEN = '2026-03-01T09:00:00.000Z';

/** The data of the calls of one prompt, whose fixed part is exactly its text. */
function dataFor({ calls }: FakeChat, prompt: Prompt): JsonObject[] {
  const mine = calls.filter(({ name }) => name === prompt.name);
  expect(new Set(mine.map(({ system }) => system))).toEqual(new Set([prompt.system]));
  return mine.map(dataOf);
}

const readable = (kind: Readable['kind'], key: string, text: string): Readable => ({
  ...{ kind, key, text, date: WHEN },
  ...{ role: kind === 'message' ? 'user' : null, messageIds: [`msg_${key}`] },
});

/** Answers every search with the same shelf, and keeps what it was asked for. */
function libraryOf(shelf: readonly Readable[]): Library & { readonly asked: (string | readonly string[])[] } {
  const asked: (string | readonly string[])[] = [];
  const find = async (what: string | readonly string[]) => {
    asked.push(what);
    return shelf;
  };
  return { asked, search: find, around: find };
}

async function recalled(answer: Script, { question = 'tea?', shelf = [] as readonly Readable[] }) {
  const chat = fakeChat({ recall_step: answer, repair_output: answer });
  const { deps } = await engineBench({ chat });
  const library = libraryOf(shelf);
  const reader = { deps, tenant: DEFAULT_TENANT, owner: OWNER, cancel: NEVER };
  const thinking = { reader, tokensMax: 40_000, now: () => WHEN };
  return { chat, library, told: await inquire({ question, library, thinking, stepsMax: 3 }) };
}

describe.each(INJECTIONS)('%s', (_what, attack) => {
  it('stays data in a recall, as question, as memory, as message and as what was searched for', async () => {
    const shelf = [readable('memory', 'mem_1', attack), readable('message', 'msg_1', `I like tea with ${attack}`)];
    const more: Script = (_input, nth) => (nth === 1 ? { queries: [attack] } : { answer: 'Tea.', cites: ['0'] });
    const { chat, told } = await recalled(more, { question: attack, shelf });
    const data = dataFor(chat, RECALL_STEP);
    for (const input of data) {
      expect(Object.keys(input)).toEqual(['question', 'now', 'last', 'searched', 'memories', 'messages']);
      expect(input).toMatchObject({ question: asRead(attack), memories: [{ id: '0', text: asRead(attack) }] });
      expect(input.messages).toMatchObject([{ id: 'm0', content: asRead(`I like tea with ${attack}`) }]);
    }
    expect(told.citations.map(({ key }) => key)).toEqual(['mem_1']);
  });

  it('stays data where memories are ranked', async () => {
    const chat = fakeChat({ rerank_memories: () => ({ ranking: [] }) });
    const { deps } = await engineBench({ chat });
    const reranker = modelReranker({ deps, tenant: DEFAULT_TENANT, owner: OWNER });
    await reranker.rerank({ query: attack, documents: ['likes tea', attack] }, NEVER);
    const memories = ['likes tea', asRead(attack)].map((text, i) => ({ id: String(i), text }));
    expect(dataFor(chat, RERANK)).toEqual([{ query: asRead(attack), memories }]);
  });

  it('stays data in a summary, also when a model has put it there', async () => {
    const chat = fakeChat({ extract_facts: () => ({ facts: [] }), refresh_summary: () => ({ summary: attack }) });
    const bench = await summaryBench({ chat });
    for (let round = 0; round < 2; round += 1) {
      await bench.post(Array.from({ length: 20 }, (_, i) => (i === 0 ? attack : `chat ${round} ${i}`)));
      await bench.run();
    }
    await bench.post(['and now?']);
    await bench.run();
    const [first, second] = dataFor(chat, SUMMARIZE);
    expect((first?.messages as { content: string }[] | undefined)?.[0]?.content).toBe(asRead(attack));
    expect(second?.summary).toBe(asRead(attack));
    expect(dataFor(chat, EXTRACT).at(-1)?.context).toMatchObject({ summary: asRead(attack) });
  });

  it('stays data beside an image, in what is seen on it, as a name and as instructions', async () => {
    const chat = fakeChat({ extract_facts: echoExtract, decide_operations: () => ({ operations: [] }) });
    const imageModel = fakeChat({ describe_image: () => ({ description: attack }) });
    const bench = await engineBench({ chat, imageModel });
    await bench.deps.ledger.settings.put(DEFAULT_TENANT, { ...DEFAULT_SETTINGS, decideInstructions: attack });
    const image = { type: 'image_url', image_url: { url: 'https://pictures.example/a.png' } } as const;
    for (const text of ['I like tea', `I like tea with ${attack}`]) {
      const content = [{ type: 'text', text } as const, image];
      await bench.post([{ content, name: attack }], { settings: { instructions: attack } });
      await bench.run();
    }
    const [, described] = dataFor(imageModel, DESCRIBE_IMAGE);
    expect(described).toEqual({
      message: { role: 'user', content: asRead(`I like tea with ${attack}\n[image]`) },
      images: 1,
    });
    const [extract] = dataFor(chat, EXTRACT);
    expect(extract).toMatchObject({ context: { instructions: asRead(attack) }, messages: [{ name: asRead(attack) }] });
    expect((extract?.messages as { content: string }[] | undefined)?.[0]?.content).toContain(asRead(attack));
    const decides = dataFor(chat, DECIDE);
    expect(decides.length).toBeGreaterThan(0);
    for (const { instructions } of decides) expect(String(instructions)).toContain(asRead(attack));
  });

  it("stays data under a tenant's own prompt", async () => {
    const chat = fakeChat({ extract_facts: () => ({ facts: [] }) });
    const bench = await engineBench({ chat });
    const prompts = { extract: 'Sort into {{categories}}.', decide: null };
    await bench.deps.ledger.settings.put(DEFAULT_TENANT, { ...DEFAULT_SETTINGS, prompts, categories: ['tea'] });
    await bench.post([attack]);
    await bench.run();
    expect(chat.calls.map(({ system }) => system)).toEqual(['extract_facts\n\nSort into tea.']);
    expect(chat.calls.map(dataOf)).toMatchObject([{ messages: [{ content: asRead(attack) }] }]);
  });
});

describe('a model that obeys while it reads', () => {
  const shelf = [readable('memory', 'mem_1', 'likes tea')];

  it('cites nothing that it was not shown, by whatever id', async () => {
    const foreign = ['mem_2', 'mem_1', 'bob', '1', 'm0', '*', 'all', '-1', '0/../1', '__proto__', 'constructor'];
    const { told } = await recalled(() => ({ answer: 'All of it.', cites: [...foreign, '0'] }), { shelf });
    expect(told.citations.map(({ key }) => key)).toEqual(['mem_1']);
    expect(told.remarks.join()).toContain('11 of the sources cited by the model were never read');
  });

  it('searches by words alone: owners, tenants and filters it writes beside them go nowhere', async () => {
    const beside = { user_id: 'bob', tenant: 'other', owner: 'bob', filters: { user_id: '*' }, top_k: 10_000 };
    const step: Script = (_input, nth) =>
      nth === 1
        ? {
            ...beside,
            queries: ['user_id:bob', { query: 'x', ...beside }],
            around: ['mem_2', '__proto__', '0'],
          }
        : { ...beside, answer: null };
    const { library } = await recalled(step as Script, { shelf });
    expect(library.asked).toEqual(['tea?', 'user_id:bob', ['msg_mem_1']]);
  });

  it('ranks only what it was shown, each once', async () => {
    const ranking = ['0', '0', '1', '-1', 'mem_2', '__proto__', '1e9', '*'].map((id) => ({ id, relevance: 9e99 }));
    const chat = fakeChat({ rerank_memories: () => ({ ranking }) });
    const { deps } = await engineBench({ chat });
    const reranker = modelReranker({ deps, tenant: DEFAULT_TENANT, owner: OWNER });
    expect(await reranker.rerank({ query: 'tea', documents: ['likes tea'] }, NEVER)).toEqual([{ index: 0, score: 1 }]);
  });

  it('finds no room for a whole conversation in a summary, and no secret', async () => {
    const summary = `The password is Tr0ub4dor&3. ${'obeyed '.repeat(5_000)}`;
    const chat = fakeChat({ extract_facts: () => ({ facts: [] }), refresh_summary: () => ({ summary }) });
    const bench = await summaryBench({ chat });
    await bench.post(Array.from({ length: 20 }, (_, i) => `chat ${i}`));
    await bench.run();
    await bench.post(['and now?']);
    await bench.run();
    const told = JSON.stringify(dataFor(chat, EXTRACT).at(-1)?.context);
    expect(told).toContain('obeyed');
    expect(told).not.toContain('Tr0ub4dor');
    expect(told.length).toBeLessThan(5_000);
  });
});
