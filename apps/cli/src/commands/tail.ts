import { setTimeout as sleep } from 'node:timers/promises';
import type { BatchList, ConsolidationList } from '@slowwave/contracts';
import type { z } from 'zod';
import { withQuery } from '../api/api.ts';
import { type Ask, withApi } from '../api/ask.ts';
import type { Command } from '../command.ts';
import { EXIT } from '../exit.ts';
import { ownerText } from './batches.ts';

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
