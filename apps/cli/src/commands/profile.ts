import type { ProfileView } from '@slowwave/contracts';
import type { Command } from '../command.ts';
import { type Column, table } from '../output.ts';

export const profileCommand: Command = {
  name: 'profile',
  usage: '<user>',
  summary: 'Show the profile of a user, slot by slot.',
  run: async (call) => shown(await call.ask<ProfileView>('GET', pathOf(call.given.words))),
};

export const putLineCommand: Command = {
  name: 'profile put',
  usage: '<user> <slot> <text or memory>',
  summary: 'Put a line into a slot of a profile. Nights do not change it.',
  about: 'A word that starts with mem_ is the id of an existing memory; anything else is stored as a new memory.',
  writes: true,
  run: async (call) => {
    const [user = '', slot = '', line = ''] = call.given.words;
    const body = line.startsWith('mem_') ? { memory_id: line } : { memory: line };
    return shown(await call.ask<ProfileView>('PUT', pathOf([user, slot]), body));
  },
};

export const takeLineCommand: Command = {
  name: 'profile take',
  usage: '<user> <slot> <memory>',
  summary: 'Remove a line from a profile for good. The memory stays.',
  writes: true,
  run: async (call) => shown(await call.ask<ProfileView>('DELETE', pathOf(call.given.words))),
};

const pathOf = ([user = '', ...rest]: readonly string[]): string =>
  ['/v1/users', ...[user, 'profile', ...rest].map(encodeURIComponent)].join('/');

function shown(profile: ProfileView) {
  const lines = profile.slots.flatMap(({ name, lines: of }) => of.map((line) => ({ slot: name, ...line })));
  const left = profile.slots
    .filter(({ left_out }) => left_out > 0)
    .map(({ name, left_out }) => `${left_out} of ${name}`);
  const note = left.length === 0 ? '' : `\n\nNot shown for lack of room: ${left.join(', ')}.`;
  const text = lines.length === 0 ? `The profile of ${profile.user_id} is empty.` : `${table(COLUMNS, lines)}${note}`;
  return { value: profile, text };
}

type Line = ProfileView['slots'][number]['lines'][number] & { readonly slot: string };

const COLUMNS: readonly Column<Line>[] = [
  { name: 'slot', of: ({ slot }) => slot },
  { name: 'line', of: ({ memory }) => memory },
  { name: 'by', of: ({ by }) => by },
  { name: 'memory', of: ({ memory_id }) => memory_id },
];
