import type { ColdOwner } from '@slowwave/contracts';
import { type Call, type Command, OWNER, ownerOf, TENANT } from '../command.ts';
import { UsageError } from '../exit.ts';
import { type Columns, LIMIT, listed } from '../output.ts';

export const coldCommands: readonly Command[] = [
  {
    name: 'cold list',
    summary: 'List owners that sleep in segments outside the ledger.',
    options: { tenant: TENANT, limit: LIMIT },
    run: async (call) => {
      const query = { tenant: call.given.text('tenant') };
      return listed(call, { path: '/v1/cold', query, columns: COLUMNS, as: 'owners', none: 'No owner sleeps.' });
    },
  },
  {
    name: 'cold cool',
    summary: 'Put an owner to sleep now, even if it was active recently.',
    writes: true,
    options: { ...OWNER, tenant: TENANT },
    run: async (call) => {
      const owner = ownerIn(call);
      const { state } = await call.ask<{ state: 'asleep' | 'kept' }>('POST', '/v1/cold/cool', owner);
      const kept =
        'stays awake: work is pending, something was just written, retention has data to remove, or it is too large';
      return {
        value: { ...owner, state },
        text: `The ${owner.kind} ${owner.id} ${state === 'asleep' ? 'sleeps' : kept}.`,
      };
    },
  },
  {
    name: 'cold wake',
    summary: 'Wake an owner, or all of a tenant.',
    writes: true,
    options: { ...OWNER, all: { value: null, about: 'All sleeping owners of the tenant.' }, tenant: TENANT },
    run: async (call) => {
      if (call.given.flag('all')) return wakeAll(call);
      const owner = ownerIn(call);
      const { woken } = await wake(call, owner);
      return { value: { ...owner, woken }, text: `The ${owner.kind} ${owner.id} ${woken ? 'woke' : 'was awake'}.` };
    },
  },
  {
    name: 'cold sweep',
    summary: 'Delete segments that the ledger does not know, for example after restoring an older backup.',
    about: 'Segments of another installation in the same place would be deleted too, which is why it requires --yes.',
    writes: true,
    options: { yes: { value: null, about: 'Confirm it.' } },
    run: async ({ given, ask }) => {
      if (!given.flag('yes'))
        throw new UsageError('expected --yes: segments that this ledger does not know are deleted', 'cold sweep');
      const { deleted } = await ask<{ deleted: readonly string[] }>('POST', '/v1/cold/sweep');
      return { value: { deleted }, text: `Deleted ${deleted.length} segments.` };
    },
  },
];

interface Named {
  readonly tenant?: string;
  readonly kind: string;
  readonly id: string;
}

function ownerIn({ given }: Call): Named {
  const [[name, id] = ['', '']] = Object.entries(ownerOf(given));
  return { ...tenantOf(given), kind: name.replace(/_id$/, ''), id };
}

const tenantOf = (given: Call['given']): { tenant?: string } => {
  const tenant = given.text('tenant');
  return tenant === null ? {} : { tenant };
};

const wake = ({ ask }: Call, owner: Named): Promise<{ woken: boolean }> => ask('POST', '/v1/cold/wake', owner);

const PAGE = 100;

/** From the first on, again and again: who woke is in the list no more. */
async function wakeAll(call: Call) {
  const tenant = tenantOf(call.given);
  const query = new URLSearchParams({ ...tenant, limit: String(PAGE) });
  let woken = 0;
  for (let found: readonly ColdOwner[] = [], more = true; more; more = found.length === PAGE) {
    if (call.cancel.aborted) break;
    ({ results: found } = await call.ask<{ results: readonly ColdOwner[] }>('GET', `/v1/cold?${query}`));
    for (const { kind, id } of found) woken += Number((await wake(call, { ...tenant, kind, id })).woken);
  }
  return { value: { woken }, text: `${woken} owners woke.` };
}

const COLUMNS: Columns<ColdOwner> = {
  owner: ({ kind, id }) => `${kind} ${id}`,
  state: 'state',
  since: 'since',
  memories: 'memories',
  bytes: ({ bytes }) => bytes.toLocaleString('en'),
  segment: 'segment',
};
