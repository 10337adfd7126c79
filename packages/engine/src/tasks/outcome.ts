import type { StepState, TaskDocument, TaskStep } from './task.ts';

/** In characters: a memory is to be read at a glance. */
const TEXT_MAX = 1_000;

/**
 * What a run that ended came to, in the words of its state alone: the goal, then the steps by how they ended. Steps that do not fit are
 * counted. null: the state says nothing that a person could read.
 */
export function outcomeOf({ goal, steps = [] }: TaskDocument): string | null {
  const task = goal === undefined || goal.trim() === '' ? [] : [`Task: ${withEnd(onOneLine(goal))}`];
  const lines = ENDINGS.flatMap(({ name, states }) => {
    const found = steps.filter(({ state, title }) => states.includes(state) && title.trim() !== '');
    return found.length === 0 ? [] : [{ name, steps: found.map(stepOf) }];
  });
  const parts = [...task, ...lines.map(({ name, steps: done }) => withEnd(`${name}: ${fitting(done)}`))];
  if (parts.length === 0) return null;
  const [first = '', ...others] = parts;
  const text = others.reduce((so, part) => (so.length + part.length < TEXT_MAX ? `${so} ${part}` : so), first);
  return [...text].length > TEXT_MAX ? `${[...text].slice(0, TEXT_MAX - 1).join('')}…` : text;
}

const ENDINGS: readonly { readonly name: string; readonly states: readonly StepState[] }[] = [
  { name: 'Done', states: ['done'] },
  { name: 'Failed', states: ['failed'] },
  { name: 'Skipped', states: ['skipped'] },
  { name: 'Left open', states: ['running', 'waiting_for_approval', 'pending'] },
];

const stepOf = ({ title, result }: TaskStep): string =>
  result === undefined || result.trim() === '' ? onOneLine(title) : `${onOneLine(title)} → ${onOneLine(result)}`;

/** Of all that ended in one way, as many as a quarter of the text holds; at least one. */
function fitting(steps: readonly string[]): string {
  const shown: string[] = [];
  for (const step of steps) {
    if (shown.length > 0 && [...shown, step].join('; ').length > TEXT_MAX / ENDINGS.length) break;
    shown.push(step);
  }
  const left = steps.length - shown.length;
  return left === 0 ? shown.join('; ') : `${shown.join('; ')}; and ${left} more`;
}

const onOneLine = (text: string): string => text.replace(/\s+/gu, ' ').trim();

const withEnd = (sentence: string): string => (/[.!?…。]$/u.test(sentence) ? sentence : `${sentence}.`);
