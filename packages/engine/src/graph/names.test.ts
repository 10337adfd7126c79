import { describe, expect, it } from 'vitest';
import {
  aliasKey,
  isInflectedIn,
  isNamedIn,
  isSelfName,
  likenessOf,
  MERGE_FROM,
  nameKey,
  nameOf,
  PROPOSE_FROM,
  spelledAlike,
} from './names.ts';
import type { EntityKind } from './words.ts';

const judged = (a: string, b: string, { kind = 'person', cosine = 0 }: { kind?: EntityKind; cosine?: number } = {}) => {
  const likeness = likenessOf(a, b, { kind, cosine });
  if (likeness >= MERGE_FROM) return 'one';
  return likeness >= PROPOSE_FROM ? 'perhaps' : 'two';
};

describe('two names', () => {
  it.each<[string, string, EntityKind]>([
    ['Dr. Ana Silva', 'ana silva', 'person'],
    ['José Núñez', 'Jose Nunez', 'person'],
    ['J.R.R. Tolkien', 'JRR Tolkien', 'person'],
    ['Eva’s', 'Eva', 'person'],
    ['Acme Inc.', 'Acme', 'organisation'],
    ['The Globex Corporation', 'globex', 'organisation'],
    ['Smith & Sons Ltd', 'Smith and Sons', 'organisation'],
    ['腾讯公司', '腾讯', 'organisation'],
    ['上海市', '上海', 'place'],
    ['New York City', 'new york', 'place'],
    ['王老师', '王', 'person'],
  ])('%s and %s are of one', (a, b, kind) => {
    expect(judged(a, b, { kind })).toBe('one');
  });

  it.each<[string, string, EntityKind]>([
    ['Ana', 'Ana Silva', 'person'],
    ['Silva', 'Ana Silva', 'person'],
    ['A. Silva', 'Ana Silva', 'person'],
    ['Catherine', 'Cathrine', 'person'],
    ['Acme', 'Acme Robotics', 'organisation'],
    ['IBM', 'International Business Machines', 'organisation'],
    ['Robert Smith', 'Bob Smith', 'person'],
    ['Liz', 'Elizabeth', 'person'],
    ['VW', 'Volkswagen', 'organisation'],
    ['USA', 'United States', 'place'],
    ['K8s', 'Kubernetes', 'thing'],
    ['Postgres', 'PostgreSQL', 'product'],
  ])('%s and %s may be of one', (a, b, kind) => {
    expect(judged(a, b, { kind, cosine: 0.95 })).toBe('perhaps');
  });

  it.each([0, 0.75, 0.95])(
    'called alike may be of one at a cosine of %s, and never are one by that alone',
    (cosine) => {
      expect(judged('Bill Gray', 'William Gray', { cosine })).toBe('perhaps');
      expect(judged('js', 'JavaScript', { kind: 'thing', cosine })).toBe('perhaps');
    },
  );

  it.each([
    ['Bob Smith', 'Robert Jones'],
    ['Bob', 'Rob'],
    ['Ted', 'Ned'],
    ['Smith Bob', 'Smith Robert'],
  ])('%s and %s are not called alike', (a, b) => {
    expect(judged(a, b, { cosine: 0.79 })).toBe('two');
  });

  it.each<[string, string, EntityKind]>([
    ['Team 1', 'Team 2', 'organisation'],
    ['iPhone 14', 'iPhone 15', 'product'],
  ])('%s and %s are of two, near as their vectors may be', (a, b, kind) => {
    expect(judged(a, b, { kind, cosine: 0.99 })).toBe('two');
  });

  it.each<[string, string, EntityKind]>([
    ['Tom', 'Tim', 'person'],
    ['Ana Berg', 'Ana Holm', 'person'],
    ['Oslo', 'Osaka', 'place'],
  ])('%s and %s may be of one where their vectors are very near, and never are one by that alone', (a, b, kind) => {
    expect(judged(a, b, { kind, cosine: 0.79 })).toBe('two');
    expect(judged(a, b, { kind, cosine: 0.8 })).toBe('perhaps');
    expect(judged(a, b, { kind, cosine: 0.99 })).toBe('perhaps');
  });

  it('in other scripts or another order are as near as their vectors', () => {
    expect(judged('北京', 'Beijing', { kind: 'place', cosine: 0.93 })).toBe('one');
    expect(judged('北京', 'Beijing', { kind: 'place', cosine: 0.75 })).toBe('perhaps');
    expect(judged('Silva Ana', 'Ana Silva', { cosine: 0.98 })).toBe('one');
    expect(judged('Peking', 'Beijing', { kind: 'place', cosine: 0.95 })).toBe('perhaps');
    expect(judged('Team 1', 'Team 2', { kind: 'organisation', cosine: 0.99 })).toBe('two');
  });

  it('of hostile length are compared in time', () => {
    expect(spelledAlike('a '.repeat(50), 'b '.repeat(50), 'person')).toBeLessThan(PROPOSE_FROM);
    expect(aliasKey('.'.repeat(100), 'person')).not.toBe('');
  });
});

describe('a name', () => {
  it.each([
    ['my sister', 'sister'],
    ['“Acme”', 'Acme'],
    ['  Ana\n Silva ', 'Ana Silva'],
    ['我的妈妈', '妈妈'],
    ['she', null],
    ['???', null],
    ['x'.repeat(200), null],
    ['\u200b', null],
  ])('%j is kept as %j', (text, name) => {
    expect(nameOf(text)).toBe(name);
  });

  it('is found as words of their own, and with other endings where it is asked for', () => {
    const text = nameKey('Wir waren in Annas Haus, and I saw 小红在北京. Joan too.');
    expect([isNamedIn('ann', text), isNamedIn('小红', text), isNamedIn('joan', text), isNamedIn('', text)]).toEqual([
      false,
      true,
      true,
      false,
    ]);
    expect([isInflectedIn('anna', text), isInflectedIn('oslo', text), isInflectedIn('a.*b(', text)]).toEqual([
      true,
      false,
      false,
    ]);
  });

  it('may be how somebody speaks of themselves', () => {
    expect(['I', 'the user', '我', 'User', 'Ivan'].map(isSelfName)).toEqual([true, true, true, true, false]);
  });
});
