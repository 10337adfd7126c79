/** A message, or what is new of it, as servers send it: each field may be missing, and hold anything. */
export interface Message {
  readonly content?: unknown;
  readonly refusal?: unknown;
  readonly reasoning_content?: unknown;
  readonly reasoning?: unknown;
  readonly thinking?: unknown;
  readonly tool_calls?: unknown;
}

/** Where servers put what they take for thinking, and, with a parser that fits the model badly, all of an answer. */
const THOUGHTS = ['reasoning_content', 'reasoning', 'thinking'] as const;

/** Where a model's thoughts stand: in a field of their own, or in the text of the answer. */
export type ThoughtPlace = (typeof THOUGHTS)[number] | '<think>';

/** The same for people, as a sentence goes on. */
export const placeOf = (place: ThoughtPlace): string =>
  place === '<think>' ? 'between <think> tags in the text of the answer' : `in ${place}`;

export const TEXTS = ['content', 'refusal', ...THOUGHTS] as const;

/** What a message says, in each of the places where that may stand. */
export interface Said {
  readonly content: string;
  readonly called: string;
  readonly thoughts: string;
  /** null: the model does not think, or shows nothing of it. */
  readonly place: ThoughtPlace | null;
}

export function saidIn(message: Message): Said {
  const content = textIn(message.content);
  const field = THOUGHTS.find((name) => textIn(message[name]).trim() !== '') ?? null;
  return {
    content,
    called: callsIn(message.tool_calls)
      .map(({ text }) => text)
      .join('\n'),
    thoughts: field === null ? '' : textIn(message[field]),
    place: field ?? (thinksAloud(content) ? '<think>' : null),
  };
}

/** A text that some servers send in a list of parts, in one part, or as the JSON that they have read in it. */
export function textIn(value: unknown): string {
  if (typeof value === 'string') return value;
  if (Array.isArray(value)) return value.map((part) => (isObject(part) ? partIn(part) : textIn(part))).join('');
  if (!isObject(value)) return '';
  return isPart(value) ? partIn(value) : JSON.stringify(value);
}

type Fields = Readonly<Record<string, unknown>>;

const isObject = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Anything else with a text has other fields as well: a fact, for example. */
const isPart = (value: Fields): boolean => Object.keys(value).every((key) => key === 'type' || key === 'text');

const partIn = ({ text }: Fields): string => (typeof text === 'string' ? text : '');

/** The arguments of the calls of tools, with the place of each. */
export function callsIn(value: unknown): readonly { readonly index: number; readonly text: string }[] {
  const calls = Array.isArray(value) ? value : [value];
  return calls.flatMap((call, place) => {
    if (!isObject(call) || !isObject(call.function)) return [];
    const { arguments: given = '' } = call.function;
    const text = typeof given === 'string' ? given : JSON.stringify(given);
    return [{ index: typeof call.index === 'number' ? call.index : place, text }];
  });
}

/** The tag may stand in the prompt already, where nobody sees it opened. */
const thinksAloud = (text: string): boolean => OPENED.test(text) || (CLOSED.test(text) && !/^\s*[[{]/u.test(text));

const OPENED = /^\s*<(?:think|thinking|reasoning|thought)>/iu;
const CLOSED = /<\/(?:think|thinking|reasoning|thought)>/iu;
