import { describe, expect, it } from 'vitest';
import { readAnswer } from './answer.ts';
import { FACTS_MAX, factsIn, OPERATIONS_MAX, operationsIn } from './listed.ts';

const facts = (text: string) => readAnswer(text, factsIn);
const texts = (text: string) => facts(text)?.value.items.map((fact) => fact.text) ?? null;
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
    ['under a name around it', `{"name":"extract_facts","arguments":${TWO}}`],
    ['as a JSON string', JSON.stringify(TWO)],
    ['before thinking', `${TWO}<think>{"facts":["User hates hiking"]}</think>`],
    ['between thinking of two kinds', `<think>a</think><reasoning>{"facts":[]}</reasoning>${TWO}`],
    ['with comments', `{"facts":["User likes hiking", // the first\n "User lives in Oslo" /* and last */]}`],
    [
      'with Python literals',
      "{'facts': [{'text': 'User likes hiking', 'quote': None}, {'text': 'User lives in Oslo'}]}",
    ],
    ['with line breaks inside of strings', '{"facts":["User likes hiking",\n"User lives in Oslo\n"]}'],
    ['in lists in a list', '{"facts":[["User likes hiking"],["User lives in Oslo"]]}'],
    ['in lists under two names', '{"facts":["User likes hiking"],"memories":[{"text":"User lives in Oslo"}]}'],
    ['beside an empty list', '{"facts":[],"results":["User likes hiking","User lives in Oslo"]}'],
    ['in two objects', '{"facts":["User likes hiking"]}\n{"facts":["User lives in Oslo"]}'],
    [
      'in two objects with prose between',
      'First {"facts":["User likes hiking"]}, then {"facts":["User lives in Oslo"]}.',
    ],
    ['in two objects in a list', '[{"facts":["User likes hiking"]},{"facts":["User lives in Oslo"]}]'],
    ['as statements', '{"facts":[{"statement":"User likes hiking"},{"statement":"User lives in Oslo"}]}'],
    [
      'in groups',
      '{"facts":[{"topic":"a","facts":["User likes hiking"]},{"topic":"b","facts":["User lives in Oslo"]}]}',
    ],
    ['inside of what a gateway puts around it', `{"result":{"output":[{"data":${TWO}}]}}`],
    ['after a footnote in brackets', `As said in [1]:\n${TWO}`],
    ['as triples', '{"facts":[{"subject":"User","predicate":"likes","object":"hiking"},"User lives in Oslo"]}'],
    ['after an echo of the question', `{"messages":[{"id":"m0","content":"hi"}]}\n${TWO}`],
  ])('%s', (_name, text) => {
    expect(texts(text)).toEqual(BOTH);
    expect(facts(text)?.complete).toBe(true);
  });

  it.each([
    ['a bare string', '{"facts":"User likes hiking"}', ['User likes hiking']],
    [
      'one fact in the place of a list',
      '{"facts":{"text":"User likes hiking","source_ids":["m0"]}}',
      ['User likes hiking'],
    ],
    ['one fact and nothing else', '{"fact":"User likes hiking","source_ids":["m0"]}', ['User likes hiking']],
    ['a name and its value', '{"facts":[{"name":"hobby","value":"hiking"}]}', ['hobby: hiking']],
    ['a name and its values, alone', '{"facts":{"key":"hobby","value":"hiking"}}', ['hobby: hiking']],
    ['several values', '{"facts":[{"attribute":"hobbies","value":["hiking","tea"]}]}', ['hobbies: hiking, tea']],
  ])('as %s', (_name, text, expected) => {
    expect(texts(text)).toEqual(expected);
  });

  it.each([
    ['null', '[null]', 'null'],
    ['a number for a text', '[{"text":5}]', '{"text":5}'],
    ['an empty text', '[{"text":""}]', '{"text":""}'],
    ['no text', '[{"source_ids":["m0"]}]', '{"source_ids":["m0"]}'],
    ['an empty list', '[[[[[]]]]]', '[]'],
    ['a blank', '["  "]', '  '],
    ['a key that looks like a secret', '[{"note":"sk-proj-abcdefgh1234567890"}]', '{"note":"[secret: API key]"}'],
  ])('not where there is only %s; beside a fact that is told of', (_name, list, told) => {
    expect(facts(`{"facts":${list}}`)).toBeNull();
    const mixed = facts(`{"facts":[${list.slice(1, -1)},"User likes hiking"]}`)?.value;
    expect(mixed?.items.map(({ text }) => text)).toEqual(['User likes hiking']);
    expect(mixed?.unread).toEqual([{ text: told, reason: 'cannot be read as a fact' }]);
  });

  it.each(['{"facts":{}}', '{"facts":[[]]}', '{"facts":5}', '{"facts":null}', '{"facts":[{}]}'])(
    'not in %s',
    (text) => {
      expect(facts(text)).toBeNull();
    },
  );

  it('with more facts than one answer may have: the first count, the others are told of or counted', () => {
    const all = Array.from({ length: 20_000 }, (_, i) => `User owns thing ${i}`);
    const { items, unread } = facts(JSON.stringify({ facts: all }))?.value ?? { items: [], unread: [] };
    expect(items.map(({ text }) => text)).toEqual(all.slice(0, FACTS_MAX));
    expect(unread[0]).toEqual({ text: all[FACTS_MAX], reason: `more than ${FACTS_MAX} facts in one answer` });
    expect(unread.at(-1)?.text).toBe(`${all.length - FACTS_MAX - (unread.length - 1)} more`);
  });

  it('with the limit for all objects of an answer together', () => {
    const one = JSON.stringify({ facts: Array.from({ length: FACTS_MAX }, (_, i) => `User owns thing ${i}`) });
    const two = one.replaceAll('owns', 'lost');
    expect(facts(`${one}${two}`)?.value.items).toHaveLength(FACTS_MAX);
  });

  it.each([
    ['behind one that can', `${TWO}\n{"facts":[null,{"note":5}]}`],
    ['before one that can', `{"facts":[null,{"note":5}]}\n${TWO}`],
    ['beside it in a list', `[${TWO},{"facts":[null,{"note":5}]}]`],
    ['under another name around it', `{"answer":${TWO},"more":{"results":[null,{"note":5}]}}`],
  ])('with an object in which nothing can be read %s: its entries are told of', (_name, text) => {
    expect(texts(text)).toEqual(BOTH);
    expect(facts(text)?.complete).toBe(true);
    expect(facts(text)?.value.unread).toEqual(
      ['null', '{"note":5}'].map((entry) => ({ text: entry, reason: 'cannot be read as a fact' })),
    );
  });

  it('with an object in which nothing can be read, and an empty one: that is no answer', () => {
    expect(facts('{"facts":[]}\n{"facts":[null]}')).toBeNull();
  });

  it('with what can be read inside of what cannot: that alone was meant', () => {
    expect(facts(`{"facts":[{"result":${TWO}}]}`)?.value).toMatchObject({ items: [{}, {}], unread: [] });
  });

  it('that broke off behind a whole object, where nothing could be read: more was to come', () => {
    expect(facts('{"facts":["User likes hiking"]}\n{"facts":[null,{"te')?.complete).toBe(false);
  });

  it('that broke off behind a whole object: more was to come', () => {
    const reading = facts('{"facts":["User likes hiking"]}\n{"facts":["User lives in Oslo","User ow');
    expect(reading?.value.items.map(({ text }) => text)).toEqual(['User likes hiking', 'User lives in Oslo']);
    expect(reading?.complete).toBe(false);
  });

  it('keeps complete items of an answer that broke off, and says that it did', () => {
    const broken = '{"facts":[{"text":"User likes hiking","source_ids":["m0"]},{"text":"User lives in Os';
    expect(texts(broken)).toEqual(['User likes hiking']);
    expect(facts(broken)?.complete).toBe(false);
  });

  it('keeps thinking tags a fact is about', () => {
    expect(texts('{"facts":["User strips <think> tags","User likes tea"]}')).toEqual([
      'User strips <think> tags',
      'User likes tea',
    ]);
  });

  it('takes no part of a broken object for the list of facts', () => {
    const unescaped =
      '{"facts":[{"text":"A b","source_ids":["m0"],"quote":"she said "hi""},{"text":"B","source_ids":["m1"]}]}';
    expect(texts(unescaped)).toBeNull();
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

  it.each([
    ['brackets', '[{"'.repeat(50_000)],
    ['thinking', '<think>'.repeat(50_000)],
    ['thinking that ends otherwise', `${'<think>'.repeat(50_000)}</reasoning`],
    ['comments', `{${'/*'.repeat(50_000)}`],
    ['empty objects', '{}'.repeat(50_000)],
    ['nesting', '{"a":'.repeat(50_000)],
    ['quotes', `{${'"'.repeat(100_000)}`],
    ['values in values that break', `${'{"a":['.repeat(60)}"${'x'.repeat(900_000)}" oops`],
    ['texts in texts', `{"facts":[${'{"text":'.repeat(50_000)}1${'}'.repeat(50_000)}]}`],
    ['lists in lists', `{"facts":${'['.repeat(50_000)}${']'.repeat(50_000)}}`],
  ])('gives up soon on endless %s', (_name, text) => {
    expect(texts(text)).toBeNull();
  });
});

