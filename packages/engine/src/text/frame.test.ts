import { describe, expect, test } from 'vitest';
import { withoutFrame } from './frame.ts';

describe('withoutFrame', () => {
  test.each([
    ['User lives in Oslo', 'lives in Oslo'],
    ["User's dog is called Rex", 'dog is called Rex'],
    ['The user’s dog is called Rex', 'dog is called Rex'],
    ['the user, who is 34, likes tea', ', who is 34, likes tea'],
    ['"User likes tea"', 'likes tea"'],
    ['Nutzer wohnt in Halle', 'wohnt in Halle'],
    ['Die Nutzerin wohnt in Halle', 'wohnt in Halle'],
    ['El usuario vuela a Nukualofa', 'vuela a Nukualofa'],
    ['Al usuario le gusta el té', 'le gusta el té'],
    ["L'utilisateur habite à Nantes", 'habite à Nantes'],
    ['L’utente abita a Roma', 'abita a Roma'],
    ['O usuário mora em Lisboa', 'mora em Lisboa'],
    ['У пользователя есть кошка', 'есть кошка'],
    ['De gebruiker woont in Gent', 'woont in Gent'],
    ['用户住在北京', '住在北京'],
    ['用户的猫走丢了', '猫走丢了'],
    ['用户名叫安娜', '名叫安娜'],
    ['ユーザーは京都に住んでいる', '京都に住んでいる'],
    ['사용자는 서울에 산다', '서울에 산다'],
  ])('of %j it is %j', (text, left) => {
    expect(withoutFrame(text).trim()).toBe(left);
  });

  test.each([
    ['What does the user like?', 'What does like?'],
    ["what is the user's name", 'what is name'],
    ['does the user have a dog', 'does have a dog'],
    ['I cook tonight. What is the user allergic to?', 'I cook tonight. What is allergic to?'],
    ['Was trinkt der Nutzer?', 'Was trinkt ?'],
    ['¿Qué le gusta al usuario?', '¿Qué le gusta ?'],
    ["Où habite l'utilisateur ?", 'Où habite ?'],
    ['你知道用户喜欢什么吗？', '你知道 喜欢什么吗？'],
  ])('nobody is asked for in %j: %j', (question, left) => {
    expect(withoutFrame(question).replace(/ +/g, ' ')).toBe(left);
  });

  test.each([
    'Ann lives in Oslo',
    'Users of the library pay nothing',
    'users table',
    'A user of the library pays nothing',
    'Can a user pay by card?',
    'User interfaces are what Ann draws',
    'user_id is the key of the table',
    'user@example.org is the address',
    'User-friendly software is rare',
    'Which user groups are there?',
    'What do users say?',
    'Coriander tastes awful to the user',
    'Username and password are kept apart',
    '用户们喜欢它',
    '用户名是anna',
    'ユーザーインターフェースを作る',
    'user',
    'The user',
    '用户',
    'User?',
    '',
  ])('%j has none, or is nothing else', (text) => {
    expect(withoutFrame(text)).toBe(text);
  });

  test('only the beginning is one', () => {
    expect(withoutFrame('User manages the users table of the user database').trim()).toBe(
      'manages the users table of the user database',
    );
  });
});
