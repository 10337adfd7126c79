import { expect, test } from 'vitest';
import { isoOf } from '../text/dates.ts';
import type { MemoryVersion } from '../words.ts';
import { planIn } from './by-rule.ts';

const SAID = Date.parse('2026-05-10T12:00:00Z');

const version = (text: string, given: { validFrom?: string; language?: string } = {}): MemoryVersion => ({
  number: 1,
  text,
  saidAt: { at: SAID, seq: 1 },
  validFrom: given.validFrom === undefined ? SAID : Date.parse(given.validFrom),
  invalidAt: null,
  supersededBy: null,
  details: {
    ...{ category: null, language: given.language ?? null, about: 'user', trust: 'user', quote: null, sourceIds: [] },
    ...{ metadata: {}, immutable: false, expiresAt: null },
  },
  recordedAt: SAID,
});

test.each([
  ['User is going to Lisbon in July 2026', 'User planned to go to Lisbon in July 2026', '2026-08-01'],
  ['User plans to run a marathon on 4 October 2026', 'User planned to run a marathon on 4 October 2026', '2026-10-05'],
  ['User is flying to Rome on 2026-06-01', 'User planned to fly to Rome on 2026-06-01', '2026-06-02'],
  ['User will meet Bo on June 3, 2026', 'User was going to meet Bo on June 3, 2026', '2026-06-04'],
  [
    'User has a dentist appointment on 2026-06-03',
    'User had a dentist appointment planned on 2026-06-03',
    '2026-06-04',
  ],
  ['The wedding is planned for December 2026', 'The wedding was planned for December 2026', '2027-01-01'],
  ['User wants to visit Japan on 3 August', 'User wanted to visit Japan on 3 August', '2026-08-04'],
])('%s: once it is over, %s', (text, turned, over) => {
  const plan = planIn(version(text));
  expect(plan?.text).toBe(turned);
  expect(isoOf(plan?.overAt ?? 0).slice(0, 10)).toBe(over);
});

test('German plans are turned as well', () => {
  const plan = planIn(version('Nutzer will im Juli 2026 nach Lissabon', { language: 'de' }));
  expect(plan).toEqual({ text: 'Nutzer wollte im Juli 2026 nach Lissabon', overAt: Date.parse('2026-08-01') });
});

test('a date that the text does not name is that of the consolidation, for as long as it may stand for', () => {
  const of = (validFrom: string) => planIn(version('User is going to Lisbon next month', { validFrom }))?.overAt ?? 0;
  expect(isoOf(of('2026-06-12')).slice(0, 10)).toBe('2026-06-13');
  expect(isoOf(of('2026-06-01')).slice(0, 10)).toBe('2026-07-02');
});

test.each([
  ['it has no date', 'User is going to learn Portuguese'],
  ['it is worded as past', 'User planned to be in Lisbon in July 2024'],
  ['it was over when it was said', 'User is going to Lisbon in July 2024'],
  ['nothing is planned', 'User was born on 3 July 2026'],
  ['it stays true', 'Passport of the user expires on 3 July 2026'],
  ['it is in a language without rules', 'L’utilisateur va à Lisbonne le 2026-07-03'],
])('nothing is made of a memory where %s', (_, text) => {
  expect(planIn(version(text, text.startsWith('L’') ? { language: 'fr' } : {}))).toBeNull();
});
