import { expect, test } from 'vitest';
import { answerCheck } from './answers.ts';
import type { Description } from './schema.ts';

const text = { type: 'string', minLength: 1 } as const;
const description: Description = {
  components: { schemas: { Thing: { type: 'object', properties: { id: text }, required: ['id'] } } },
  paths: {
    '/v1/things': {
      get: {
        responses: { 200: { content: { 'application/json': { schema: { $ref: '#/components/schemas/Thing' } } } } },
      },
    },
  },
};
const operation = description.paths['/v1/things']?.get ?? { responses: {} };
const answer = (status: number, body: string, type = 'application/json; charset=utf-8') => ({
  status,
  type,
  text: body,
});

test('an answer that is as promised is fine', () => {
  expect(answerCheck(description)(operation, answer(200, '{"id":"a"}'))).toBeNull();
});

test.each([
  ['a field is missing', answer(200, '{}'), /id/],
  ['a field is of another type', answer(200, '{"id":1}'), /string/],
  ['it is no JSON', answer(200, 'oops'), /object/],
  ['the status was not promised', answer(201, '{"id":"a"}'), /status 201/],
  ['the media type was not promised', answer(200, '<p>', 'text/html'), /text\/html/],
])('an answer is found out when %s', (_, given, said) => {
  expect(answerCheck(description)(operation, given)).toMatch(said);
});
