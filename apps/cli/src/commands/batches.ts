import { setTimeout as sleep } from 'node:timers/promises';
import { type BatchList, BatchState, type ConsolidationList } from '@slowwave/contracts';
import type { z } from 'zod';
import { withQuery } from '../api.ts';
import { type Call, type Command, momentOf, OWNER, oneOf, ownerOf, SINCE, USER } from '../command.ts';
import { UsageError } from '../exit.ts';
import { type Columns, LIMIT, listed, pairs } from '../output.ts';

type Batch = z.infer<typeof BatchList>['results'][number];
type Consolidation = z.infer<typeof ConsolidationList>['results'][number];

export const batchCommands: readonly Command[] = [
  {
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
  },
  {
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
      return listed(call, { path: '/v1/batches', query, columns: COLUMNS, as: 'batches', none: 'No batches found.' });
    },
  },
  {
    name: 'show',
    usage: '<id>',
    summary: 'Show a batch, a consolidation with its plan, or a memory, an entity or a relation with its history.',
    about: 'The prefix of the id determines the kind: bat_…, con_…, mem_…, ent_… (an entity), sta_… (a relation).',
    run: async ({ given, ask }) => {
      const [id = ''] = given.words;
      const paths = PATHS[id.split('_')[0] ?? '']?.(encodeURIComponent(id));
      if (paths === undefined)
        throw new UsageError(`expected an id like bat_…, con_…, mem_…, ent_… or sta_…, got "${id}"`, 'show');
      const shown: Record<string, unknown> = {};
      for (const [name, path] of Object.entries(paths)) shown[name] = await ask('GET', path);
      const parts = Object.values(shown).map((value) => outline(value));
      return { value: shown, text: parts.join('\n\n') };
    },
  },
];

const COLUMNS: Columns<Batch> = {
  accepted: ({ timings }) => timings.accepted_at,
  batch: 'id',
  owner: ownerText,
  state: 'state',
  tries: 'attempts',
  messages: 'messages',
  error: ({ error }) => error?.code ?? '',
};

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

/** What is shown of each kind, by the prefix of its ids. */
const PATHS: Readonly<Record<string, (id: string) => Readonly<Record<string, string>>>> = {
  bat: (id) => ({ batch: `/v1/batches/${id}` }),
  con: (id) => ({ consolidation: `/v1/consolidations/${id}` }),
  ent: (id) => ({ entity: `/v1/entities/${id}`, history: `/v1/entities/${id}/history` }),
  mem: (id) => ({ memory: `/v1/memories/${id}`, history: `/v1/memories/${id}/history` }),
  sta: (id) => ({ relation: `/v1/relations/${id}`, history: `/v1/relations/${id}/history` }),
};

/** Plain values below each other; nested ones under their name. */
function outline(value: unknown, indent = ''): string {
  if (typeof value !== 'object' || value === null) return `${indent}${String(value)}`;
  const entries = Object.entries(value).filter(([name, part]) => name !== 'next_cursor' || part !== null);
  const plain = entries.filter(([, part]) => typeof part !== 'object' || part === null);
  const nested = entries.filter(
    ([, part]) => typeof part === 'object' && part !== null && Object.keys(part).length > 0,
  );
  const lines = plain.length === 0 ? [] : pairs(plain.map(([name, part]) => [name, textOf(part)])).split('\n');
  return [
    ...lines.map((line) => indent + line),
    ...nested.map(([name, part]) => `${indent}${name}:\n${outline(part, `${indent}  `)}`),
  ].join('\n');
}

const textOf = (part: unknown): string | number | null =>
  part === null || typeof part === 'number' ? part : String(part);
