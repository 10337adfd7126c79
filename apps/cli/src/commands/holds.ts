import type { HoldView } from '@slowwave/contracts';
import { ofTenant } from '../api.ts';
import { type Command, pathWord, TENANT } from '../command.ts';
import { type Column, LIMIT, listing } from '../output.ts';

export const holdsCommand: Command = {
  name: 'holds',
  summary: 'List users, apps and keys that used far more than is usual and are held, newest first.',
  options: { tenant: TENANT, limit: LIMIT },
  run: async (call) => {
    const query = { tenant: call.given.text('tenant') };
    const { items: holds, more, text } = await listing(call, { path: '/v1/holds', query, columns: COLUMNS });
    return { value: { holds, more }, text: holds.length === 0 ? 'Nobody is held.' : text };
  },
};

export const releaseHoldCommand: Command = {
  name: 'holds release',
  usage: '<hold>',
  summary: 'Release a hold: what waits goes on, and it is not held again today.',
  writes: true,
  options: { tenant: TENANT },
  run: async (call) => {
    const hold = await call.ask<HoldView>('POST', ofTenant(`/v1/holds/${pathWord(call)}/release`, call));
    return { value: hold, text: `The ${hold.kind} ${hold.of} is released. What waits goes on within five minutes.` };
  },
};

const COLUMNS: readonly Column<HoldView>[] = [
  { name: 'id', of: ({ id }) => id },
  { name: 'of', of: ({ kind, of }) => `${kind} ${of}` },
  { name: 'state', of: ({ state }) => state },
  { name: 'used', of: ({ used, measure }) => `${used.toLocaleString('en')} ${measure}` },
  { name: 'limit', of: ({ limit }) => limit.toLocaleString('en') },
  { name: 'held', of: ({ held_at }) => held_at },
];
