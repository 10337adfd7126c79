import { describe, expect, it } from 'vitest';
import { withoutAsker } from './asked.ts';

describe('what a question asks for', () => {
  it.each([
    ['What does she do for a living?', 'What do for a living'],
    ['Where am I going on holiday?', 'Where going on holiday'],
    ['Who is his manager?', 'Who is manager'],
    ['What did their neighbour say to them?', 'What did neighbour say to'],
    ['Which vaccine has Ann had?', 'Which vaccine has Ann had'],
    ['tea or coffee', 'tea or coffee'],
    ['她住在哪里', '她住在哪里'],
    ['Iwona likes hermit crabs', 'Iwona likes hermit crabs'],
  ])('%s', (question, asked) => {
    expect(withoutAsker(question)).toBe(asked);
  });

  it.each(['Who is she?', 'Where am I?', 'she', 'What is his?', '', '??'])(
    '%s stays as it is: nothing else is said',
    (question) => {
      expect(withoutAsker(question)).toBe(question);
    },
  );
});
