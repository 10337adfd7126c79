import type { Command } from '../command.ts';

export const planCommand: Command = {
  name: 'plan',
  summary: 'Work out what a number of users needs: processes, stores, disks, tokens and money.',
  about: `Asks no server and reads no ledger: it multiplies what was measured, see docs/scale.md. What
the machines cost is not part of it.`,
  on: 'server',
  options: {
    users: { value: 'N', about: 'How many users talk.' },
    'messages-per-day': { value: 'N', about: 'Messages of each user and day, answers counted too.' },
    model: { value: 'NAME', about: 'The chat model, for its price.' },
    dimensions: { value: 'N', about: 'How long vectors of the embedding model are. Default: 1536.' },
    gap: { value: 'SECONDS', about: 'Time between two exchanges of a user who talks. Default: 60.' },
    months: { value: 'N', about: 'How long disks should last. Default: 12.' },
    asleep: { value: 'PERCENT', about: 'Of all users, those that sleep in segments, see docs/cold.md. Default: 0.' },
    'prompt-price': { value: 'PRICE', about: 'Of a million prompt tokens, where the model has no list price,' },
    'completion-price': { value: 'PRICE', about: 'and of a million tokens of its answers.' },
    'embedding-price': { value: 'PRICE', about: 'Of a million embedded tokens. Default: not counted.' },
  },
  run: async (call) => (await import('../capacity.ts')).planCapacity(call),
};
