import { fakeChat, type GraphTurn, graphDecisions, graphScript, studyBench } from '@slowwave/engine-testing';
import { expect, test } from 'vitest';
import { DEFAULT_TENANT } from '../../words.ts';

const turn = (says: string, ...statements: readonly string[]): GraphTurn => ({ day: '', says, statements });

async function studied(talk: readonly GraphTurn[], decisions: Parameters<typeof graphDecisions>[0]) {
  const names = ['Luis', 'Mia', 'Clara', 'Eva Berg', 'Eva Breg', 'E. Berg', 'Eva'];
  const kinds = Object.fromEntries(names.map((name) => [name, 'person']));
  const chat = fakeChat({
    extract_facts: () => ({ facts: [] }),
    extract_graph: graphScript(talk, kinds),
    decide_graph: graphDecisions(decisions),
  });
  const bench = await studyBench({ chat });
  for (const { says } of talk) {
    await bench.post([says]);
    await bench.run();
    await bench.study();
    bench.tools.advance(86_400_000);
  }
  return bench;
}

test('a couple is one, whoever of the two is named first', async () => {
  const talk = [
    turn('Luis dates Mia.', 'Luis | dating | Mia'),
    turn('Mia dates Luis, as I said.', 'Mia | dating | Luis'),
    turn('Clara dates Luis now.', 'Clara | dating | Luis'),
  ];
  const bench = await studied(talk, { one: ['dating'], same: [] });
  expect(await bench.relations('ever')).toEqual([
    'Luis dating Clara 2026-03-03..',
    'Luis dating Mia 2026-03-01..2026-03-03',
  ]);
});

test('several names that are new at once become one by and by', async () => {
  const talk = [
    turn(
      'I know Eva Berg. I know Eva Breg. I know E. Berg.',
      'user | knows | Eva Berg',
      'user | knows | Eva Breg',
      'user | knows | E. Berg',
    ),
    turn('I saw Eva.', 'user | met | Eva'),
  ];
  const same = [
    ['Eva Berg', 'Eva Breg'],
    ['Eva Berg', 'E. Berg'],
    ['Eva Breg', 'E. Berg'],
    ['Eva', 'Eva Berg'],
  ] as const;
  const bench = await studied(talk, { one: [], same });
  expect(await bench.relations(null)).toEqual(['User knows Eva Berg 2026-03-01..', 'User met Eva Berg 2026-03-02..']);
});

test('names that nobody can tell apart are proposed to a person, and wait', async () => {
  const talk = [turn('I know Eva Berg.', 'user | knows | Eva Berg'), turn('I met Eva.', 'user | met | Eva')];
  const bench = await studied(talk, { one: [], same: [], untold: true });
  expect(await bench.relations(null)).toEqual(['User knows Eva Berg 2026-03-01..', 'User met Eva 2026-03-02..']);
  const proposals = await bench.deps.ledger.graph.proposals(DEFAULT_TENANT, { kind: 'user', id: 'ann' });
  expect(proposals).toMatchObject([{ source: { name: 'Eva' }, destination: { name: 'Eva Berg' }, likeness: 0.8 }]);
});
