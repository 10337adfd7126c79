/** Texts that stores, clients and models trip over: zero characters, halves of characters, marks without end. */
export const HARD_TEXTS: readonly (readonly [what: string, text: string])[] = [
  ['a zero character', 'tea\u0000with milk\u0000'],
  ['halves of characters', 'tea \ud83d with \udc4d milk \ud800'],
  ['what looks like an escape of one', '\u001a0000 tea \\u0000 \\ud83d "\u001a\u001a"'],
  ['100,000 combining characters', `tea${'\u0301'.repeat(100_000)} milk`],
  ['control characters and line ends of all kinds', 'tea\r\n\u0085\u2028\u2029\u0007\u007f\u009f\ufffe\uffff milk'],
];
