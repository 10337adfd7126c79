import { setTimeout as sleep } from 'node:timers/promises';
import type { ErasureAccepted, ErasureView } from '@slowwave/contracts';
import type { z } from 'zod';
import { type Ask, withApi } from '../api.ts';
import { type Call, type Command, type Given, isOffline } from '../command.ts';
import { EXIT, UsageError } from '../exit.ts';

export const eraseCommand: Command = {
  name: 'erase',
  usage: '[user id]',
  words: [0, 1],
  on: 'server or ledger',
  summary: 'Erase a user, an agent or a run: everything it owns and everything derived from it.',
  about: `It cannot be undone, and asks for --yes therefore. A worker does it in the background;
offline it is only asked for, and done when a worker runs. Backups are not touched, and neither is
what others own: of an agent or a run goes what was said without a user.`,
  options: {
    agent: { value: 'ID', about: 'An agent instead of a user…' },
    run: { value: 'ID', about: '…or a run.' },
    yes: { value: null, about: 'Really.' },
    'no-wait': { value: null, about: 'Do not wait for completion.' },
  },
  run: (call) => {
    const { given, out } = call;
    const { kind, id } = erasedBy(given);
    if (!given.flag('yes'))
      throw new UsageError(`expected --yes: this permanently erases everything that ${kind} ` + `${id} owns`, 'erase');
    return withApi(call, { writes: true }, async (ask) => {
      const path = `/v1/${kind}s/${encodeURIComponent(id)}`;
      const accepted = await ask<z.infer<typeof ErasureAccepted>>({ method: 'DELETE', path });
      if (given.flag('no-wait') || isOffline(call)) {
        out.answer(accepted, `Erasure ${accepted.erasure_id} requested; a worker will run it.`);
        return EXIT.done;
      }
      const erasure = await follow(call, ask, accepted.status_url);
      out.answer(erasure, told(erasure));
      return EXIT.done;
    });
  },
};

/** Exactly one: what is erased by mistake does not come back. */
function erasedBy(given: Given): { readonly kind: string; readonly id: string } {
  const [user = null] = given.words;
  const named = Object.entries({ user, agent: given.text('agent'), run: given.text('run') });
  const [one, ...more] = named.flatMap(([kind, id]) => (id === null ? [] : [{ kind, id }]));
  if (one !== undefined && more.length === 0) return one;
  throw new UsageError('expected one of a user id, --agent, --run', 'erase');
}

const POLL_MS = 500;

async function follow({ cancel }: Call, ask: Ask, path: string): Promise<ErasureView> {
  for (;;) {
    const erasure = await ask<ErasureView>({ method: 'GET', path });
    if (erasure.state === 'erased') return erasure;
    await sleep(POLL_MS, null, { signal: cancel });
  }
}

function told({ id, counts, remains }: ErasureView): string {
  const gone = Object.entries(counts).map(([name, count]) => `${count} ${name}`);
  const rest = remains.map((one) => `\n  still there: ${one}`).join('');
  return `Erased (${id}): ${gone.length === 0 ? 'there was nothing' : gone.join(', ')}.${rest}`;
}
