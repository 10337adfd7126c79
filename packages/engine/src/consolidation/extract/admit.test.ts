import { echoExtract, engineBench, fakeChat, type PostOptions, type Script, saidFacts } from '@slowwave/engine-testing';
import { describe, expect, it } from 'vitest';
import { type Spoken, spokenOf } from '../../messages/messages.ts';
import type { NewMessage } from '../../ports/ledger/lanes.ts';
import { atOnce } from '../../ports/tools.ts';
import { DEFAULT_TENANT, type JsonObject, type Message, type Role } from '../../words.ts';
import { attributing } from './admit.ts';

const user = (content: string): Partial<NewMessage> => ({ role: 'user', content });
const assistant = (content: string): Partial<NewMessage> => ({ role: 'assistant', content });
const system = (content: string): Partial<NewMessage> => ({ role: 'system', content });
const tool = (content: string): Partial<NewMessage> => ({ role: 'tool', content });
const AGENT = { scope: { agentId: 'scout' } };

describe('whose fact it is', () => {
  const talk = [
    system('Be kind to Ana'),
    user('I like figs'),
    assistant('I am Max and I speak Latin'),
    tool('figs: 3'),
  ];
  it.each([
    ['the agent of itself', AGENT, { about: 'agent', source_ids: ['m2'] }, 'agent'],
    ['the agent of itself, without saying where', AGENT, { about: 'agent' }, 'agent'],
    [
      'the agent of itself, though none was named',
      {},
      { about: 'agent', source_ids: ['m2'] },
      'about the agent, but no agent_id was given',
    ],
    ['the user of the agent', AGENT, { about: 'agent', source_ids: ['m1'] }, 'user'],
    ['the user', {}, { about: 'user', source_ids: ['m1'] }, 'user'],
    ['the assistant of the user', {}, { about: 'user', source_ids: ['m2'] }, 'said by the assistant, not by the user'],
    [
      'the assistant, though nobody said about whom',
      AGENT,
      { source_ids: ['m2'] },
      'said by the assistant, not by the user',
    ],
    ['the assistant of the user, who confirms it', {}, { about: 'user', source_ids: ['m2', 'm1'] }, 'user'],
    ['the system', {}, { about: 'user', source_ids: ['m0'] }, 'said by the system, not by anyone'],
    ['the system of the agent', AGENT, { about: 'agent', source_ids: ['m0'] }, 'said by the system, not by anyone'],
    [
      'the assistant and the system of the user',
      {},
      { about: 'user', source_ids: ['m0', 'm2'] },
      'said by the assistant, not by the user',
    ],
    ['a tool', {}, { about: 'user', source_ids: ['m3'] }, 'user'],
    ['a message that does not exist', {}, { about: 'user', source_ids: ['m9'] }, 'user'],
  ] as const)('said by %s', async (...[, options, fact, expected]) => {
    const { plan } = await extracted(talk, { text: 'Max speaks Latin', ...fact } as unknown as JsonObject, options);
    expect([...plan.facts.map(({ about }) => about), ...plan.discards.map(({ reason }) => reason)]).toEqual([expected]);
  });
});

