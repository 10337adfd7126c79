import { describe, expect, it } from 'vitest';
import { readAnswer } from './answer.ts';
import { factsIn } from './facts.ts';
import { operationsIn } from './operations.ts';

const facts = (text: string) => readAnswer(text, factsIn);
const texts = (text: string) => facts(text)?.value.map((fact) => fact.text) ?? null;
const TWO = '{"facts":["User likes hiking","User lives in Oslo"]}';
const BOTH = ['User likes hiking', 'User lives in Oslo'];

describe('an answer to an extract call is understood', () => {
  it.each([
    ['in a code fence', `\`\`\`json\n${TWO}\n\`\`\``],
    ['after prose', `Here are the facts I extracted:\n${TWO}`],
    ['between prose with braces', `Based on the conversation {about travel}, here it is: ${TWO} {done}`],
    ['after thinking with a decoy', `<think>Maybe {"facts":["User hates hiking"]}? No.</think>${TWO}`],
    ['after thinking that was never opened', `{"facts":["User hates hiking"]}? No.</think>${TWO}`],
    ['before a special token', `${TWO}<|im_end|>`],
    ['with trailing commas', '{"facts":["User likes hiking","User lives in Oslo",],},'],
    ['with objects under other names', '{"facts":[{"fact":"User likes hiking"},{"text":"User lives in Oslo"}]}'],
    ['with values that are no texts', '{"facts":["User likes hiking",null,42,true,"","   ","User lives in Oslo"]}'],
    ['with an object for a list', '{"facts":{"0":"User likes hiking","1":"User lives in Oslo"}}'],
    ['under the wrong key', '{"memory":[{"text":"User likes hiking"},{"text":"User lives in Oslo"}]}'],
    ['with repeats', '{"facts":["User likes hiking","user likes hiking. ","User  likes hiking","User lives in Oslo"]}'],
    ['behind a byte order mark', `\ufeff\u200b${TWO}`],
    ['said twice', `${TWO}\n${TWO}`],
    ['in single quotes and bare keys', "{facts: ['User likes hiking', 'User lives in Oslo']}"],
    ['as a bare list', '["User likes hiking","User lives in Oslo"]'],
  ])('%s', (_name, text) => {
    expect(texts(text)).toEqual(BOTH);
    expect(facts(text)?.complete).toBe(true);
  });

  it('keeps complete items of an answer that broke off, and says that it did', () => {
    const broken = '{"facts":[{"text":"User likes hiking","source_ids":["m0"]},{"text":"User lives in Os';
    expect(texts(broken)).toEqual(['User likes hiking']);
    expect(facts(broken)?.complete).toBe(false);
  });

  it('replaces half characters', () => {
    expect(texts('{"facts":["User likes \\ud83d hiking"]}')).toEqual(['User likes \ufffd hiking']);
  });

  it('tells an empty list from an answer without one', () => {
    expect(texts('{"facts":[]}')).toEqual([]);
    expect(texts('{"error":{"message":"context_length_exceeded"}}')).toBeNull();
    expect(texts('I could not find any facts.')).toBeNull();
    expect(texts('')).toBeNull();
  });

  it('never lets a key reach the prototype', () => {
    const polluted = '{"__proto__":{"polluted":true},"facts":[{"__proto__":{"polluted":true},"text":"a b"}]}';
    expect(texts(polluted)).toEqual(['a b']);
    expect(({} as { polluted?: boolean }).polluted).toBeUndefined();
  });

  it('gives up soon on endless brackets', () => {
    expect(texts('[{"'.repeat(50_000))).toBeNull();
  });
});

describe('an answer to a decide call is understood', () => {
  const operations = (text: string) => readAnswer(text, operationsIn)?.value ?? null;

  it('with numbers for ids and wrapped texts', () => {
    const [operation] =
      operations('{"memory":[{"id":0,"text":{"text":"User moved to Bergen"},"event":"update"}]}') ?? [];
    expect(operation).toMatchObject({ id: '0', event: 'UPDATE', text: 'User moved to Bergen', fact: null, keep: true });
  });

  it('as an object keyed by memory', () => {
    expect(operations('{"memory":{"0":{"event":"UPDATE","text":"x y"}}}')).toMatchObject([
      { id: '0', event: 'UPDATE' },
    ]);
  });

  it('with an unknown event as no event at all', () => {
    expect(operations('{"operations":[{"fact":"f0","event":"EXPLODE"}]}')).toMatchObject([{ event: null }]);
  });

  it('but not where there is no list of operations', () => {
    expect(operations('{"patches":[],"planned_edits":"no change needed"}')).toBeNull();
    expect(operations('[]')).toEqual([]);
  });
});
