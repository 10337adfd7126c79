import type {
  ChatCompletionContentPart,
  ChatCompletionCreateParamsNonStreaming,
} from 'openai/resources/chat/completions';

/**
 * fetch for Anthropic's Messages API, asked for chat completions: requests and answers are put in the other's words, and all that
 * is known of refusals, limits and odd answers holds here, too. Its own compatible endpoint leaves out the schema of an answer and
 * caches no prompts (decision 0038).
 */
export const throughMessages =
  (inner: typeof fetch): typeof fetch =>
  async (url, init) => {
    const asked = JSON.parse(String(init?.body)) as Asked;
    const response = await inner(messagesUrl(String(url)), {
      ...init,
      headers: headersOf(new Headers(init?.headers)),
      body: JSON.stringify(messagesRequest(asked)),
    });
    if (!response.ok) return response;
    const text = await response.text();
    const answer = parsed(text);
    return new Response(answer === null ? text : JSON.stringify(completionOf(answer)), {
      status: response.status,
      headers: { 'content-type': 'application/json' },
    });
  };

/** What is asked for may hold fields of the operator's own, which go out as they are. */
type Asked = ChatCompletionCreateParamsNonStreaming & Readonly<Record<string, unknown>>;

const messagesUrl = (url: string): string => url.replace(/\/chat\/completions$/u, '/messages');

const VERSION = '2023-06-01';

function headersOf(headers: Headers): Headers {
  const key = headers.get('authorization')?.replace(/^Bearer /u, '');
  headers.delete('authorization');
  headers.delete('content-length');
  if (key !== undefined && !headers.has('x-api-key')) headers.set('x-api-key', key);
  if (!headers.has('anthropic-version')) headers.set('anthropic-version', VERSION);
  return headers;
}

/** This API wants a limit. As much as each of its models can write. */
const OUTPUT_TOKENS = 8_192;

function messagesRequest(asked: Asked): object {
  const { messages, response_format: format, max_completion_tokens: limit, max_tokens, ...fields } = asked;
  const system = messages.flatMap(({ role, content }) =>
    role === 'system' && typeof content === 'string' ? [content] : [],
  );
  const others = messages.filter(({ role }) => role !== 'system');
  return {
    ...fields,
    max_tokens: limit ?? max_tokens ?? OUTPUT_TOKENS,
    // The instructions of one kind of question are the same for everybody: they are read from the cache.
    ...(system.length === 0
      ? {}
      : { system: [{ type: 'text', text: system.join('\n'), cache_control: { type: 'ephemeral' } }] }),
    messages: others.map(({ role, content }) => ({
      role,
      content: Array.isArray(content) ? (content as ChatCompletionContentPart[]).map(partOf) : content,
    })),
    ...(format?.type === 'json_schema'
      ? { output_config: { format: { type: 'json_schema', schema: format.json_schema.schema } } }
      : {}),
  };
}

function partOf(part: ChatCompletionContentPart): object {
  if (part.type !== 'image_url') return part;
  const { url } = part.image_url;
  const [, type, data] = /^data:([^;,]+);base64,(.*)$/su.exec(url) ?? [];
  const source = data === undefined ? { type: 'url', url } : { type: 'base64', media_type: type, data };
  return { type: 'image', source };
}

/** A message of this API, as far as it is read: any field may be missing. */
interface Message {
  readonly model?: string;
  readonly content?: readonly { readonly type?: string; readonly text?: string; readonly thinking?: string }[];
  readonly stop_reason?: string | null;
  readonly usage?: Readonly<Record<string, unknown>>;
  readonly error?: unknown;
}

/** Why it stopped, in the other's words. What is not here has come to its end. */
const FINISHED: Readonly<Record<string, string>> = {
  max_tokens: 'length',
  model_context_window_exceeded: 'length',
  refusal: 'content_filter',
};

function completionOf(message: Message): object {
  const { model, content, stop_reason: reason, usage = {} } = message;
  if (!Array.isArray(content)) return message;
  const all = (type: 'text' | 'thinking'): string =>
    content.flatMap((block) => (block.type === type ? [block[type] ?? ''] : [])).join('');
  return {
    model,
    choices: [
      { message: { content: all('text'), thinking: all('thinking') }, finish_reason: FINISHED[reason ?? ''] ?? 'stop' },
    ],
    usage: {
      prompt_tokens: sumOf(usage, PROMPT),
      completion_tokens: sumOf(usage, ['output_tokens']),
      prompt_tokens_details: { cached_tokens: sumOf(usage, ['cache_read_input_tokens']) },
    },
  };
}

/** What is written to the cache, or read from it, was sent, too. */
const PROMPT = ['input_tokens', 'cache_creation_input_tokens', 'cache_read_input_tokens'];

/** undefined: it was not counted. */
function sumOf(usage: Readonly<Record<string, unknown>>, names: readonly string[]): number | undefined {
  const counts = names.map((name) => usage[name]).filter((count) => typeof count === 'number');
  return counts.length === 0 ? undefined : counts.reduce((sum, count) => sum + count, 0);
}

function parsed(text: string): Message | null {
  try {
    const body: unknown = JSON.parse(text);
    return typeof body === 'object' && body !== null ? body : null;
  } catch {
    return null;
  }
}
