import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { admit } from '../consolidation/extract/admit.ts';
import { maskSecrets, secretIn } from '../masking/secrets.ts';
import { spokenOf } from '../messages/messages.ts';
import { readAnswer } from '../models/parse/answer.ts';
import { factsIn } from '../models/parse/listed.ts';
import type { Json, Message } from '../words.ts';

const message = { id: 'msg', role: 'user', name: null, content: 'all of it', saidAt: { at: 0, seq: 0 } } as Message;
const shown = new Map([['m0', spokenOf(message)]]);

/** What is admitted of an answer, as a model writes it. */
function admitted(answer: string) {
  const reading = readAnswer(maskSecrets(answer).text, factsIn);
  const { items = [], unread = [] } = reading?.value ?? {};
  const found = { raw: items, unread, json: reading?.json ?? null, shown };
  return admit([found], { inferred: true, agent: false, categories: [], ownOnly: false, before: [] });
}

const factWith = (fields: Json): string => JSON.stringify({ facts: [{ ...(fields as object), source_ids: ['m0'] }] });

describe('an answer was searched for secrets before its facts are', () => {
  it.each([
    ['spelt with escapes', factWith({ text: 'the pin is 4711' }).replace('pin', '\\u0070in')],
    ['with a letter that nobody sees', factWith({ text: 'the p\u200bin is 4711' })],
    ['over two lines', factWith({ text: 'the pin\nis 4711' })],
    ['put together from three values', factWith({ subject: "User's pin", predicate: 'is', object: '4711' })],
    ['put together from a label and a value', factWith({ name: 'pin', value: '4711' })],
    ['that was masked', factWith({ text: 'my password is hunter2' })],
    ['with a tag in it', `Here: ${factWith({ text: 'the pin<|x|>is 4711' })}`],
    [
      'in an answer that is one long string',
      `${JSON.stringify(factWith({ text: 'the pin is 4711' })).replace('pin', '\\u0070in')} Done`,
    ],
    ['in a fence', `\`\`\`json\n${factWith({ text: 'my password is hunter2' })}\n\`\`\``],
  ])('a secret %s is found all the same', (_how, answer) => {
    const { facts, discards } = admitted(answer);
    expect(facts).toEqual([]);
    expect(discards.map(({ reason }) => reason)).toEqual([expect.stringMatching(/^secret: /u)]);
    expect(JSON.stringify(discards)).not.toMatch(/4711|hunter2/u);
  });

  it('nothing that is admitted gives one away, however an answer is written', () => {
    const pieces = [
      'my ',
      'password',
      ' is ',
      'PIN',
      ': ',
      'hunter2',
      '4711',
      '4242 4242 4242 4242',
      '密码',
      '是',
      'code ',
    ];
    const signs = [
      '"',
      '\\',
      '\n',
      "'",
      ',',
      '\u200b',
      '-',
      '.',
      `${'sk-'}${'a1B2c3D4e5F6g7H8'}`,
      '://ann:',
      '@db ',
      'tea ',
    ];
    const anySaid = fc
      .array(fc.constantFrom(...pieces, ...signs), { maxLength: 8 })
      .map((parts) => `User ${parts.join('')}`);
    const escaped = (json: string) =>
      json.replaceAll(/[ip4是]/gu, (sign) => `\\u${sign.charCodeAt(0).toString(16).padStart(4, '0')}`);
    const writings = [
      (json: string) => json,
      (json: string) => JSON.stringify(JSON.parse(json), null, 2),
      (json: string) => `Here:\n\`\`\`\n${json}\n\`\`\``,
      (json: string) => `<think>\u200b</think>${json}`,
      (json: string) => JSON.stringify(json),
    ];
    const how = fc.tuple(fc.constantFrom(...writings), fc.boolean());
    fc.assert(
      fc.property(
        fc.array(fc.tuple(anySaid, anySaid), { minLength: 1, maxLength: 4 }),
        how,
        (said, [write, isEscaped]) => {
          const facts = said.map(([text, quote]) => ({
            text: isEscaped ? text.replaceAll(/["\\\n]/gu, '') : text,
            quote,
            source_ids: ['m0'],
          }));
          const json = JSON.stringify({ facts });
          const given = isEscaped
            ? json.replaceAll(/"(User [^"\\]*)"/gu, (_all, text: string) => `"${escaped(text)}"`)
            : json;
          for (const { text, quote } of admitted(write(given)).facts) {
            expect(secretIn(text)).toBeNull();
            expect(maskSecrets(quote ?? '').text).toBe(quote ?? '');
          }
        },
      ),
      { numRuns: 3_000 },
    );
  });
});
