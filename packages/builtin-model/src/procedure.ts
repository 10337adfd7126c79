import type { JsonObject } from '@slowwave/engine';
import { listOf, objectOf, textOf } from './shapes.ts';

/** Every step of an agent's run, numbered, with what came out of it word for word. */
export function summarizeProcedure(input: JsonObject): JsonObject {
  const steps = listOf(input.messages)
    .map(objectOf)
    .filter(({ role, content }) => role !== 'system' && textOf(content).trim() !== '');
  const lines = steps.map(({ role, name, content }, i) => {
    const who = textOf(name) === '' ? textOf(role) : `${textOf(role)} ${textOf(name)}`;
    return `${i + 1}. ${who}: ${textOf(content)}`;
  });
  return { summary: lines.join('\n') };
}
