import { setTimeout as sleep } from 'node:timers/promises';
import type { BatchList, BatchState, ConsolidationList } from '@slowwave/contracts';
import type { z } from 'zod';
import { type Ask, listUpTo, withApi, withQuery } from '../api.ts';
import { type Command, countOf, momentOf, oneOf, ownerOf } from '../command.ts';
import { EXIT } from '../exit.ts';
import { type Column, table } from '../output.ts';

type BatchLine = z.infer<typeof BatchList>['results'][number];

const STATES: readonly BatchState[] = ['pending', 'consolidating', 'consolidated', 'empty', 'parked', 'undone'];

const LIMIT_USUAL = 50;
const LIMIT_MAX = 100_000;

export const batchesCommand: Command = {
  name: 'batches',
  usage: '',
  words: [0, 0],
  on: 'server or ledger',
  summary: 'List batches, newest first.',
  about: '',
  options: {
    state: { value: 'STATE', about: `Only those that are ${STATES.join(', ')}.` },
    user: { value: 'ID', about: 'Only batches of this user.' },
    since: {
      value: 'MOMENT',
      about: 'Only batches accepted since this time, e.g. 2026-03-01T09:30:00Z or 30m, 2h, 7d.',
    },
    limit: { value: 'N', about: `Maximum number to list. Default: ${LIMIT_USUAL}.` },
  },
  run: (call) => {
    const { given, out } = call;
    const query = {
      state: oneOf(given, 'state', STATES),
      user_id: given.text('user'),
      since: momentOf(given, 'since'),
    };
    const limit = countOf(given, 'limit', { usual: LIMIT_USUAL, max: LIMIT_MAX });
    return withApi(call, { writes: false }, async (ask) => {
      const { items: batches, more } = await listUpTo<BatchLine>(ask, { path: '/v1/batches', query, limit });
      const rest = more ? '\n… and more; raise --limit to see them' : '';
      out.answer({ batches, more }, table(COLUMNS, batches) + rest);
      return EXIT.done;
    });
  },
};

const COLUMNS: readonly Column<BatchLine>[] = [
  { name: 'accepted', of: ({ timings }) => timings.accepted_at },
  { name: 'batch', of: ({ id }) => id },
  { name: 'owner', of: ownerText },
  { name: 'state', of: ({ state }) => state },
  { name: 'tries', of: ({ attempts }) => attempts },
  { name: 'messages', of: ({ messages }) => messages },
  { name: 'error', of: ({ error }) => error?.code ?? '' },
];

/** Whose it is: the first given of user, agent and run. */
function ownerText({ user_id, agent_id, run_id }: Pick<BatchLine, 'user_id' | 'agent_id' | 'run_id'>): string {
  if (user_id !== null) return `user ${user_id}`;
  return agent_id === null ? `run ${run_id}` : `agent ${agent_id}`;
}

export const flushCommand: Command = {
  name: 'flush',
  usage: '',
  words: [0, 0],
  on: 'server or ledger',
  summary: 'Make the waiting batches of an owner due now.',
  about: '',
  options: {
    user: { value: 'ID', about: 'The user whose batches they are…' },
    agent: { value: 'ID', about: '…or the agent…' },
    run: { value: 'ID', about: '…or the run.' },
  },
  run: (call) => {
    const body = ownerOf(call.given);
    return withApi(call, { writes: true }, async (ask) => {
      const { pending } = await ask<{ pending: number }>({ method: 'POST', path: '/v1/flush', body });
      call.out.answer({ pending }, `${pending} waiting batches are due now.`);
      return EXIT.done;
    });
  },
};

type Batch = z.infer<typeof BatchList>['results'][number];
type Consolidation = z.infer<typeof ConsolidationList>['results'][number];

const POLL_MS = 1_000;
/** More than change within a second on one screen that anybody reads. */
const WATCHED = 200;

export const tailCommand: Command = {
  name: 'tail',
  usage: '',
  words: [0, 0],
  on: 'server or ledger',
  summary: 'Follow batches and consolidations as they change, until Ctrl-C.',
  about: 'One line for every change; with --json one object.',
  options: { user: { value: 'ID', about: 'Only batches of this user.' } },
  run: (call) =>
    withApi(call, { writes: false }, async (ask) => {
      const watch = watcher(ask, call.given.text('user'));
      await watch();
      while (!call.cancel.aborted) {
        for (const change of await watch()) call.out.answer(change, lineOf(change));
        await sleep(POLL_MS, null, { signal: call.cancel }).catch(() => {});
      }
      return EXIT.done;
    }),
};

interface Change {
  readonly kind: 'batch' | 'consolidation';
  readonly id: string;
  readonly owner: string;
  readonly state: string;
  readonly stage: string | null;
  readonly attempts: number;
  readonly error: string | null;
}

/** What has changed since it was asked last; everything at first. */
function watcher(ask: Ask, user: string | null): () => Promise<Change[]> {
  const seen = new Map<string, string>();
  const query = { user_id: user, limit: WATCHED };
  return async () => {
    const batches = await ask<{ results: Batch[] }>({ method: 'GET', path: withQuery('/v1/batches', query) });
    const path = withQuery('/v1/consolidations', query);
    const consolidations = await ask<{ results: Consolidation[] }>({ method: 'GET', path });
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