describe('junk becomes no memory, and the plan says why', () => {
  it.each([
    ['a greeting', [user('I like figs')], 'User said hello', 'about the conversation, not the user'],
    [
      'a question',
      [user('what is the weather?')],
      'User asked about the weather',
      'about the conversation, not the user',
    ],
    [
      'an echo of the system prompt',
      [system('The user is called Ana.'), user('hello figs')],
      'User is called Ana',
      'only repeats the system prompt',
    ],
    ['a question as it stands', [user('where do figs grow?')], 'Where do figs grow?', 'a question, not a fact'],
    ['a date', [user('I like figs')], '2026-05-01', 'only a date'],
    ['signs', [user('I like figs')], '?!…', 'contains no words'],
    ['a novel', [user('I like figs')], 'fig '.repeat(2_000), 'longer than 4000 characters, so not a single fact'],
  ] as const)('%s', async (...[, messages, text, reason]) => {
    const { plan, live } = await extracted(messages, { text, source_ids: [messages.length === 2 ? 'm1' : 'm0'] });
    expect(plan.discards.map((discard) => discard.reason)).toEqual([reason]);
    expect(live).toEqual([]);
  });

  it.each([
    ['greetings', [user('hi!'), user('谢谢')], ['greeting or thanks', 'greeting or thanks']],
    [
      'a greeting and its answer',
      [user('hi'), assistant('Hello! I am ready.')],
      ['greeting or thanks', 'said by the assistant, not by the user'],
    ],
    ['a system prompt', [system('Be kind')], ['said by the system, not by anyone']],
    ['empty messages', [user('  '), user('\n')], ['empty message', 'empty message']],
  ] as const)('%s alone cost no call', async (...[, messages, reasons]) => {
    const chat = fakeChat({});
    const bench = await engineBench({ chat });
    const batch = await bench.post(messages);
    await bench.run();
    expect(chat.calls).toEqual([]);
    expect((await bench.plan(batch)).discards.map(({ reason }) => reason)).toEqual(reasons);
    expect(await bench.deps.ledger.batches.get(DEFAULT_TENANT, batch)).toMatchObject({ state: 'empty' });
  });

  it('an assistant that speaks after a greeting is listened to where it has a name', async () => {
    const chat = fakeChat({ extract_facts: () => ({ facts: [{ text: 'Max speaks Latin', about: 'agent' }] }) });
    const bench = await engineBench({ chat });
    await bench.post([user('hi'), assistant('I am Max, I speak Latin')], AGENT);
    await bench.run();
    expect(await bench.live()).toEqual(['Max speaks Latin']);
  });

  it.each([
    ['an assistant', [assistant('As I remember: Ana likes figs'), user('nice')], {}],
    ['an agent', [assistant('As I remember: Ana likes figs'), user('nice')], AGENT],
    ['a tool', [tool('memory: Ana likes figs'), user('nice')], {}],
    ['a system prompt', [system('Known: Ana likes figs'), user('nice')], {}],
  ] as const)('memories that %s recites never become more', async (_who, messages, options) => {
    const recites: Script = (input) => ({
      facts: (input.messages as JsonObject[])
        .filter(({ content }) => String(content).includes('figs'))
        .map(({ id, role }) => ({
          text: 'Ana likes figs',
          source_ids: [String(id)],
          about: role === 'assistant' ? 'agent' : 'user',
        })),
    });
    const bench = await engineBench({ chat: fakeChat({ extract_facts: recites }) });
    await bench.post(['I, Ana, like figs'], options);
    await bench.run();
    for (let round = 0; round < 3; round += 1) {
      const batch = await bench.post(messages, options);
      await bench.run();
      const { outcomes, discards } = await bench.plan(batch);
      expect([...outcomes.map(({ outcome }) => outcome), ...discards]).toHaveLength(1);
      expect(outcomes.every(({ outcome }) => outcome === 'NONE')).toBe(true);
    }
    const memories = await bench.memories();
    expect(memories.map(({ versions }) => versions.length)).toEqual([1]);
  });
});

describe('a secret', () => {
  const CARD = '4242 4242 4242 4242';

  it.each([
    ['a card', `My card is ${CARD}`, 'card number'],
    ['a password', 'My password is hunter2', 'password'],
    ['a PIN', 'The PIN is 4711', 'PIN'],
  ])(
    'such as %s is shown to no model, becomes no memory, and is counted without being told',
    async (...[, said, kind]) => {
      const chat = fakeChat({ extract_facts: echoExtract });
      const bench = await engineBench({ chat });
      const batch = await bench.post([said, 'I like figs']);
      await bench.run();
      const plan = await bench.plan(batch);
      expect(await bench.live()).toEqual(['I like figs']);
      expect(plan.discards).toEqual([{ text: `[secret: ${kind}]`, reason: `secret: ${kind}` }]);
      expect(JSON.stringify([plan, chat.calls])).not.toMatch(/4242|hunter2|4711/u);
    },
  );

  it('that a model makes up, or puts together, is kept nowhere either', async () => {
    const script: Script = () => ({ facts: [{ text: `User's card is ${CARD}`, quote: CARD, source_ids: ['m0'] }] });
    const bench = await engineBench({ chat: fakeChat({ extract_facts: script }) });
    const batch = await bench.post(['my card is the usual one']);
    await bench.run();
    const { consolidationId } = await bench.plan(batch);
    const kept = [await bench.plan(batch), await bench.deps.ledger.thoughts.answers(consolidationId)];
    expect(JSON.stringify(kept)).not.toContain('4242');
    expect((await bench.plan(batch)).discards).toEqual([
      { text: '[secret: card number]', reason: 'secret: card number' },
    ]);
  });

  it('is counted also where the model makes nothing of it', async () => {
    const bench = await engineBench({ chat: fakeChat({ extract_facts: () => ({ facts: [] }) }) });
    const batch = await bench.post([`card ${CARD} and 5555 5555 5555 4444`]);
    await bench.run();
    expect((await bench.plan(batch)).discards.map(({ reason }) => reason)).toEqual(
      Array(2).fill('secret: card number'),
    );
  });

  it('in a message that is stored as it is, is masked; the rest stays', async () => {
    const bench = await engineBench({ chat: fakeChat({}) });
    const batch = await bench.post([`Pay with ${CARD}, please`], { settings: { mode: 'verbatim' } });
    await bench.run();
    expect(await bench.live()).toEqual(['Pay with [secret: card number], please']);
    expect((await bench.plan(batch)).discards.map(({ reason }) => reason)).toEqual(['secret: card number']);
  });
});

