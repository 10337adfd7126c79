import type { NightSummary, NightView, UndoReport } from '@slowwave/contracts';
import { ofTenant } from '../api.ts';
import { type Command, oneOf, pathWord, TENANT } from '../command.ts';
import { type Column, LIMIT, listing, pairs, table } from '../output.ts';
import { undoOutcome } from './undo.ts';

const STATES = ['thinking', 'waiting', 'applied', 'discarded', 'stale', 'failed'] as const;

export const nightsCommand: Command = {
  name: 'nights',
  usage: '[night]',
  summary: 'List nights, newest first, or show what one did or would do.',
  about: 'To undo a night, use slowwave undo with its id.',
  options: {
    state: { value: 'STATE', about: `Only those in this state: ${STATES.join(', ')}.` },
    user: { value: 'ID', about: 'Only those of this user.' },
    tenant: TENANT,
    limit: LIMIT,
  },
  run: async (call) => {
    const { given } = call;
    if (given.words.length > 0) return shown(await call.ask('GET', ofTenant(`/v1/nights/${pathWord(call)}`, call)));
    const query = {
      state: oneOf(given, 'state', STATES),
      user_id: given.text('user'),
      tenant: given.text('tenant'),
    };
    const { items: nights, more, text } = await listing(call, { path: '/v1/nights', query, columns: COLUMNS });
    return { value: { nights, more }, text: nights.length === 0 ? 'There are no nights.' : text };
  },
};

export const applyNightCommand: Command = {
  name: 'nights apply',
  summary: 'Apply the plan of a waiting night.',
  ...decidedBy('apply'),
};

export const discardNightCommand: Command = {
  name: 'nights discard',
  summary: 'Discard the plan of a waiting night.',
  ...decidedBy('discard'),
};

export const withoutNightsCommand: Command = {
  name: 'nights without',
  usage: '<user>',
  summary: 'Show the memories of a user as if there had been no nights. Changes nothing.',
  options: { tenant: TENANT },
  run: async (call) =>
    undoOutcome(await call.ask<UndoReport>('GET', ofTenant(`/v1/users/${pathWord(call)}/without-nights`, call))),
};

function decidedBy(decision: 'apply' | 'discard'): Omit<Command, 'name' | 'summary'> {
  return {
    usage: '<night>',
    writes: true,
    options: { tenant: TENANT },
    run: async (call) => {
      const path = ofTenant(`/v1/nights/${pathWord(call)}`, call);
      const night = await call.ask<NightView>('POST', path, { decision });
      return { value: night, text: `Night ${night.id} is ${night.state}.` };
    },
  };
}

const COLUMNS: readonly Column<NightSummary>[] = [
  { name: 'id', of: ({ id }) => id },
  { name: 'user', of: ({ user_id, agent_id, run_id }) => user_id ?? agent_id ?? run_id },
  { name: 'state', of: ({ state }) => state },
  { name: 'acts', of: ({ acts }) => acts },
  { name: 'memories', of: ({ memories }) => memories },
  { name: 'created', of: ({ created_at }) => created_at },
];

function shown(night: NightView) {
  const { plan } = night;
  const head = pairs([
    ['night', night.id],
    ['state', night.why === null ? night.state : `${night.state} (${night.why})`],
    ['calls', plan?.calls ?? 0],
    ['tokens', plan?.tokens ?? 0],
  ]);
  const acts = table(
    [
      { name: 'act', of: ({ act, asks }) => (asks ? `${act}, asks` : act) },
      { name: 'before', of: ({ before }) => before },
      { name: 'after', of: ({ after }) => after },
      { name: 'because of', of: ({ evidence }) => evidence.map(({ memory }) => memory).join('; ') },
      { name: 'reason', of: ({ reason }) => reason },
    ],
    plan?.acts ?? [],
  );
  const refused = table(
    [
      { name: 'refused', of: ({ asked }) => asked },
      { name: 'why', of: ({ why }) => why },
    ],
    plan?.refused ?? [],
  );
  const parts = [head, ...(plan?.acts.length ? [acts] : []), ...(plan?.refused.length ? [refused] : [])];
  return { value: night, text: parts.join('\n\n') };
}
