import type { Gate } from './gate.ts';

const LEAST_RIGHT = 0.99;

/** G4: questions find what holds first, and never something outdated above it. */
export const questions: Gate = ({ course, evidence }) => {
  const judged = evidence.answers.map(({ question, found }) => {
    const gold = found.findIndex((text) => question.gold.includes(text));
    const stale = found.findIndex((text) => course.stale.has(text));
    return { question, found, first: gold === 0, stale: stale !== -1 && (gold === -1 || stale < gold) };
  });
  const first = judged.filter((one) => one.first).length;
  const stale = judged.filter((one) => one.stale).length;
  const asked = judged.length;
  return {
    gate: 'G4',
    what: 'questions on it',
    figures:
      asked === 0 ? 'no questions in the file' : `right at rank 1: ${first} of ${asked}, stale above fresh: ${stale}`,
    target: `≥ ${Math.ceil(asked * LEAST_RIGHT)} of ${asked}, 0`,
    passed: first >= asked * LEAST_RIGHT && stale === 0,
    misses: judged
      .filter((one) => !one.first || one.stale)
      .map(
        ({ question, found }) => `${question.text} → ${found[0] ?? 'nothing'} (wanted: ${question.gold.join(' | ')})`,
      ),
  };
};
