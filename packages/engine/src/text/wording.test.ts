import { LIFE_CHANGES } from '@slowwave/engine-testing';
import { describe, expect, test } from 'vitest';
import { saysChange } from './wording.ts';

describe('saysChange', () => {
  test.each([
    'User no longer follows Arsenal',
    'User became a paramedic',
    'User has moved to Bergen',
    'User gave up the violin',
    "User's dog Rex died",
    'User is back from Greece',
    'The meeting was postponed to Friday',
    'Nutzer trinkt keinen Kaffee mehr',
    'Nutzer ist nach Kiel umgezogen',
    'Usuario ya no fuma',
    'Utilisateur ne fume plus',
    'Пользователь больше не курит',
    '用户不再跑步',
    '用户搬到北京了',
    'ユーザーは福岡に引っ越した',
  ])('%j does', (text) => {
    expect(saysChange(text)).toBe(true);
  });

  test.each([
    'User lives in Oslo',
    'User is 34 years old',
    'User knows Nowak from school',
    'User lives in New York',
    'User was raised in Ohio and grows roses',
    'Nutzer wurde in Köln geboren',
    'Usuario vive en Nueva York',
    'User has a left-handed guitar',
    'Nutzer arbeitet bei Bosch',
    'Usuario vive en Sevilla',
    'Utilisateur habite à Lyon',
    '用户养了一只猫',
    '用户住在北京',
    'ユーザーは京都に住んでいる',
    '',
  ])('%j does not', (text) => {
    expect(saysChange(text)).toBe(false);
  });

  test('what a life was before does not, and what it became nearly always does', () => {
    expect(LIFE_CHANGES.filter(([before]) => saysChange(before))).toEqual([]);
    expect(LIFE_CHANGES.filter(([, after]) => saysChange(after)).length).toBeGreaterThanOrEqual(33);
  });

  test('a long text is read in time that grows with its length alone', () => {
    expect(saysChange('ne n '.repeat(50_000))).toBe(false);
  });
});
