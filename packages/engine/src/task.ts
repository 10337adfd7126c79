import { maskPersonal, valuesMasked } from './masking/personal.ts';
import { maskSecrets } from './masking/secrets.ts';
import type { PersonalPolicy } from './settings.ts';
import type { Json, JsonObject } from './words.ts';

const STEP_STATES = ['pending', 'running', 'waiting_for_approval', 'done', 'failed', 'skipped'] as const;
type StepState = (typeof STEP_STATES)[number];

/** One step of a plan. */
interface TaskStep {
  readonly id: string;
  readonly title: string;
  readonly state: StepState;
  /** What came of it. */
  readonly result?: string | undefined;
  /** A person has to approve it before it is done. */
  readonly needs_approval?: boolean | undefined;
}

/** What a run works on. */
export interface TaskDocument {
  readonly goal?: string | undefined;
  readonly steps?: readonly TaskStep[] | undefined;
  /** Whatever else the program needs to go on. */
  readonly data?: JsonObject | undefined;
}

/** Changes to a document: what is left out stays, and null removes. */
interface TaskPatch {
  readonly goal?: string | null | undefined;
  /** By their ids; those that are not there yet come last. */
  readonly steps?: readonly StepPatch[] | undefined;
  readonly remove_steps?: readonly string[] | undefined;
  /** Field by field of the first level. */
  readonly data?: JsonObject | undefined;
}

interface StepPatch {
  readonly id: string;
  readonly title?: string | undefined;
  readonly state?: StepState | undefined;
  readonly result?: string | null | undefined;
  readonly needs_approval?: boolean | undefined;
}

/** The document after a change. A new step without a title or state is left as it is: whoever asks checks the whole. */
export function patchedTask(document: TaskDocument, patch: TaskPatch): JsonObject {
  const goal = patch.goal === undefined ? document.goal : patch.goal;
  const steps = new Map((document.steps ?? []).map((step): [string, object] => [step.id, step]));
  for (const step of patch.steps ?? []) steps.set(step.id, { state: 'pending', ...steps.get(step.id), ...given(step) });
  for (const id of patch.remove_steps ?? []) steps.delete(id);
  const data = { ...document.data, ...patch.data };
  return withoutNothing({ goal, steps: [...steps.values()].map(withoutNothing), data: withoutNothing(data) });
}

const given = (step: StepPatch): object =>
  Object.fromEntries(Object.entries(step).filter(([, value]) => value !== undefined));

const withoutNothing = (fields: object): JsonObject =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined && value !== null));

/** A document as it is stored: secrets are masked always, personal data as the tenant's policy says. Ids of steps stay. */
export function maskedTask({ goal, steps = [], data = {} }: TaskDocument, policy: PersonalPolicy): JsonObject {
  const masked = (text: string): string => {
    const { text: open } = maskSecrets(text);
    return policy === 'off' ? open : maskPersonal(open).text;
  };
  const kept = policy === 'off' ? data : valuesMasked(data);
  return withoutNothing({
    ...(goal !== undefined && { goal: masked(goal) }),
    steps: steps.map(({ id, title, state, result, needs_approval }) =>
      withoutNothing({
        id,
        title: masked(title),
        state,
        result: result === undefined ? undefined : masked(result),
        needs_approval,
      }),
    ),
    data: Object.fromEntries(Object.entries(kept).map(([name, value]) => [name, withoutSecrets(value)])),
  });
}

function withoutSecrets(value: Json): Json {
  if (typeof value === 'string') return maskSecrets(value).text;
  if (Array.isArray(value)) return value.map(withoutSecrets);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, withoutSecrets(inner)]));
}

/** The steps that wait for a person, by their ids. */
export const waitingForApproval = ({ steps = [] }: TaskDocument): string[] =>
  steps.filter(({ state }) => state === 'waiting_for_approval').map(({ id }) => id);

/** What a prompt shows of it, line by line; what matters most first: the goal, what is open, then what is done. */
export function taskLines({ goal, steps = [] }: TaskDocument): readonly string[] {
  const line = ({ title, state, result }: TaskStep): string =>
    `${SAID[state]}: ${title}${result === undefined ? '' : ` → ${result}`}`;
  const open = steps.filter(({ state }) => OPEN.includes(state));
  const over = steps.filter(({ state }) => !OPEN.includes(state));
  return [...(goal === undefined ? [] : [`goal: ${goal}`]), ...open.map(line), ...over.map(line)];
}

const OPEN: readonly StepState[] = ['running', 'waiting_for_approval', 'pending'];

const SAID: Readonly<Record<StepState, string>> = {
  pending: 'to do',
  running: 'running',
  waiting_for_approval: 'waiting for approval',
  done: 'done',
  failed: 'failed',
  skipped: 'skipped',
};

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
