/** A whole answer, and what models and servers do to it; the value in it stays what it is. */
export const WRAPPED: readonly (readonly [string, (answer: string) => string])[] = [
  ['in a fence', (answer) => `\`\`\`json\n${answer}\n\`\`\``],
  ['after a sentence', (answer) => `Of course! Here is the result:\n${answer}`],
  ['between prose with braces', (answer) => `Going by {the talk above} I get: ${answer} {end of answer}`],
  ['after thinking that weighs another answer', (answer) => `<think>${decoy(answer)}? Rather not.</think>${answer}`],
  ['before a special token', (answer) => `${answer}<|eot_id|>`],
  ['with trailing commas', (answer) => `${answer.replace(/([\]}])$/u, ',$1')},`],
  ['after a byte order mark and a zero-width space', (answer) => `\ufeff\u200b${answer}`],
  ['with a key that reaches for the prototype', (answer) => answer.replace('{', '{"__proto__":{"polluted":"yes"},')],
  ['twice', (answer) => `${answer}\n${answer}`],
  ['as a JSON string', (answer) => JSON.stringify(answer)],
];

const decoy = (answer: string): string => answer.replace(/"[^"]*"(?=\s*[,\]}])/u, '"Decoy"');

/** Answers that are none. */
export const UNUSABLE: readonly (readonly [string, string])[] = [
  ['the body of an error', '{"error":{"message":"maximum context length is 8192 tokens","code":400}}'],
  ['an answer to another question', '{"edits":[],"comment":"all is well"}'],
  ['nothing', ''],
  ['an apology', 'I am sorry, but I cannot help with that.'],
  ['a bracket that never closes', '{"'],
];
