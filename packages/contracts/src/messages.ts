import { z } from 'zod';
import { ExternalId, ID_MAX, Moment, takenAtOnce } from './common.ts';

/** Most messages in one POST; a longer transcript is sent as several batches. */
export const MESSAGES_MAX = 2_000;
/** Longest text of one message, in characters. */
export const CONTENT_MAX = 500_000;
export const PARTS_MAX = 100;
/** A data URL of an image of about six megabytes. */
const IMAGE_URL_MAX = 8_000_000;

export const Role = z.enum(['user', 'assistant', 'system', 'tool']);
type Role = z.infer<typeof Role>;

/** A message as it is stored, whichever provider's form it came in. */
export interface MessageBody {
  role: Role;
  content: string | Part[];
  name?: string | undefined;
  trust?: 'tool' | 'external' | undefined;
  timestamp?: string | undefined;
  id?: string | undefined;
}
type TextPart = { type: 'text'; text: string };
type ImagePart = {
  type: 'image_url';
  image_url: { url: string; detail?: (typeof DETAILS)[number] };
};
type Part = TextPart | ImagePart;

/** The plain text of a message's content, parts joined by line breaks. */
export const textOf = (content: MessageBody['content']): string =>
  typeof content === 'string'
    ? content
    : content.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('\n');

export const hasImage = (content: MessageBody['content']): boolean =>
  typeof content !== 'string' && content.some((part) => part.type === 'image_url');

const Text = z.string().max(CONTENT_MAX);
const ImageUrl = z.string().min(1).max(IMAGE_URL_MAX).describe('A public URL or a data URL.');

/** What else parts and items of providers have. It is read if their type says what it is. */
const ToolFields = {
  arguments: z.unknown().optional(),
  input: z.unknown().optional(),
  output: z.unknown().optional(),
};

const SentPart = z
  .object({
    type: z.string().describe('text, image_url, or another type of part of OpenAI or Anthropic.'),
    text: Text.nullish(),
    image_url: z
      .union([ImageUrl, z.object({ url: ImageUrl, detail: z.string().nullish().describe('auto, low or high.') })])
      .nullish(),
    refusal: Text.nullish(),
    source: z.unknown().optional(),
    content: z.unknown().optional(),
    name: z.string().nullish(),
    ...ToolFields,
  })
  .meta({ id: 'MessagePart' });
type SentPart = z.infer<typeof SentPart>;

const SentMessage = z
  .object({
    role: z
      .enum([...Role.options, 'developer', 'function'])
      .optional()
      .describe('Required, except for items of OpenAI’s Responses API without a role.'),
    content: z
      .union([Text, z.array(SentPart).max(PARTS_MAX), z.null()])
      .optional()
      .describe('Required, except together with tool calls.'),
    name: ExternalId.nullish().describe('The name of the speaker.'),
    trust: z
      .enum(['tool', 'external'])
      .nullish()
      .describe(
        'Where the content comes from, if the role does not say it. external: content from outside, like a ' +
          'pasted email. tool: output of a tool you answer for; other messages of the role tool count as external.',
      ),
    timestamp: z
      .union([Moment, z.number().positive().max(8.64e15)])
      .nullish()
      .describe(
        'When it was said: ISO 8601, or Unix time in seconds or milliseconds. Defaults to the time the batch was ' +
          'accepted. Include the speaker’s UTC offset (+09:00) so that dates resolve in their time zone.',
      ),
    id: ExternalId.nullish().describe(
      'Must be unique for the owner. A message sent again with the same id is not processed twice.',
    ),
    tool_calls: z.array(z.unknown()).max(PARTS_MAX).nullish().describe('Tool calls are kept as text.'),
    function_call: z.unknown().optional(),
    refusal: Text.nullish(),
    audio: z.unknown().optional().describe('Only its transcript is read.'),
    type: z.string().nullish().describe('The type of an item in OpenAI’s Responses API.'),
    ...ToolFields,
  })
  .meta({ id: 'Message' });
type SentMessage = z.infer<typeof SentMessage>;

/**
 * A message as OpenAI's chat API, its Responses API or Anthropic's API makes it. What was said is kept, and the calls of
 * tools as text. What tools returned is nobody's word here, so it becomes a message of the role tool. Reasoning was said to
 * nobody and is left out, as is all that only the provider needs.
 */
const AnyMessage = takenAtOnce<z.ZodType<MessageBody | MessageBody[], SentMessage>>(
  SentMessage.transform(read),
  isPlain,
);

/** What is said in a list of messages; a text alone is one message of the user. */
export const messagesUpTo = (most: number) =>
  z
    .union([Text.min(1), z.array(AnyMessage).min(1).max(most)])
    .transform((sent): MessageBody[] => (typeof sent === 'string' ? [{ role: 'user', content: sent }] : sent.flat()));

