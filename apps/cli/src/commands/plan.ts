import type { Command } from '../command.ts';

export const planCommand: Command = {
  name: 'plan',
  summary: 'Estimate the resources for a number of users: processes, stores, disks, tokens and cost.',
  about: `Uses no server and no ledger: it extrapolates from the measurements in docs/scale.md. The cost
of machines is not included.`,
  on: 'server',
  options: {
    users: { value: 'N', about: 'Number of active users.' },
    'messages-per-day': { value: 'N', about: 'Messages per user and day, including answers.' },
    model: { value: 'NAME', about: 'The chat model, for its price.' },
    dimensions: { value: 'N', about: 'Dimensions of the embedding model. Default: 1536.' },
    gap: { value: 'SECONDS', about: 'Time between two exchanges in a conversation, in seconds. Default: 60.' },
    months: { value: 'N', about: 'How long the disks should last, in months. Default: 12.' },
    asleep: { value: 'PERCENT', about: 'Percentage of users that sleep, see docs/cold.md. Default: 0.' },
    'prompt-price': { value: 'PRICE', about: 'Price per million prompt tokens, if the model has no list price,' },
    'completion-price': { value: 'PRICE', about: 'and price per million completion tokens.' },
    'embedding-price': { value: 'PRICE', about: 'Price per million embedded tokens. Default: not counted.' },
  },
  run: async (call) => (await import('../capacity.ts')).planCapacity(call),
};
