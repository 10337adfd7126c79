import { expect, test } from 'vitest';
import { chatRequest } from './chat.ts';
import { FULL_MANNERS } from './manners.ts';

const CALL = {
  name: 'describe_image',
  system: 'describe_image\nSay what you see.',
  user: 'Describe.\n{"images":2}',
  schema: {},
};

test('a question without images is plain text', () => {
  expect(chatRequest('m', CALL, { manners: FULL_MANNERS, limit: null }).messages[1]).toEqual({
    role: 'user',
    content: CALL.user,
  });
});

test('images stand before the text, which ends with the input', () => {
  const images = ['https://pictures.example/a.png', 'data:image/png;base64,AAAA'];
  expect(chatRequest('m', { ...CALL, images }, { manners: FULL_MANNERS, limit: null }).messages[1]).toEqual({
    role: 'user',
    content: [
      { type: 'image_url', image_url: { url: images[0] } },
      { type: 'image_url', image_url: { url: images[1] } },
      { type: 'text', text: CALL.user },
    ],
  });
});