/** Whether a message is of the usual form: one text, ASCII ids, and not from the last days of a month. */
function isPlain(message: unknown): boolean {
  if (typeof message !== 'object' || message === null) return false;
  const fields = message as Readonly<Record<string, unknown>>;
  if (fields.role === undefined || fields.content === undefined) return false;
  for (const field in fields) if (!isPlainField(field, fields[field])) return false;
  return true;
}

const PLAIN_ID = /^[!-~][ -~]{0,255}$/u;
const PLAIN_MOMENT =
  /^\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|1\d|2[0-8])T(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d(?:\.\d{1,9})?(?:Z|[+-](?:0\d|1[0-4]):[0-5]\d)$/u;

function isPlainField(field: string, value: unknown): boolean {
  if (typeof value !== 'string') return false;
  switch (field) {
    case 'role':
      return value === 'user' || value === 'assistant' || value === 'system' || value === 'tool';
    case 'trust':
      return value === 'tool' || value === 'external';
    case 'content':
      return value.length <= CONTENT_MAX;
    case 'id':
    case 'name':
      return PLAIN_ID.test(value);
    case 'timestamp':
      return PLAIN_MOMENT.test(value);
    default:
      return false;
  }
}

/** What is found in a message: what was said in it, and what tools returned. */
interface Found {
  readonly said: Part[];
  readonly returned: string[];
  refuse(issue: z.core.$ZodRawIssue): void;
}

function read(message: SentMessage, context: z.RefinementCtx): MessageBody[] {
  const { role, content } = message;
  const found: Found = { said: [], returned: [], refuse: (issue) => context.issues.push(issue) };
  if (role === undefined) return readItem(message, found);
  if (!Array.isArray(content)) found.said.push(...(content ? [textPart(content)] : []));
  else for (const [i, part] of content.entries()) readPart(part, found, ['content', i]);
  readBesides(message, found);
  if (content === undefined && found.said.length === 0) {
    found.refuse({
      code: 'custom',
      message: 'expected text or a list of parts, got nothing',
      path: ['content'],
      input: message,
    });
  }
  return messagesOf(message, ROLES[role], found);
}

const ROLES = {
  user: 'user',
  assistant: 'assistant',
  system: 'system',
  tool: 'tool',
  developer: 'system',
  function: 'tool',
} as const;

/** What OpenAI's chat API puts beside the content of a message. */
function readBesides({ refusal, audio, tool_calls: calls, function_call: call }: SentMessage, { said }: Found): void {
  const transcript = textAt(audio, 'transcript');
  for (const text of [refusal, transcript]) if (text) said.push(textPart(text));
  for (const one of [...(calls ?? []), ...(call ? [call] : [])]) {
    said.push(callPart(at(one, 'function') ?? at(one, 'custom') ?? one));
  }
}

/** An item of OpenAI's Responses API that is no message. */
function readItem(item: SentMessage, found: Found): MessageBody[] {
  const type = item.type ?? '';
  if (CALLS.has(type)) found.said.push(callPart(item));
  if (type === 'mcp_call' || type.endsWith('_call_output')) found.returned.push(textIn(item.output));
  if (!/_call(?:_output)?$/u.test(type) && !SAID_TO_NOBODY.has(type)) {
    found.refuse({ code: 'invalid_value', values: Role.options, path: ['role'], input: item });
  }
  return messagesOf({ ...item, name: null }, 'assistant', found); // its name is that of the tool
}

/** Items and parts that name the tool they call. */
const CALLS: ReadonlySet<string> = new Set(['function_call', 'custom_tool_call', 'mcp_call']);

/** Items and parts that hold nothing anybody said. */
const SAID_TO_NOBODY: ReadonlySet<string> = new Set([
  'reasoning',
  'thinking',
  'redacted_thinking',
  'compaction',
  'item_reference',
  'mcp_list_tools',
  'mcp_approval_request',
  'mcp_approval_response',
]);

function readPart(part: SentPart, { said, returned, refuse }: Found, path: PropertyKey[]): void {
  const { type } = part;
  const image = imageIn(part);
  if (SAID_TO_NOBODY.has(type)) return;
  if (image !== null) said.push(image);
  else if (TEXTS.has(type) && part.text != null) said.push(textPart(part.text));
  else if (type === 'refusal') said.push(textPart(part.refusal ?? ''));
  else if (type.endsWith('tool_use')) said.push(callPart(part));
  else if (type.endsWith('tool_result') || type === 'search_result') returned.push(textIn(part.content));
  else if (type === 'document' && textIn(part.source) !== '') returned.push(textIn(part.source));
  else if (TEXTS.has(type))
    refuse({ code: 'invalid_type', expected: 'string', path: [...path, 'text'], input: part.text });
  else refuse({ code: 'custom', message: unreadable(type), path: [...path, 'type'], input: part });
}

const unreadable = (type: string): string =>
  `expected a text or an image, got ${JSON.stringify(type.slice(0, 40))}; send what it says as text`;

const TEXTS: ReadonlySet<string> = new Set(['text', 'input_text', 'output_text']);

const DETAILS = ['auto', 'low', 'high'] as const;

/** OpenAI's chat API has an object with a URL, its Responses API the URL alone, Anthropic's API a source. */
function imageIn({ type, image_url: url, source }: SentPart): ImagePart | null {
  if (url != null && (type === 'image_url' || type === 'input_image')) {
    if (typeof url === 'string') return { type: 'image_url', image_url: { url } };
    const detail = DETAILS.find((one) => one === url.detail);
    return { type: 'image_url', image_url: { url: url.url, ...(detail !== undefined && { detail }) } };
  }
  if (type !== 'image') return null;
  const [kind, data] = [textAt(source, 'media_type'), textAt(source, 'data')];
  const sent = kind !== null && data !== null ? `data:${kind};base64,${data}` : textAt(source, 'url');
  return sent === null ? null : { type: 'image_url', image_url: { url: sent } };
}

const textPart = (text: string): TextPart => ({ type: 'text', text });

function callPart(call: unknown): TextPart {
  const given = at(call, 'arguments') ?? at(call, 'input') ?? at(call, 'args') ?? '';
  return textPart(
    `[called ${textAt(call, 'name') ?? 'a tool'}(${typeof given === 'string' ? given : JSON.stringify(given)})]`,
  );
}

/** The text in what a tool returned: a text, a list of parts, or an object around one of these. */
function textIn(value: unknown): string {
  if (typeof value === 'string') return value;
  if (Array.isArray(value)) return value.reduce<string>(joined, '');
  const text = textAt(value, 'text');
  if (text !== null) return text;
  return textIn(at(value, 'content') ?? (at(value, 'type') === 'text' ? at(value, 'data') : ''));
}

function joined(before: string, value: unknown): string {
  const text = textIn(value);
  return before === '' || text === '' ? before + text : `${before}\n${text}`;
}

/** What was parsed from JSON has no field of these names but its own. */
const at = (value: unknown, field: string): unknown =>
  typeof value === 'object' && value !== null ? (value as Readonly<Record<string, unknown>>)[field] : undefined;

function textAt(value: unknown, field: string): string | null {
  const found = at(value, field);
  return typeof found === 'string' ? found : null;
}

/** A message as it was said, and before it what tools returned. */
function messagesOf(sent: SentMessage, role: Role, { said, returned, refuse }: Found): MessageBody[] {
  const { id, name, trust, timestamp } = sent;
  const content = Array.isArray(sent.content) && said.length > 0 ? said : textIn(said);
  const results = textIn(returned);
  for (const text of [content, results]) {
    const size = { code: 'too_big', origin: 'string', maximum: CONTENT_MAX, inclusive: true } as const;
    if (typeof text === 'string' && text.length > CONTENT_MAX) {
      refuse({ ...size, path: ['content'], input: text });
    }
  }
  const told = {
    ...(name != null && { name }),
    ...(trust != null && { trust }),
    ...(timestamp != null && { timestamp: typeof timestamp === 'number' ? isoOf(timestamp) : timestamp }),
  };
  const isResultAlone = results !== '' && content.length === 0;
  const isNothing = results === '' && content.length === 0 && sent.role === undefined;
  return [
    ...(results === '' ? [] : [{ role: 'tool' as const, content: results, ...told, ...idOf(id, isResultAlone) }]),
    ...(isResultAlone || isNothing ? [] : [{ role, content, ...told, ...idOf(id, true) }]),
  ];
}

const RESULTS = '/results';

/** The id of a message; what tools returned in it has one of its own, so that it is processed once as well. */
function idOf(id: string | null | undefined, isWhole: boolean): { id?: string } {
  if (id == null) return {};
  if (isWhole) return { id };
  return id.length + RESULTS.length > ID_MAX ? {} : { id: id + RESULTS };
}

/** Unix time in seconds is of this century up to here, and in milliseconds from here. */
const MILLISECONDS_FROM = 1e11;

const isoOf = (unix: number): string =>
  new Date(unix < MILLISECONDS_FROM ? Math.round(unix * 1_000) : unix).toISOString();
