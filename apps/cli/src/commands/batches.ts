import { setTimeout as sleep } from 'node:timers/promises';
import { type BatchList, BatchState, type ConsolidationList } from '@slowwave/contracts';
import type { z } from 'zod';
import { withQuery } from '../api.ts';
import { type Call, type Command, momentOf, OWNER, oneOf, ownerOf, SINCE, USER } from '../command.ts';
import { type Column, LIMIT, listing } from '../output.ts';

type Batch = z.infer<typeof BatchList>['results'][number];
type Consolidation = z.infer<typeof ConsolidationList>['results'][number];

export const batchesCommand: Command = {
  name: 'batches',
  summary: 'List batches, newest first.',
  options: {
    state: { value: 'STATE', about: `Only those that are ${BatchState.options.join(', ')}.` },
    user: USER,
    since: SINCE,
    limit: LIMIT,
  },
  run: async (call) => {
    const { given } = call;
    const query = {
      state: oneOf(given, 'state', BatchState.options),
      user_id: given.text('user'),
      since: momentOf(given, 'since'),
    };
    const { items: batches, more, text } = await listing(call, { path: '/v1/batches', query, columns: COLUMNS });
    return { value: { batches, more }, text: batches.length === 0 ? 'No batches found.' : text };
  },
};

const COLUMNS: readonly Column<Batch>[] = [
  { name: 'accepted', of: ({ timings }) => timings.accepted_at },
  { name: 'batch', of: ({ id }) => id },
  { name: 'owner', of: ownerText },
  { name: 'state', of: ({ state }) => state },
  { name: 'tries', of: ({ attempts }) => attempts },
  { name: 'messages', of: ({ messages }) => messages },
  { name: 'error', of: ({ error }) => error?.code ?? '' },
];

/** The owner: the first of user, agent and run that is set. */
function ownerText({ user_id, agent_id, run_id }: Pick<Batch, 'user_id' | 'agent_id' | 'run_id'>): string {
  if (user_id !== null) return `user ${user_id}`;
  return agent_id === null ? `run ${run_id}` : `agent ${agent_id}`;
}

export const flushCommand: Command = {
  name: 'flush',
  summary: 'Make the waiting batches of an owner due now.',
  writes: true,
  options: OWNER,
  run: async ({ ask, given }) => {
    const { pending } = await ask<{ pending: number }>('POST', '/v1/flush', ownerOf(given));
    return { value: { pending }, text: `${pending} waiting batches are due now.` };
  },
};

const POLL_MS = 1_000;
/** More than anybody can read on one screen within a second. */
const WATCHED = 200;

export const tailCommand: Command = {
  name: 'tail',
  summary: 'Follow batches and consolidations as they change, until Ctrl-C.',
  about: 'Prints one line per change; with --json one object.',
  options: { user: USER },
  run: async (call) => {
    await follow(call).catch((error: unknown) => {
      if (!call.cancel.aborted) throw error; // it only ends by Ctrl-C, also in the middle of a request
    });
    return null;
  },
};

async function follow(call: Call): Promise<void> {
  const { cancel, out } = call;
  const watch = watcher(call);
  await watch();
  while (!cancel.aborted) {
    for (const change of await watch()) out.answer(change, lineOf(change));
    await sleep(POLL_MS, null, { signal: cancel });
  }
}

interface Change {
  readonly kind: 'batch' | 'consolidation';
  readonly id: string;
  readonly owner: string;
  readonly state: string;
  readonly stage: string | null;
  readonly attempts: number;
  readonly error: string | null;
}

/** Returns what has changed since the last call; everything at first. */
function watcher({ ask, given }: Call): () => Promise<Change[]> {
  const seen = new Map<string, string>();
  const query = { user_id: given.text('user'), limit: WATCHED };
  return async () => {
    const batches = await ask<{ results: Batch[] }>('GET', withQuery('/v1/batches', query));
    const consolidations = await ask<{ results: Consolidation[] }>('GET', withQuery('/v1/consolidations', query));
    const all = [
      ...batches.results.map((batch) => changeOf('batch', batch)),
      ...consolidations.results.map((one) => changeOf('consolidation', one)),
    ];
    const changes = all.filter((change) => seen.get(change.id) !== JSON.stringify(change)).reverse();
    for (const change of changes) seen.set(change.id, JSON.stringify(change));
    return changes;
  };
}

const changeOf = (kind: Change['kind'], of: Batch | Consolidation): Change => ({
  kind,
  id: of.id,
  owner: ownerText(of),
  state: of.state,
  stage: 'stage' in of ? of.stage : null,
  attempts: of.attempts,
  error: of.error?.code ?? null,
});

function lineOf({ kind, id, owner, state, stage, attempts, error }: Change): string {
  const time = new Date().toISOString().slice('2026-01-01T'.length, '2026-01-01T00:00:00'.length);
  const where = stage === null || stage === 'done' ? state : `${state} (${stage})`;
  const tries = attempts === 0 ? '' : `, ${attempts} tries`;
  return `${time}  ${kind} ${id}  ${owner}  ${where}${tries}${error === null ? '' : `, ${error}`}`;
}