/** What becomes of one fact a model finds in these messages. */
it('facts stand in the order in which they were said, whatever the order of the answer', async () => {
  const said = ['I like figs', 'I like tea', 'I like jazz'];
  const facts = ['jazz', 'figs', 'tea'].map((what) => ({
    text: `User likes ${what}`,
    source_ids: [`m${said.indexOf(`I like ${what}`)}`],
  }));
  const chat = fakeChat({ extract_facts: () => ({ facts }), decide_operations: () => ({ operations: [] }) });
  const bench = await engineBench({ chat });
  const batch = await bench.post(said.map(user));
  await bench.run();
  const { facts: admitted } = await bench.plan(batch);
  expect(admitted.map(({ id, text }) => `${id} ${text}`)).toEqual([
    'f0 User likes figs',
    'f1 User likes tea',
    'f2 User likes jazz',
  ]);
});

async function extracted(messages: readonly Partial<NewMessage>[], fact: JsonObject, options: PostOptions = {}) {
  const bench = await engineBench({ chat: fakeChat({ extract_facts: () => ({ facts: [fact] }) }) });
  const batch = await bench.post(messages, options);
  await bench.run();
  return { plan: await bench.plan(batch), live: await bench.live() };
}

const say = (content: string, seq: number, role: Role = 'user'): Spoken =>
  spokenOf({ id: `m${seq}`, role, content, saidAt: { at: 0, seq } } as Message);

function rankOf(window: readonly Spoken[], text: string, at: number): number {
  return atOnce(attributing(window))({ text, quote: null }, window).indexOf(window[at] as Spoken);
}

describe('a fact that names no source', () => {
  it('is attributed to the right message: first in 85 of 100, among the first three in 96', () => {
    const ranks = Array.from({ length: 100 }, (_, seed) => saidFacts(seed)).flatMap(({ messages, facts }) => {
      const window = messages.map((content, i) => say(content, i));
      return facts.map(({ fact, at }) => rankOf(window, fact, at));
    });
    const within = (places: number): number => ranks.filter((rank) => rank < places).length / ranks.length;
    expect(within(1)).toBeGreaterThanOrEqual(0.85);
    expect(within(3)).toBeGreaterThanOrEqual(0.96);
  });

  it('goes to where its quote stands', () => {
    const window = [say('I moved to Oslo, Oslo, Oslo', 0), say('yes, since March', 1)];
    const [first] = atOnce(attributing(window))({ text: 'User lives in Oslo', quote: 'since March' }, window);
    expect(first).toBe(window[1]);
  });

  it('goes to the answer, not to another message, where the words are those of the question', () => {
    const window = [
      say('I like hats', 0),
      say('Do you live in Oslo?', 1, 'assistant'),
      say('yes', 2),
      say('what now?', 3),
    ];
    const users = window.filter(({ message }) => message.role === 'user');
    expect(atOnce(attributing(window))({ text: 'User lives in Oslo', quote: null }, users)[0]).toBe(window[2]);
  });

  it('goes to the last of messages that say the same', () => {
    const window = [say('I live in Oslo', 0), say('I live in Oslo', 1)];
    expect(atOnce(attributing(window))({ text: 'User lives in Oslo', quote: null }, window)[0]).toBe(window[1]);
  });

  it('leaves room to others at every message of the window', () => {
    const window = Array.from({ length: 200 }, (_, i) => say(`place number ${i}`, i));
    expect([...attributing(window)].length).toBeGreaterThanOrEqual(window.length);
  });
});
