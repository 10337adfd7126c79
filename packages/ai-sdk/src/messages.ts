import { CHAT_TOOLS, type Message } from '@slowwave/sdk';
import type { LanguageModelMiddleware } from 'ai';

type Wrap = Parameters<NonNullable<LanguageModelMiddleware['wrapGenerate']>>[0];
export type Prompt = Wrap['params']['prompt'];
type PromptMessage = Prompt[number];
type PromptPart = Exclude<PromptMessage['content'], string>[number];
/** What a model answered. */
export type Content = Awaited<ReturnType<Wrap['doGenerate']>>['content'];
type Part = PromptPart | Content[number];

/** The messages of a prompt as Slowwave reads them, without those of the system. */
export const messagesOf = (prompt: Prompt): Message[] => prompt.flatMap(messagesIn);

/**
 * What nobody has posted yet: all after the model's last answer. So each step of a loop of tools, and each turn of a
 * conversation, posts its own part alone, whichever process it runs in.
 */
export function splitAtLastAnswer(prompt: Prompt): { readonly before: Prompt; readonly added: Prompt } {
  const from = prompt.findLastIndex(({ role }) => role === 'assistant') + 1;
  return { before: prompt.slice(0, from), added: prompt.slice(from) };
}

/** Whether a prompt only goes on with a loop of tools, after the same words of the user. */
export const isContinued = (prompt: Prompt): boolean => prompt.at(-1)?.role === 'tool';

/** A prompt up to the user's last words. */
export const upToLastSaid = (prompt: Prompt): Prompt =>
  prompt.slice(0, prompt.findLastIndex(({ role }) => role === 'user') + 1);

export const answerOf = (content: Content): Message[] => [...spoken(content), ...results(content)];

function messagesIn(message: PromptMessage): Message[] {
  switch (message.role) {
    case 'system':
      return [];
    case 'user':
      return textOf(message.content) === '' ? [] : [{ role: 'user', content: textOf(message.content) }];
    case 'assistant':
      return [...spoken(message.content), ...results(message.content)];
    case 'tool':
      return results(message.content);
  }
}

function spoken(parts: readonly Part[]): Message[] {
  const content = textOf(parts);
  const calls = parts.flatMap((part) => (part.type === 'tool-call' && !CHAT_TOOLS.has(part.toolName) ? [part] : []));
  if (content === '' && calls.length === 0) return [];
  const tool_calls = calls.map(({ toolCallId, toolName, input }) => ({
    id: toolCallId,
    type: 'function',
    function: { name: toolName, arguments: typeof input === 'string' ? input : JSON.stringify(input) },
  }));
  return [{ role: 'assistant', content, ...(calls.length > 0 && { tool_calls }) }];
}

/** What tools printed. What this package's own tools found is remembered already. */
function results(parts: readonly Part[]): Message[] {
  return parts.flatMap((part): Message[] => {
    if (part.type !== 'tool-result' || CHAT_TOOLS.has(part.toolName)) return [];
    const content = 'output' in part ? outputOf(part.output) : printed(part.result);
    return content === '' ? [] : [{ role: 'tool', name: part.toolName, content }];
  });
}

type Output = Extract<PromptPart, { type: 'tool-result' }>['output'];

function outputOf(output: Output): string {
  switch (output.type) {
    case 'content':
      return textOf(output.value.flatMap((part) => (part.type === 'custom' ? [] : [part])));
    case 'execution-denied':
      return '';
    default:
      return printed(output.value);
  }
}

const printed = (value: unknown): string => (typeof value === 'string' ? value : (JSON.stringify(value) ?? ''));

interface AnyPart {
  readonly type: string;
  readonly text?: string;
  readonly mediaType?: string;
  readonly filename?: string;
}

/** Of a file, that it was there: what is in it would need a model to look at it. */
function textOf(parts: readonly AnyPart[]): string {
  const texts = parts.map(({ type, text, mediaType, filename }) => {
    if (type === 'text') return text ?? '';
    return type === 'file' ? `[file: ${[filename, mediaType].filter((one) => one !== undefined).join(', ')}]` : '';
  });
  return texts.filter((text) => text !== '').join('\n');
}
