import type { JsonObject } from '../../words.ts';

/** One kind of question to a chat model. The text is fixed, so that servers can cache it; what varies is in the input. */
export interface Prompt {
  /** The kind of call, and the name of the answer's schema. */
  readonly name: string;
  /** Raised with every change of text or schema. */
  readonly version: string;
  readonly system: string;
  /** Of the answer: every key required, nullable where it may be missing. */
  readonly schema: JsonObject;
}

/** A schema of an object all of whose keys are required, as structured output wants it. */
export const objectSchema = (properties: JsonObject): JsonObject => ({
  type: 'object',
  properties,
  required: Object.keys(properties),
  additionalProperties: false,
});

export const NULLABLE_TEXT: JsonObject = { type: ['string', 'null'] };

/** The user message: a fixed sentence, then the input as one JSON object on its own line. */
export const userMessage = (ask: string, input: object): string => `${ask}\n${asData(input)}`;

/**
 * An input on one line, as data: it parses back to exactly what it was, and holds nothing a server could take for the end
 * of it. Some servers cut a prompt into tokens after they have filled it in, and then a message that spells a special
 * token (<|im_start|>, [INST]) speaks in another role. Written as escapes these are letters like any others.
 */
export const asData = (input: object): string => JSON.stringify(input).replace(SIGNS, escapeOf);

/** Outside of its strings JSON has none of these. The latter two are line breaks to some readers, and none to JSON. */
const SIGNS =
  /<(?=[|｜<]|\/?[a-z][a-z_]{0,30}>)|\[(?=\/?(?:INST|SYS|SYSTEM(?:_PROMPT)?|AVAILABLE_TOOLS|TOOL_[A-Z]{4,10})\])|\u2028|\u2029/giu;

const escapeOf = (sign: string): string => `\\u${sign.charCodeAt(0).toString(16).padStart(4, '0')}`;

/** The calls whose prompt a tenant may write itself. */
export type CustomCall = 'extract' | 'decide';

/** What each of these prompts must contain, to be filled in at each call. What else varies is in the call's input. */
const PLACEHOLDERS: Readonly<Record<CustomCall, readonly string[]>> = { extract: ['categories'], decide: [] };

const PLACEHOLDER = /\{\{\s*([^{}]*?)\s*\}\}/gu;

/** What is wrong with a prompt a tenant wrote, and what to do; null when it can be used. */
export function promptMistake(call: CustomCall, text: string): string | null {
  const needed = PLACEHOLDERS[call];
  const named = [...text.matchAll(PLACEHOLDER)].map(([, name]) => name ?? '');
  const missing = needed.find((name) => !named.includes(name));
  if (missing !== undefined) return `expected the placeholder {{${missing}}} in it, got none; put it where it belongs`;
  const unknown = named.find((name) => !needed.includes(name));
  if (unknown === undefined) return null;
  const known = needed.length === 0 ? 'no placeholders' : needed.map((name) => `{{${name}}}`).join(', ');
  return `expected ${known}, got {{${unknown}}}, which nothing fills in; remove it`;
}

/** A tenant's text in place of the product's, with the same name and answer. Servers and tests know a call by its first line. */
export function customPrompt(base: Prompt, text: string, values: Readonly<Record<string, string>> = {}): Prompt {
  const filled = text.replaceAll(PLACEHOLDER, (whole, name: string) =>
    Object.hasOwn(values, name) ? (values[name] ?? whole) : whole,
  );
  const [first = ''] = filled.split('\n', 1);
  const system = first.trim() === base.name ? filled : `${base.name}\n\n${filled}`;
  return { ...base, version: 'custom', system };
}

/** What a repair call is given beside the question it repeats. */
export type RepairInput = {
  /** The call whose answer could not be used. */
  readonly call: string;
  readonly problem: string;
  /** That answer, cut to a useful length. */
  readonly broken: string;
  /** The input of that call, unchanged. */
  readonly input: object;
};

/** The same question once more, with what was wrong with the first answer. Its answer has the first call's form. */
export const repairOf = (prompt: Prompt): Prompt => ({
  name: 'repair_output',
  version: '1',
  system: `repair_output

An earlier answer to the task below could not be used. The user message ends with one JSON object {"call","problem","broken","input"}: "input" is the task's input, "broken" the answer, "problem" what was wrong with it. Do the task again for "input", take over from "broken" what is right, and answer in full and in exactly the form the task asks for.

The task:
${prompt.system}`,
  schema: prompt.schema,
});
