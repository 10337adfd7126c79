import { maskPersonal, metadataKept } from '../masking/personal.ts';
import { maskSecrets } from '../masking/secrets.ts';
import type { PersonalPolicy } from '../settings.ts';
import type { Json, JsonObject } from '../words.ts';

export const STEP_STATES = ['pending', 'running', 'waiting_for_approval', 'done', 'failed', 'skipped'] as const;
export type StepState = (typeof STEP_STATES)[number];

/** One step of a plan. */
export interface TaskStep {
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
export interface TaskPatch {
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
  const kept = policy === 'off' ? data : metadataKept(data);
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
