import type { ChatCall } from '@slowwave/engine';
import type {
  ChatCompletionContentPart,
  ChatCompletionCreateParams,
  ChatCompletionCreateParamsStreaming,
} from 'openai/resources/chat/completions';
import { type Manners, withLesserFormat } from './manners.ts';

/** The request for a call, in the manners of its server. A question that is asked again is asked in another way. */
export function chatRequest(model: string, call: ChatCall, { manners, limit }: Asked): ChatCompletionCreateParams {
  const { again = 0 } = call;
  const asked = again > 1 ? (withLesserFormat(manners) ?? manners) : manners;
  const system = (asked.format === 'json_schema' ? call.system : withSchema(call)).toWellFormed();
  return {
    model,
    messages: asked.system
      ? [
          { role: 'system', content: system },
          { role: 'user', content: userContent(call) },
        ]
      : [{ role: 'user', content: userContent({ ...call, user: `${system}\n\n${call.user}` }) }],
    ...(asked.temperature ? { temperature: TEMPERATURES[again] ?? 1 } : {}),
    ...(limit === null || asked.limit === 'none' ? {} : { [asked.limit]: limit }),
    ...formatOf(call, asked),
    ...streamOf(asked),
  };
}

/** How a call is asked. */
export interface Asked {
  readonly manners: Manners;
  /** Of the answer, in tokens. null: none. */
  readonly limit: number | null;
}

/** Of a first question, and of each that repeats it: at 0 a model makes the same mistake again. */
const TEMPERATURES = [0, 0.2, 0.5, 0.8];

function userContent({ user, images = [] }: Pick<ChatCall, 'user' | 'images'>): string | ChatCompletionContentPart[] {
  const text = user.toWellFormed();
  if (images.length === 0) return text;
  // The text comes last: it ends with the input, by which a call is understood.
  return [...images.map((url) => ({ type: 'image_url' as const, image_url: { url } })), { type: 'text', text }];
}

function formatOf(call: ChatCall, { format }: Manners): Pick<ChatCompletionCreateParams, 'response_format'> {
  if (format === 'text') return {};
  if (format === 'json_object') return { response_format: { type: 'json_object' } };
  const { name, schema } = call;
  return { response_format: { type: 'json_schema', json_schema: { name, strict: true, schema } } };
}

function streamOf({
  stream,
}: Manners): Partial<Pick<ChatCompletionCreateParamsStreaming, 'stream' | 'stream_options'>> {
  if (stream === 'none') return {};
  return stream === 'plain' ? { stream: true } : { stream: true, stream_options: { include_usage: true } };
}

/** Without a schema in the request, the prompt has to carry it. Its first word is the call's name, by which it is known. */
function withSchema({ name, system, schema }: ChatCall): string {
  const rest = system.split(/\s/u, 1)[0] === name ? system.slice(name.length).trimStart() : system;
  const form = `Answer with one JSON object and nothing else. Its JSON schema: ${JSON.stringify(schema)}`;
  return `${name}\n${form}\n\n${rest}`;
}
