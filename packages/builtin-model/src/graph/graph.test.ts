import type { JsonObject } from '@slowwave/engine';
import { describe, expect, it } from 'vitest';
import { listOf, objectOf, textOf } from '../input.ts';
import { ask, NOW } from '../testing/ask.ts';

interface Knowing {
  readonly relations?: readonly string[];
  readonly entities?: readonly string[];
}

/** Relations in short: "user lives_in Oslo", with an x before those that ended. */
async function told(content: string, { relations = [], entities = [] }: Knowing = {}): Promise<readonly string[]> {
  const graph = await graphOf(content, { relations, entities });
  return listOf(graph.relations).map((relation) => {
    const { source, relationship, destination, said } = objectOf(relation);
    return `${said === 'ended' ? 'x ' : ''}${source} ${relationship} ${destination}`;
  });
}

const graphOf = (content: string, { relations = [], entities = [] }: Knowing = {}): Promise<JsonObject> =>
  ask('extract_graph', {
    context: { summary: null, recent: [], now: NOW, instructions: null },
    known: {
      entities: entities.map((name, i) => ({ id: `e${i}`, name, kind: 'person', aliases: [] })),
      relations: [...relations],
    },
    messages: [{ id: 'm0', role: 'user', content, timestamp: NOW, name: null }],
  });

const ENGLISH: readonly (readonly [string, readonly string[]])[] = [
  ['I live in Oslo', ['user lives_in Oslo']],
  ['I moved from Lisbon to Oslo last week', ['user lives_in Oslo', 'x user lives_in Lisbon']],
  ['I work at Acme as a nurse', ['user works_at Acme', 'user works_as nurse']],
  ['I no longer work at Acme', ['x user works_at Acme']],
  ['I quit my job at Acme', ['x user works_at Acme']],
  ['I love sushi and hate olives', ['user likes sushi', 'user dislikes olives']],
  ['I have a dog named Rex', ['user has_pet Rex']],
  ["My dog's name is Rex", ['user has_pet Rex']],
  ['My sister Eva lives in Rome', ['user has_sister Eva', 'Eva lives_in Rome']],
  ["My sister's name is Eva", ['user has_sister Eva']],
  ['I speak Portuguese and English', ['user speaks Portuguese', 'user speaks English']],
  ['I was born in Porto.', ['user born_in Porto']],
  ["I'm married to Tom", ['user married_to Tom']],
  ["I'm allergic to peanuts", ['user allergic_to peanuts']],
  ['Eva works at Norsk Hydro. She lives in Oslo.', ['Eva works_at Norsk Hydro', 'Eva lives_in Oslo']],
  ['Norsk Hydro makes aluminium.', ['Norsk Hydro makes aluminium']],
  ["Eva's husband Tom works at Globex", ['Eva married_to Tom', 'Tom works_at Globex']],
  ['Eva moved to Bergen last month.', ['Eva lives_in Bergen']],
];

const CHINESE: readonly (readonly [string, readonly string[]])[] = [
  ['我住在上海', ['user lives_in 上海']],
  ['我上周从上海搬到北京', ['user lives_in 北京', 'x user lives_in 上海']],
  ['我在腾讯工作', ['user works_at 腾讯']],
  ['我不再在腾讯工作', ['x user works_at 腾讯']],
  ['我在阿里巴巴做工程师', ['user works_at 阿里巴巴', 'user works_as 工程师']],
  ['我女儿叫小红', ['user has_daughter 小红']],
  ['我养了一只猫，叫咪咪', ['user has_pet 咪咪']],
  ['我妈妈住在成都', ['user has_mother 妈妈', '妈妈 lives_in 成都']],
  ['我对花生过敏', ['user allergic_to 花生']],
];

describe('relations of the builtin model', () => {
  it.each(ENGLISH)('in English: %s', async (said, relations) => {
    expect(await told(said)).toEqual(relations);
  });

  it.each(CHINESE)('in Chinese: %s', async (said, relations) => {
    expect(await told(said)).toEqual(relations);
  });

  it.each(['Where do I live?', 'Hello there!', 'If I lived in Oslo I would buy a boat.', '你好', ''])(
    'none in: %s',
    async (said) => {
      expect(await told(said)).toEqual([]);
    },
  );

  it('of the only known sister are told of her by name', async () => {
    const relations = ['User has_sister Eva'];
    expect(await told('My sister lives in Rome', { relations })).toEqual(['user has_sister Eva', 'Eva lives_in Rome']);
    expect(await told('小红在百度工作', { entities: ['小红'] })).toEqual(['小红 works_at 百度']);
  });

  it('give the user the name they say, and a relation the day it began', async () => {
    const { entities, relations } = await graphOf("I'm Ana and I moved to Oslo last week");
    expect(listOf(entities)[0]).toMatchObject({ name: 'user', aliases: ['Ana'] });
    expect(listOf(relations)[0]).toMatchObject({ destination: 'Oslo', from: '2025-06-03', source_ids: ['m0'] });
  });
});

describe('decisions of the builtin model', () => {
  /** "0 2025-01-01 User works_at Acme", with an x at its end where it is said to be over. */
  const relation = (text: string): JsonObject => {
    const [id = '', said_at = '', source = '', relationship = '', destination = '', over] = text.split(' ');
    return { id, source, relationship, destination, said_at, said: over === 'x' ? 'ended' : 'holds' };
  };
  const endsOf = async (fresh: readonly JsonObject[], known: readonly JsonObject[]): Promise<readonly string[]> => {
    const { ends } = await ask('decide_graph', { new: [...fresh], known: [...known], pairs: [] });
    return listOf(ends).map((end) => `${textOf(objectOf(end).relation)} by ${textOf(objectOf(end).by)}`);
  };

  it('let the employer said last take the place of the former one', async () => {
    const known = [relation('0 2025-01-01 User works_at Acme')];
    expect(await endsOf([relation('n0 2025-02-01 User works_at Globex')], known)).toEqual(['0 by n0']);
    expect(await endsOf([relation('n0 2024-12-01 User works_at Globex')], known)).toEqual(['n0 by 0']);
  });

  it('end what is said to be over, in whatever words, and nothing else', async () => {
    const known = [relation('0 2025-01-01 User employee_of Acme'), relation('1 2025-01-01 User owns bike')];
    expect(await endsOf([relation('n0 2025-02-01 User works_at Acme x')], known)).toEqual(['0 by n0']);
  });
});
