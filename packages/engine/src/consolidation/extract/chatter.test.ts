import { expect, it } from 'vitest';
import { isChatter, isQuestion } from './junk.ts';

it.each([
  'User said hello',
  'User said "hello" to the assistant',
  'User says thanks.',
  'The user greeted the assistant',
  'User thanked the assistant for the help',
  'User asked about the weather',
  'User is asking what to cook tonight',
  'User asked if it will rain',
  'User wants to know how to bake bread',
  'User is wondering whether to buy a car',
  'User asked for help',
  'User requested some recommendations for restaurants',
  'User is asking the assistant about Paris',
  'User is chatting with an AI assistant',
  'The conversation started with a greeting',
  'User sent an empty message',
  '用户打招呼',
  '用户说你好',
  '用户询问天气',
  '用户想知道怎么做面包',
  '用户正在询问去北京的机票',
  '用户表示感谢',
])('%s holds for no longer than the conversation', (fact) => {
  expect(isChatter(fact)).toBe(true);
});

it.each([
  'User asked Maria to marry him',
  'User asked their boss for a raise',
  'User wants it forgotten that they smoke',
  'User asked to forget about the dog',
  'User asked that what they said about Anna be deleted',
  'User wants to learn how to bake bread',
  'User said goodbye to their grandmother last week',
  'User talks with their hands',
  'User needs a new bike',
  'User is looking for a flat in Oslo',
  'User said they live in Oslo',
  "User's favourite phrase is hello world",
  'User thanks their success to their mother',
  'User speaks Norwegian',
  'User likes to ask questions',
  '用户喜欢问问题',
  '用户请求忘记他抽烟的事',
  '用户想去北京',
  '用户感谢妈妈的支持',
])('%s is kept', (fact) => {
  expect(isChatter(fact)).toBe(false);
});

it.each([
  'What should I cook tonight?',
  'And where is it?',
  "Isn't it late?",
  'Can you help me?',
  '今天吃什么？',
  '你喜欢猫吗？',
])('%s is a question', (fact) => {
  expect(isQuestion(fact)).toBe(true);
});

it.each([
  "User's favourite band is Therapy?",
  'User has read What is Life?',
  'What a day',
  '用户最喜欢的书是《什么是生命？》',
  'Will lives in Oslo.',
])('%s is none', (fact) => {
  expect(isQuestion(fact)).toBe(false);
});