describe('an answer to a decide call is understood', () => {
  const operations = (text: string) => readAnswer(text, operationsIn)?.value.items ?? null;

  it('with numbers for ids and wrapped texts', () => {
    const [operation] =
      operations('{"memory":[{"id":0,"text":{"text":"User moved to Bergen"},"event":"update"}]}') ?? [];
    expect(operation).toMatchObject({ id: '0', event: 'UPDATE', text: 'User moved to Bergen', fact: null, keep: true });
  });

  it('in two objects, what both say once', () => {
    const [one, other] = ['{"fact":"f0","event":"ADD"}', '{"fact":"f1","event":"NONE","id":"0"}'];
    const answer = `{"operations":[${one}]}\n{"operations":[${one},${other}]}`;
    expect(operations(answer)?.map(({ fact }) => fact)).toEqual(['f0', 'f1']);
  });

  it('in two objects, with the entries told of that cannot be read in one of them', () => {
    const answer = '{"operations":[{"fact":"f0","event":"ADD"}]}\n{"operations":["UPDATE f1"]}';
    expect(readAnswer(answer, operationsIn)?.value).toMatchObject({
      items: [{ fact: 'f0' }],
      unread: [{ text: 'UPDATE f1', reason: 'cannot be read as an operation' }],
    });
  });

  it('as one operation in the place of a list, or alone', () => {
    const one = '{"fact":"f0","event":"ADD"}';
    for (const answer of [`{"operations":${one}}`, one]) expect(operations(answer)).toMatchObject([{ fact: 'f0' }]);
  });

  it('up to as many as one answer may have, and tells of the others', () => {
    const many = Array.from({ length: 50_000 }, () => ({ fact: 'f0', event: 'ADD' }));
    const { items, unread } = readAnswer(JSON.stringify({ operations: many }), operationsIn)?.value ?? {
      items: [],
      unread: [],
    };
    expect(items).toHaveLength(OPERATIONS_MAX);
    expect(unread[0]?.reason).toBe(`more than ${OPERATIONS_MAX} operations in one answer`);
  });

  it.each(['{"operations":[null,1,"x"]}', '{"operations":{}}', '{"memory":["UPDATE"]}'])('but not in %s', (text) => {
    expect(operations(text)).toBeNull();
  });

  it('as an object keyed by memory', () => {
    expect(operations('{"memory":{"0":{"event":"UPDATE","text":"x y"}}}')).toMatchObject([
      { id: '0', event: 'UPDATE' },
    ]);
  });

  it('as an object keyed by fact', () => {
    expect(
      operations('{"operations":{"f1":{"event":"UPDATE","id":0,"text":"x y"},"f2":{"event":"ADD"}}}'),
    ).toMatchObject([
      { fact: 'f1', id: '0' },
      { fact: 'f2', id: null },
    ]);
  });

  it('with an unknown event as no event at all', () => {
    expect(operations('{"operations":[{"fact":"f0","event":"EXPLODE"}]}')).toMatchObject([{ event: null }]);
  });

  it.each([
    ['an integer', 1, '1'],
    ['blanks around it', ' 0 ', '0'],
    ['nothing in it', '', null],
    ['a list', ['0'], null],
    ['an object', { id: '0' }, null],
  ])('with %s for an id', (_name, id, expected) => {
    expect(operations(JSON.stringify({ operations: [{ fact: 'f0', event: 'NONE', id }] }))).toMatchObject([
      { fact: 'f0', event: 'NONE', id: expected },
    ]);
  });

  it.each([
    ['', null],
    ['   ', null],
    [null, null],
    [{ text: { text: 'deep' } }, 'deep'],
    [['a list'], null],
    [7, null],
  ])('with the text %j as %j', (text, expected) => {
    expect(operations(JSON.stringify({ operations: [{ event: 'UPDATE', id: '0', text }] }))?.[0]?.text).toBe(expected);
  });

  it('as a wish to forget only where it says so', () => {
    const keeps = [false, 'false', null, undefined, 0].map(
      (keep) => operations(JSON.stringify({ operations: [{ event: 'DELETE', id: '0', keep }] }))?.[0]?.keep,
    );
    expect(keeps).toEqual([false, false, true, true, true]);
  });

  it('whatever else is in it', () => {
    expect(operations('{"operations":[null,1,"x",[],{"event":"ADD","fact":"f0"}]}')).toMatchObject([{ event: 'ADD' }]);
  });

  it('but not where there is no list of operations', () => {
    expect(operations('{"patches":[],"planned_edits":"no change needed"}')).toBeNull();
    expect(operations('[]')).toEqual([]);
  });
});
