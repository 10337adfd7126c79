import type { JsonObject } from '@slowwave/engine';
import type { ScriptedCall } from './script.ts';

interface WireMessage {
  readonly role: string;
  readonly content: string | readonly { readonly type: string; readonly text?: string }[] | null;
}

/** What a chat request asks, without its count. */
export function readCall(request: JsonObject): Omit<ScriptedCall, 'count'> {
  const messages = messagesOf(request);
  const system = messages.filter(isSystem).map(textOf).join('\n');
  const lastUser = messages.findLast(({ role }) => role === 'user');
  const schemaName = (request.response_format as { json_schema?: { name?: string } } | undefined)?.json_schema?.name;
  return {
    name: schemaName ?? system.trim().split(/\s+/u)[0] ?? '',
    input: lastUser === undefined ? null : lastObject(textOf(lastUser)),
    system,
    request,
  };
}

/** All text of a request, to count its tokens. */
export function promptText(request: JsonObject): string {
  return messagesOf(request).map(textOf).join('\n');
}

function messagesOf(request: JsonObject): readonly WireMessage[] {
  return Array.isArray(request.messages) ? (request.messages as unknown as WireMessage[]) : [];
}

function isSystem({ role }: WireMessage): boolean {
  return role === 'system' || role === 'developer';
}

function textOf({ content }: WireMessage): string {
  if (typeof content === 'string') return content;
  return (content ?? []).map(({ text }) => text ?? '').join('\n');
}

/** The longest tail that starts a line with a brace and is one JSON object. */
function lastObject(text: string): JsonObject | null {
  for (const { index } of text.matchAll(/^[ \t]*\{/gmu)) {
    try {
      return JSON.parse(text.slice(index)) as JsonObject;
    } catch {
      // a brace in the prose before it
    }
  }
  return null;
}
