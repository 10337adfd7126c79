import type { Reply } from '@slowwave/testkit';

/** A form in which no model should answer. */
export interface Oddity {
  readonly name: string;
  /** How many facts are in it that nobody said. */
  readonly surplus: number;
  /** The answer, made of what it should have been. */
  answer(facts: readonly object[]): Reply;
}

const HUGE_BYTES = 50_000_000;
const MANY = 20_000;
/** Put in last: whoever makes it is the model of others, too, who wait meanwhile. */
const FILLING = ' '.repeat(HUGE_BYTES);
const HERE = '<here>';

const inJson = (name: string, formOf: (facts: readonly object[]) => unknown): Oddity => ({
  name,
  surplus: 0,
  answer: (facts) => ({ text: JSON.stringify(formOf(facts)) }),
});

/** Whole as far as it goes, and far longer than anybody reads. Goes out as it is: counting its tokens takes seconds. */
const huge: Oddity = {
  name: 'fifty megabytes',
  surplus: 0,
  answer: (facts) => {
    const content = JSON.stringify({ facts }) + HERE;
    const message = { role: 'assistant', content, refusal: null };
    const choices = [{ index: 0, message, finish_reason: 'stop', logprobs: null }];
    const usage = { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 };
    const headers = { 'content-type': 'application/json' };
    const whole = JSON.stringify({ id: 'huge', object: 'chat.completion', created: 0, model: 'huge', choices, usage });
    return { status: 200, headers, body: whole.replace(HERE, FILLING) };
  },
};

/** What was said first, and after it more than anybody can have said. */
const many: Oddity = {
  name: 'twenty thousand facts',
  surplus: MANY,
  answer: (facts) => {
    const more = Array.from({ length: MANY }, (_, i) => ({ ...facts[0], text: `Number ${i} of many was counted` }));
    return { text: JSON.stringify({ facts: [...facts, ...more] }) };
  },
};

/** Broken off, each time: what is missing is never seen. */
const cut: Oddity = {
  name: 'cut off each time',
  surplus: 0,
  answer: (facts) => {
    const whole = JSON.stringify({ facts });
    return { text: whole.slice(0, Math.floor(whole.length * 0.6)), finish: 'length' };
  },
};

const twoObjects: Oddity = {
  name: 'two objects',
  surplus: 0,
  answer: ([first, ...rest]) => ({
    text: `${JSON.stringify({ facts: [first] })}\n\n${JSON.stringify({ facts: rest })}`,
  }),
};

export const ODDITIES: readonly Oddity[] = [
  huge,
  many,
  cut,
  twoObjects,
  inJson('an object for a list', () => ({ facts: {} })),
  inJson('a list of nothing', () => ({ facts: [null] })),
  inJson('facts that are none', () => ({ facts: [{ text: '' }, { text: 5 }, { source_ids: ['m0'] }] })),
  inJson('nothing among facts', ([first, ...rest]) => ({ facts: [first, null, 7, ...rest] })),
  inJson('lists in lists', ([first, ...rest]) => ({ facts: [[[first]], [rest]] })),
  inJson('facts under numbers', (facts) => ({ facts: { ...facts } })),
];
