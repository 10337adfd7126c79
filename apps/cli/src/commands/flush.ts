import { withApi } from '../api/ask.ts';
import { ownerOf } from '../arguments.ts';
import type { Command } from '../command.ts';
import { EXIT } from '../exit.ts';

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
