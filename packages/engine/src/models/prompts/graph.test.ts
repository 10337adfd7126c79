import { describe, expect, it } from 'vitest';
import { readAnswer } from '../parse/answer.ts';
import { decisionsIn, graphIn } from './graph.ts';

describe('an answer about a graph is understood', () => {
  const graph = (text: string) => readAnswer(text, graphIn)?.value ?? null;

  it('with what cannot be read told of', () => {
    const read = graph('{"entities":[null,"Ana",{"kind":"person"}],"relations":[["a","b"]]}');
    expect(read?.entities.map(({ name }) => name)).toEqual(['Ana']);
    expect(read?.unread.map(({ text, reason }) => `${text}: ${reason}`)).toEqual([
      'null: cannot be read as an entity',
      '{"kind":"person"}: cannot be read as an entity',
      'a: cannot be read as a relation',
      'b: cannot be read as a relation',
    ]);
  });

  it('in two objects', () => {
    const read = graph('{"entities":["Ana"],"relations":[]}\n{"entities":["Bob"],"relations":[]}');
    expect(read?.entities.map(({ name }) => name)).toEqual(['Ana', 'Bob']);
  });

  it('in two objects, with the entries told of that cannot be read in one of them', () => {
    const read = graph('{"entities":[null],"relations":[5]}\n{"entities":["Bob"],"relations":[]}');
    expect(read).toMatchObject({ entities: [{ name: 'Bob' }], unread: [{ text: 'null' }, { text: '5' }] });
  });

  it('up to as many entries of each kind as one answer may have', () => {
    const entities = Array.from({ length: 50_000 }, (_, i) => `Person ${i}`);
    const read = graph(JSON.stringify({ entities, relations: [] }));
    expect(read?.entities).toHaveLength(1_000);
    expect(read?.unread[0]?.reason).toBe('more than 1000 entities in one answer');
  });

  it.each([
    ['not where nothing of it can be read', '{"entities":[null],"relations":[5]}', null],
    ['as empty where both lists are', '{"entities":[],"relations":[]}', []],
  ])('%s', (_name, text, expected) => {
    expect(graph(text)?.entities ?? null).toEqual(expected);
  });

  it('as decisions, with what cannot be read told of, and not where nothing can', () => {
    const decisions = (text: string) => readAnswer(text, decisionsIn)?.value ?? null;
    expect(decisions('{"ends":[{"relation":"0"},null],"pairs":[]}')).toMatchObject({
      ends: [{ relation: '0' }],
      unread: [{ reason: 'cannot be read as a decision' }],
    });
    expect(decisions('{"ends":[null],"pairs":["same"]}')).toBeNull();
  });
});
