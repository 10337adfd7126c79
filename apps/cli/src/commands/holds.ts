import type { HoldView } from '@slowwave/contracts';
import { ofTenant } from '../api.ts';
import { type Command, pathWord, TENANT } from '../command.ts';
import { type Column, LIMIT, listing } from '../output.ts';

export const holdsCommand: Command = {
  name: 'holds',
  summary: 'List users, apps and keys that are held because they used far more than usual, newest first.',
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
  summary: 'Release a hold: waiting work continues, and there is no second hold today.',
  writes: true,
  options: { tenant: TENANT },
  run: async (call) => {
    const hold = await call.ask<HoldView>('POST', ofTenant(`/v1/holds/${pathWord(call)}/release`, call));
    return {
      value: hold,
      text: `The ${hold.kind} ${hold.of} is released. Waiting work continues within five minutes.`,
    };
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
