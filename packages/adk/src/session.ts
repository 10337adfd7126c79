import type { Message } from '@slowwave/sdk';

// What is read of ADK's sessions. They are larger; the package itself needs nothing of ADK.

interface Part {
  readonly text?: string | undefined;
  /** What a model only thinks. */
  readonly thought?: boolean | undefined;
  readonly functionCall?: { readonly id?: string; readonly name?: string; readonly args?: object } | undefined;
  readonly functionResponse?: { readonly name?: string; readonly response?: object } | undefined;
  readonly inlineData?: { readonly mimeType?: string } | undefined;
  readonly fileData?: { readonly mimeType?: string } | undefined;
}

export interface SessionEvent {
  readonly id: string;
  /** `user`, or the name of an agent. */
  readonly author?: string | undefined;
  /** In ms. */
  readonly timestamp: number;
  /** A piece of an answer that comes whole later. */
  readonly partial?: boolean | undefined;
  readonly content?: { readonly parts?: readonly Part[] | undefined } | undefined;
}

export interface Session {
  readonly id: string;
  readonly appName: string;
  readonly userId: string;
  readonly events: readonly SessionEvent[];
}

/** ADK's tool that searches a memory service. What it found is remembered already. */
const OWN_TOOL = 'load_memory';

/** What was said in an event of a session, under ids that make it count once. */
export function messagesIn(session: Pick<Session, 'id'>, event: SessionEvent): Message[] {
  const parts = event.content?.parts ?? [];
  if (event.partial === true || parts.length === 0) return [];
  const said = event.author === 'user' ? spoken('user', parts) : [...spoken('assistant', parts), ...printed(parts)];
  const timestamp = new Date(event.timestamp).toISOString();
  return said.map((message, index) => ({ ...message, timestamp, id: `${session.id}/${event.id}/${index}` }));
}

function spoken(role: 'user' | 'assistant', parts: readonly Part[]): Message[] {
  const content = parts.map(textOf).filter((text) => text !== '');
  const tool_calls = parts.flatMap(({ functionCall: call }) =>
    call === undefined || call.name === OWN_TOOL
      ? []
      : [{ id: call.id, type: 'function', function: { name: call.name, arguments: JSON.stringify(call.args ?? {}) } }],
  );
  if (content.length === 0 && tool_calls.length === 0) return [];
  return [{ role, content: content.join('\n'), ...(tool_calls.length > 0 && { tool_calls }) }];
}

/** Of images and files, that they were there: what is in them would need a model to look at it. */
function textOf({ text, thought, inlineData, fileData }: Part): string {
  const file = inlineData ?? fileData;
  if (file !== undefined) return `[file: ${file.mimeType ?? 'unknown'}]`;
  return thought === true ? '' : (text ?? '');
}

const printed = (parts: readonly Part[]): Message[] =>
  parts.flatMap(({ functionResponse: answer }) =>
    answer === undefined || answer.name === OWN_TOOL
      ? []
      : [{ role: 'tool', name: answer.name, content: JSON.stringify(answer.response ?? {}) }],
  );
