import type { AgentInputItem, AgentOutputItem, ModelRequest } from '@openai/agents-core';
import { CHAT_TOOLS, type Message } from '@slowwave/sdk';

type Item = AgentInputItem | AgentOutputItem;

/** What a model is asked, as items. */
export const itemsOf = (input: ModelRequest['input']): readonly AgentInputItem[] =>
  typeof input === 'string' ? [{ role: 'user', content: input }] : input;

/** The items as messages, without those of the system and without what a model only thinks. */
export const messagesOf = (items: readonly Item[]): Message[] => items.flatMap(messagesIn);

/**
 * What nobody has posted yet: all after the model's last answer. So each step of a loop of tools, and each turn of a
 * conversation, posts its own part alone, whichever process it runs in.
 */
export function splitAtLastAnswer<T extends Item>(items: readonly T[]): { readonly before: T[]; readonly added: T[] } {
  const from = items.findLastIndex((item) => !isGiven(item)) + 1;
  return { before: items.slice(0, from), added: items.slice(from) };
}

/** Whether the model is only given what its tools found, after the same words of the user. */
export const isContinued = (items: readonly Item[]): boolean => isResult(items.at(-1));

/** The items up to the user's last words. */
export const upToLastSaid = <T extends Item>(items: readonly T[]): T[] =>
  items.slice(0, items.findLastIndex((item) => 'role' in item && item.role === 'user') + 1);

/** What does not come from the model. */
const isGiven = (item: Item): boolean => ('role' in item ? item.role !== 'assistant' : isResult(item));

const isResult = (item: Item | undefined): boolean => /_(?:result|output)$/.test(item?.type ?? '');

function messagesIn(item: Item): Message[] {
  if ('role' in item) {
    const content = typeof item.content === 'string' ? item.content : textOf(item.content);
    return item.role === 'system' || content === '' ? [] : [{ role: item.role, content }];
  }
  switch (item.type) {
    case 'function_call': {
      const call = { id: item.callId, type: 'function', function: { name: item.name, arguments: item.arguments } };
      return CHAT_TOOLS.has(item.name) ? [] : [{ role: 'assistant', content: '', tool_calls: [call] }];
    }
    case 'function_call_result':
      return CHAT_TOOLS.has(item.name) ? [] : printed(item.name, textOf([item.output].flat()));
    case 'hosted_tool_call':
      return printed(item.name, item.output ?? '');
    default:
      return [];
  }
}

const printed = (name: string, content: string): Message[] => (content === '' ? [] : [{ role: 'tool', name, content }]);

interface Part {
  readonly type: string;
  readonly text?: string;
  readonly refusal?: string;
  readonly transcript?: string | null | undefined;
}

/** Of images and files, that they were there: what is in them would need a model to look at it. */
function textOf(parts: readonly (string | Part)[]): string {
  const texts = parts.map((part) => {
    if (typeof part === 'string') return part;
    return part.text ?? part.refusal ?? part.transcript ?? `[${part.type.replace('input_', '')}]`;
  });
  return texts.filter((text) => text !== '').join('\n');
}
