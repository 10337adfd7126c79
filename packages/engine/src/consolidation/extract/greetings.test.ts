import { expect, it } from 'vitest';
import { isGreeting } from './junk.ts';

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
