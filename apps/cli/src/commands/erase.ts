import { setTimeout as sleep } from 'node:timers/promises';
import type { ErasureAccepted, ErasureView } from '@slowwave/contracts';
import type { z } from 'zod';
import { type Call, type Command, type Given, isOffline } from '../command.ts';
import { UsageError } from '../exit.ts';

export const eraseCommand: Command = {
  name: 'erase',
  usage: '[user id]',
  writes: true,
  summary: 'Erase a user, an agent or a run: everything it owns and everything derived from it.',
  about: `This cannot be undone and therefore requires --yes. A worker erases in the background; offline
the erasure is only requested, and runs once a worker runs. Backups are not changed. Erasing an
agent or a run keeps what users own: only what was said without a user is erased.`,
  options: {
    agent: { value: 'ID', about: 'An agent instead of a user,' },
    run: { value: 'ID', about: 'or a run.' },
    yes: { value: null, about: 'Confirm the erasure.' },
    'no-wait': { value: null, about: 'Do not wait for completion.' },
  },
  run: async (call) => {
    const { given, ask } = call;
    const { kind, id } = erasedBy(given);
    if (!given.flag('yes'))
      throw new UsageError(`expected --yes: this permanently erases everything that ${kind} ${id} owns`, 'erase');
    const accepted = await ask<z.infer<typeof ErasureAccepted>>('DELETE', `/v1/${kind}s/${encodeURIComponent(id)}`);
    if (given.flag('no-wait') || isOffline(call))
      return { value: accepted, text: `Erasure ${accepted.erasure_id} requested; a worker will run it.` };
    const erasure = await follow(call, accepted.status_url);
    return { value: erasure, text: textOf(erasure) };
  },
};

/** Exactly one owner: an erasure by mistake cannot be undone. */
function erasedBy(given: Given): { readonly kind: string; readonly id: string } {
  const [user = null] = given.words;
  const named = Object.entries({ user, agent: given.text('agent'), run: given.text('run') });
  const [one, ...more] = named.flatMap(([kind, id]) => (id === null ? [] : [{ kind, id }]));
  if (one !== undefined && more.length === 0) return one;
  throw new UsageError('expected one of a user id, --agent, --run', 'erase');
}

const POLL_MS = 500;

async function follow({ ask, cancel }: Call, path: string): Promise<ErasureView> {
  for (;;) {
    const erasure = await ask<ErasureView>('GET', path);
    if (erasure.state === 'erased') return erasure;
    await sleep(POLL_MS, null, { signal: cancel });
  }
}

function textOf({ id, counts, remains }: ErasureView): string {
  const erased = Object.entries(counts).map(([name, count]) => `${count} ${name}`);
  const rest = remains.map((one) => `\n  remaining: ${one}`).join('');
  return `Erased (${id}): ${erased.length === 0 ? 'there was nothing' : erased.join(', ')}.${rest}`;
}
