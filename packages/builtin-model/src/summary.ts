import type { JsonObject } from '@slowwave/engine';
import { wishToForget } from './extract/extract.ts';
import { sentencesOf } from './extract/sentences.ts';
import { listOf, objectOf, textOf } from './input.ts';

/** A summary is context for later calls: its last statements matter most. */
const STATEMENTS_MAX = 12;
const SUMMARY_CHARS_MAX = 1_200;

/** What was summed up so far and what the user said since: the last statements, one a line. A wish to forget would remind. */
export function refreshSummary(input: JsonObject): JsonObject {
  const before = textOf(input.summary).split('\n');
  const said = listOf(input.messages)
    .map(objectOf)
    .filter(({ role }) => role === 'user')
    .flatMap(({ content }) => sentencesOf(textOf(content)))
    .filter(({ question, text }) => !question && wishToForget(text, () => []) === null)
    .map(({ text }) => text);
  const lines = [...new Set([...before, ...said].map((line) => line.trim()).filter((line) => line !== ''))];
  return { summary: fitting(lines.slice(-STATEMENTS_MAX)).join('\n') };
}

/** As many of the last lines as there is room for. */
function fitting(lines: readonly string[]): readonly string[] {
  let room = SUMMARY_CHARS_MAX;
  const from = lines.findLastIndex((line) => {
    room -= line.length + 1;
    return room < 0;
  });
  return lines.slice(from + 1);
}

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
