import { setTimeout as sleep } from 'node:timers/promises';
import type { ErasureAccepted, ErasureView } from '@slowwave/contracts';
import type { z } from 'zod';
import { type Ask, withApi } from '../api/ask.ts';
import { type Call, type Command, isOffline } from '../command.ts';
import { EXIT, UsageError } from '../exit.ts';

export const eraseCommand: Command = {
  name: 'erase',
  usage: '<user id>',
  words: [1, 1],
  on: 'server or ledger',
  summary: 'Erase a user: everything they said and everything that was made of it.',
  about: `It cannot be undone, and asks for --yes therefore. A worker does it in the background;
offline it is only asked for, and done when a worker runs. Backups are not touched.`,
  options: {
    yes: { value: null, about: 'Really.' },
    'no-wait': { value: null, about: 'Do not wait until it is done.' },
  },
  run: (call) => {
    const { given, out } = call;
    const [user = ''] = given.words;
    if (!given.flag('yes')) throw new UsageError(`expected --yes: all there is of user ${user} goes for good`, 'erase');
    return withApi(call, { writes: true }, async (ask) => {
      const path = `/v1/users/${encodeURIComponent(user)}`;
      const accepted = await ask<z.infer<typeof ErasureAccepted>>({ method: 'DELETE', path });
      if (given.flag('no-wait') || isOffline(call)) {
        out.answer(accepted, `Erasure ${accepted.erasure_id} is asked for; a worker does it.`);
        return EXIT.done;
      }
      const erasure = await follow(call, ask, accepted.status_url);
      out.answer(erasure, told(erasure));
      return EXIT.done;
    });
  },
};

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
