import { describe, expect, test } from 'vitest';
import { takingTurns } from './protocol.ts';

interface Question {
  readonly name: string;
  readonly patient?: boolean;
}

describe('turns of questions', () => {
  const bench = () => {
    const answered: string[] = [];
    const answer = ({ name }: Question): string => {
      if (name === 'bad') throw new Error('cannot be answered');
      answered.push(name);
      return name.toUpperCase();
    };
    return { answered, ask: takingTurns(answer, (question: Question) => question.patient === true) };
  };
  const many = (name: string, patient = false): Question[] => Array.from({ length: 6 }, () => ({ name, patient }));

  test('every call gets its answers in the order of its questions', async () => {
    const { ask } = bench();
    const answers = await Promise.all([ask([{ name: 'a' }, { name: 'b' }]), ask([]), ask([{ name: 'c' }])]);
    expect(answers).toEqual([['A', 'B'], [], ['C']]);
  });

  test('a call of one question does not wait for all of another call', async () => {
    const { ask, answered } = bench();
    await Promise.all([ask(many('long')), ask([{ name: 'short' }])]);
    expect(answered.indexOf('short')).toBeLessThan(3);
  });

  test('who can wait gets fewer turns while others are there, but some', async () => {
    const { ask, answered } = bench();
    await Promise.all([ask(many('patient', true)), ask(many('urgent'))]);
    const whenUrgentWereDone = answered.slice(0, answered.lastIndexOf('urgent'));
    const patient = whenUrgentWereDone.filter((name) => name === 'patient').length;
    expect(patient).toBeGreaterThanOrEqual(1);
    expect(patient).toBeLessThanOrEqual(3);
  });

  test('a question that fails fails its own call alone', async () => {
    const { ask } = bench();
    const [bad, good] = await Promise.allSettled([ask([{ name: 'a' }, { name: 'bad' }]), ask([{ name: 'b' }])]);
    expect(bad).toMatchObject({ status: 'rejected', reason: { message: 'cannot be answered' } });
    expect(good).toMatchObject({ status: 'fulfilled', value: ['B'] });
    expect(await ask([{ name: 'c' }])).toEqual(['C']);
  });
});
