import { expect, it } from 'vitest';
import { echoesSystem, isChatter, isGreeting, isQuestion, windowOf } from './rules.ts';

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

it.each([
  'hi',
  'Hello!',
  'Hey there 👋',
  'Good morning, how are you today?',
  'Hi! How’s it going?',
  'thanks',
  'Thank you so much!!',
  'ok thank you',
  'thanks a lot, bye',
  "You're welcome!",
  'Hello! How can I help you today?',
  'Have a nice day :)',
  '你好',
  '你好，在吗？',
  '谢谢你！',
  '非常感谢',
  '早上好~',
  '您好！有什么可以帮您的吗？',
  '再见👋',
  'Merci beaucoup, à demain !',
  'Vielen Dank, bis morgen!',
  'Guten Morgen',
  '¡Muchas gracias, hasta luego!',
  'Bom dia! Muito obrigada.',
  'Grazie mille, ciao',
])('%s only greets or thanks', (text) => {
  expect(isGreeting(text)).toBe(true);
});

it.each([
  '',
  '👍',
  'yes',
  'ok',
  'no',
  'Hi Bob',
  'hi, I moved to Oslo',
  'thanks, my dentist is on Friday',
  'Good morning America is my favourite show',
  'I say goodbye to smoking',
  'cheers is a bar I like',
  '你好，我叫小明',
  '谢谢，我对花生过敏',
  '早上好，我今天去北京',
  'hi '.repeat(100),
])('%j may say something', (text) => {
  expect(isGreeting(text)).toBe(false);
});

const SYSTEM =
  'You are Max, a friendly cooking assistant of FreshFood. Give short answers. The user is Ana, a vegetarian from Lisbon. 用户住在上海，喜欢吃辣的。';
const echoes = (text: string, heard: readonly string[], quote: string | null = null) =>
  echoesSystem({ text, quote }, windowOf([SYSTEM], heard));

it.each([
  ['User is Ana, a vegetarian from Lisbon', ['What can I cook?']],
  ['User is a vegetarian', ['What can I cook with eggs?']],
  ['Max is a friendly cooking assistant of FreshFood', ['I love cooking']],
  ['用户住在上海', ['今天吃什么？']],
])('%s repeats the system prompt', (fact, heard) => {
  expect(echoes(fact, heard)).toBe(true);
});

it.each([
  ['User is a vegetarian', ['I am a vegetarian now'], null],
  ["User's name is Ana", ["I'm Ana"], null],
  ['User eats no meat', ['I eat no meat'], null],
  ['User lives in Oslo', ['Oslo is where I live'], null],
  ['User is from Lisbon', ['that is right, from there'], 'from there'],
  ['用户住在上海', ['我住在上海'], null],
] as const)('%s was said', (fact, heard, quote) => {
  expect(echoes(fact, heard, quote)).toBe(false);
});

it('without a system prompt nothing repeats it', () => {
  expect(echoesSystem({ text: 'User is Ana', quote: null }, windowOf([], []))).toBe(false);
});
