import type { ChatCall } from '@slowwave/engine';
import type {
  ChatCompletionContentPart,
  ChatCompletionCreateParamsNonStreaming,
} from 'openai/resources/chat/completions';
import { type Complaint, complainsAbout } from './complaint.ts';

/** How an answer's form is asked for, best first. */
const FORMATS = ['json_schema', 'json_object', 'text'] as const;

/** What a server is known to take. It starts with everything and only ever shrinks. */
export interface Manners {
  readonly format: (typeof FORMATS)[number];
  readonly temperature: boolean;
}

export const FULL_MANNERS: Manners = { format: 'json_schema', temperature: true };

const ABOUT_FORMAT =
  /response.?format|json.?schema|json.?object|json.?mode|structured.?output|guided|grammar|output_config/iu;
const ABOUT_TEMPERATURE = /temperature/iu;

/** The same manners without what the server complains about; null when that is something else. */
export function withoutRefused(manners: Manners, complaint: Complaint): Manners | null {
  if (manners.temperature && complainsAbout(complaint, ABOUT_TEMPERATURE)) return { ...manners, temperature: false };
  const lesser = FORMATS[FORMATS.indexOf(manners.format) + 1];
  if (lesser !== undefined && complainsAbout(complaint, ABOUT_FORMAT)) return { ...manners, format: lesser };
  return null;
}

/** The least of both: what two calls learnt at the same time. */
export function combine(a: Manners, b: Manners): Manners {
  const format = FORMATS.indexOf(a.format) > FORMATS.indexOf(b.format) ? a.format : b.format;
  return { format, temperature: a.temperature && b.temperature };
}

/** The request for a call, in the manners of its server. */
export function chatRequest(model: string, call: ChatCall, manners: Manners): ChatCompletionCreateParamsNonStreaming {
  const system = manners.format === 'json_schema' ? call.system : withSchema(call);
  return {
    model,
    messages: [
      { role: 'system', content: system.toWellFormed() },
      { role: 'user', content: userContent(call) },
    ],
    ...(manners.temperature ? { temperature: 0 } : {}),
    ...formatOf(call, manners),
  };
}

function userContent({ user, images = [] }: ChatCall): string | ChatCompletionContentPart[] {
  const text = user.toWellFormed();
  if (images.length === 0) return text;
  // The text comes last: it ends with the input, by which a call is understood.
  return [...images.map((url) => ({ type: 'image_url' as const, image_url: { url } })), { type: 'text', text }];
}

function formatOf(call: ChatCall, { format }: Manners): Partial<ChatCompletionCreateParamsNonStreaming> {
  if (format === 'text') return {};
  if (format === 'json_object') return { response_format: { type: 'json_object' } };
  const { name, schema } = call;
  return { response_format: { type: 'json_schema', json_schema: { name, strict: true, schema } } };
}

/** Without a schema in the request, the prompt has to carry it. Its first word is the call's name, by which it is known. */
function withSchema({ name, system, schema }: ChatCall): string {
  const rest = system.split(/\s/u, 1)[0] === name ? system.slice(name.length).trimStart() : system;
  const form = `Answer with one JSON object and nothing else. Its JSON schema: ${JSON.stringify(schema)}`;
  return `${name}\n${form}\n\n${rest}`;
}
