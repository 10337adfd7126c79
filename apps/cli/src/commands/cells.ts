import { type Command, OWNER } from '../command.ts';

/** What they do is loaded with the command: most others need neither directory nor engine. */
const acts = () => import('../cells/acts.ts');

/** Options of every command that moves. */
const CONCURRENCY = { value: 'N', about: 'Number of owners that this command moves at a time. Default: 4.' };
const LATER = { value: null, about: 'Let the routers move the owners, and do not wait.' };

const TO = { value: 'NAME', about: 'The destination cell.' };
const TENANT = { value: 'NAME', about: 'The tenant of the owner. Default: default.' };

export const cellCommands: readonly Command[] = [
  {
    name: 'cells',
    on: 'stores',
    summary: 'List the cells, their contents, and the moves in progress.',
    about: `Cells are complete installations behind a router; see docs/cells.md. All these commands need
SLOWWAVE_DIRECTORY, and SLOWWAVE_API_KEY if the cells use one.`,
    run: async (call) => (await acts()).listCells(call),
  },
  {
    name: 'cells add',
    on: 'stores',
    usage: '<name> <url>',
    summary: 'Add a cell, and move its share of the owners to it.',
    about: `The first cell has all owners. Each further cell must be empty; owners move to it from all others while
everything keeps running. If the command is stopped, run it again to continue.`,
    options: {
      share: { value: 'SHARE', about: 'Share of all owners, 0 to 1. Default: an equal share.' },
      later: LATER,
      concurrency: CONCURRENCY,
    },
    run: async (call) => (await acts()).addCell(call),
  },
  {
    name: 'cells move',
    on: 'stores',
    summary: 'Move an owner, or all owners of some slots, to another cell.',
    about: `During a move, messages are accepted and searches are answered. A slot is the part of an owner’s hash
that all its ids carry, 0 to 65535; new owners of the slots are created in the destination.`,
    options: {
      ...OWNER,
      tenant: TENANT,
      slots: { value: 'FROM-TO', about: 'All owners of these slots instead of one owner.' },
      to: TO,
      later: LATER,
      concurrency: CONCURRENCY,
    },
    run: async (call) => (await acts()).moveToCell(call),
  },
  {
    name: 'cells drain',
    on: 'stores',
    usage: '<name>',
    summary: 'Move all owners out of a cell, so that it can be removed.',
    about: `Its slots, its owners and the homes of tenants move to the other cells. Then it can be
removed. If the command is stopped, run it again to continue.`,
    options: { later: LATER, concurrency: CONCURRENCY },
    run: async (call) => (await acts()).drainCell(call),
  },
  {
    name: 'cells rebalance',
    on: 'stores',
    summary: 'Move owners until all cells have about the same number of memories.',
    options: { later: LATER, concurrency: CONCURRENCY },
    run: async (call) => (await acts()).rebalanceCells(call),
  },
  {
    name: 'cells home',
    on: 'stores',
    usage: '<tenant> <name>',
    summary: 'Change a tenant’s home cell, where its settings, keys and webhooks are changed.',
    about: 'Requests that change them wait for a moment. The tenant’s users stay in their cells.',
    run: async (call) => (await acts()).changeHome(call),
  },
  {
    name: 'cells remove',
    on: 'stores',
    usage: '<name>',
    summary: 'Remove a drained cell from the directory.',
    run: async (call) => (await acts()).removeCell(call),
  },
  {
    name: 'cells lost',
    on: 'stores',
    usage: '<name>',
    summary: 'Give up a cell that cannot be restored.',
    about: `No more requests are sent to it; requests for its owners get cell_lost. Moves from and to it end, and tenants
whose home it was get another home. With --begin-anew its slots go to the other cells: its owners start over there,
without memories. Neither can be undone; if the cell comes back, it serves no requests.`,
    options: {
      force: { value: null, about: 'Give it up even though it responds.' },
      'begin-anew': { value: null, about: 'Let its owners start over in the other cells.' },
      later: LATER,
      concurrency: CONCURRENCY,
    },
    run: async (call) => (await import('../cells/acts.ts')).loseCell(call),
  },
];
