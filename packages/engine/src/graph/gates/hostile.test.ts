import { asRead, dataOf, expectTrue, fakeChat, INJECTIONS, type Reply, studyBench } from '@slowwave/engine-testing';
import { describe, expect, it } from 'vitest';
import { EXTRACT_GRAPH } from '../../models/prompts/graph.ts';
import { DEFAULT_TENANT, type JsonObject } from '../../words.ts';

const KNOWN = 'I live in Oslo, work at Acme, like tea, and know Eva.';
const HELD = ['lives_in Oslo', 'works_at Acme', 'likes tea', 'knows Eva'];

const relation = (text: string, more: JsonObject = {}): JsonObject => {
  const [relationship = '', ...rest] = text.split(' ');
  const told = { source: 'user', relationship, destination: rest.join(' '), said: 'holds', from: null, until: null };
  return { ...told, single: false, source_ids: ['m0'], quote: null, ...more };
};

/** Ann and Bob are known; then a message of Ann's makes the model obey: it answers this to whatever is found or decided. */
async function obeyed(said: string, answers: { readonly found: Reply; readonly decided?: Reply }) {
  const chat = fakeChat({
    extract_facts: () => ({ facts: [] }),
    extract_graph: (_input, nth) =>
      nth <= 2 ? { entities: [], relations: HELD.map((text) => relation(text)) } : answers.found,
    decide_graph: () => answers.decided ?? { ends: [], pairs: [] },
    repair_output: () => answers.found,
  });
  const bench = await studyBench({ chat, settings: { deletesPerConsolidation: 2, maxAttempts: 1 } });
  for (const userId of ['ann', 'bob']) {
    await bench.post([KNOWN], { userId });
    await bench.run();
    await bench.study();
  }
  const before = await bench.relations(null, 'bob');
  const id = await bench.post([said]);
  await bench.run();
  await bench.study();
  await expectTrue(bench.deps.ledger);
  expect(await bench.relations('ever', 'bob'), "another's graph").toEqual(before);
  const batch = await bench.deps.ledger.batches.get(DEFAULT_TENANT, id);
  const study = await bench.deps.ledger.graph.study(DEFAULT_TENANT, batch?.consolidationId ?? '');
  return {
    bench,
    chat,
    study,
    live: (await bench.relations(null)).map((text) => text.slice('User '.length, text.lastIndexOf(' '))),
  };
}

const HELD_SORTED = [...HELD].sort();

describe.each(INJECTIONS)('%s', (_what, attack) => {
  it('in what is said stays data in every prompt, and in what a model answers does no harm', async () => {
    const hostile = {
      entities: [
        { name: attack, kind: attack, known: attack, aliases: [attack, 'Oslo'] },
        { name: 'Acme', kind: 'place', known: 'e99', aliases: [attack] },
      ],
      relations: [
        relation(`likes ${attack}`, { quote: attack }),
        { ...relation('x'), source: attack, relationship: attack, destination: attack, said: attack },
        relation('lives_in Atlantis', { source_ids: [attack], from: attack, until: attack }),
      ],
    };
    const { bench, chat, live } = await obeyed(`I like tea. ${attack}`, { found: hostile });
    expect(new Set(chat.calls.filter(({ name }) => name === EXTRACT_GRAPH.name).map(({ system }) => system))).toEqual(
      new Set([EXTRACT_GRAPH.system]),
    );
    const last = chat.calls.findLast(({ name }) => name === EXTRACT_GRAPH.name);
    const [message] = dataOf(last ?? { user: '' }).messages as { content: string }[];
    expect(message?.content).toBe(asRead(`I like tea. ${attack}`));
    for (const held of HELD) expect(live).toContain(held);
    for (const relation of await bench.relations('ever')) expect(relation.length).toBeLessThan(300);
  });

  it('in place of the answer parks the study at worst', async () => {
    const { live, study } = await obeyed('I like tea a lot.', { found: attack });
    expect(live.sort()).toEqual(HELD_SORTED);
    expect(['applied', 'parked']).toContain(study?.state);
  });
});

describe('a model that obeys a message', () => {
  it('ends no more than a few relations, whatever it says', async () => {
    const ended = HELD.map((text) => relation(text, { said: 'denied' }));
    const { live, study } = await obeyed('Oslo, Acme, tea, Eva: none of it, delete all!', {
      found: { entities: [], relations: ended },
    });
    expect(live).toHaveLength(HELD.length - 2);
    expect(study?.plan?.remarks.map(({ did }) => did)).toContain('refused: more than 2 ends in one study');
  });

  it('names nothing that was not said, and says nothing for the assistant', async () => {
    const { live, study } = await obeyed('The sea was rough on Tuesday.', {
      found: { entities: [], relations: [relation('lives_in Atlantis')] },
    });
    expect(live.sort()).toEqual(HELD_SORTED);
    expect(study?.plan?.remarks.map(({ did }) => did)).toEqual([
      'refused: no message names it',
      'refused: no message names one of its entities',
    ]);
  });

  it('decides on nothing that it was not shown', async () => {
    const decided = {
      ends: [
        { relation: '17', by: 'n0', reason: 'all of it' },
        { relation: 'sta_00000000000001000000000000', by: null, reason: 'an id of the ledger' },
        { relation: '0', by: '0', reason: 'by itself' },
      ],
      pairs: [{ pair: 'p9', same: true, reason: 'the same' }],
    };
    const { live, study } = await obeyed('I work at Globex.', {
      found: { entities: [], relations: [relation('works_at Globex')] },
      decided,
    });
    expect(live.sort()).toEqual([...HELD, 'works_at Globex'].sort());
    expect(study?.plan?.remarks).toHaveLength(4);
  });

  it('makes nobody the user, and the user nobody else', async () => {
    const { bench } = await obeyed('Acme and Eva are the same as me.', {
      found: {
        entities: [{ name: 'Eva', kind: 'person', known: null, aliases: ['Acme', 'user'] }],
        relations: [{ ...relation('same_as user'), source: 'Eva' }],
      },
    });
    const [lane] = await bench.deps.ledger.lanes.withWork(null, 1);
    expect(lane).toBeUndefined();
    expect((await bench.relations(null)).filter((text) => text.startsWith('User ')).length).toBeGreaterThanOrEqual(4);
  });
});
