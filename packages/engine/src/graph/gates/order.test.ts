import {
  type FakeChat,
  fakeChat,
  type GraphTurn,
  graphScript,
  type Script,
  studyBench,
} from '@slowwave/engine-testing';
import { expect, test } from 'vitest';
import { millisOf } from '../../text/dates.ts';

const TALK: readonly GraphTurn[] = [
  {
    day: '2025-01-01',
    says: 'I live in Oslo and work at Globex.',
    statements: ['user | lives_in | Oslo', 'user | works_at | Globex'],
  },
  {
    day: '2020-01-01',
    says: 'I live in Lisbon and work at Acme.',
    statements: ['user | lives_in | Lisbon', 'user | works_at | Acme'],
  },
];
const EXPECTED = [
  'User lives_in Lisbon 2020-01-01..2025-01-01',
  'User lives_in Oslo 2025-01-01..',
  'User works_at Acme 2020-01-01..2025-01-01',
  'User works_at Globex 2025-01-01..',
];

interface Shown {
  readonly id: string;
  readonly said_at: string;
}

/** A model that goes by said_at alone. */
const bySaidAt: Script = (input) => {
  const [fresh] = input.new as unknown as Shown[];
  const [known] = input.known as unknown as Shown[];
  if (fresh === undefined || known === undefined) return { ends: [], pairs: [] };
  const [first, last] = fresh.said_at < known.said_at ? [fresh, known] : [known, fresh];
  return { ends: [{ relation: first.id, by: last.id, reason: 'said before' }], pairs: [] };
};

const chatOf = (): FakeChat =>
  fakeChat({ extract_facts: () => ({ facts: [] }), extract_graph: graphScript(TALK), decide_graph: bySaidAt });

test.each([
  ['in the order they were said', TALK.toReversed()],
  ['in another order', TALK],
])('messages that arrive %s leave the same graph', async (_how, talk) => {
  const bench = await studyBench({ chat: chatOf() });
  for (const { day, says } of talk) {
    await bench.post([says], { at: millisOf(day) ?? 0 });
    await bench.run();
    await bench.study();
  }
  expect(await bench.relations('ever')).toEqual(EXPECTED);
});

test('a wrong order that a model decides by is refused', async () => {
  const wrong: Script = () => ({ ends: [{ relation: '0', by: 'n0', reason: 'newer' }], pairs: [] });
  const chat = fakeChat({
    extract_facts: () => ({ facts: [] }),
    extract_graph: graphScript(TALK),
    decide_graph: wrong,
  });
  const bench = await studyBench({ chat });
  for (const { day, says } of TALK) {
    await bench.post([says], { at: millisOf(day) ?? 0 });
    await bench.run();
    await bench.study();
  }
  expect(await bench.relations(null)).toContain('User works_at Globex 2025-01-01..');
});
