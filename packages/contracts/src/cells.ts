import { z } from 'zod';
import { KeyScope, ofTenant, TenantName } from './access.ts';
import { ExternalId, Moment, OwnerKind, Share } from './common.ts';
import { CELL_ERASURES, CELL_LOSSES, DEPARTURES, LEAVINGS, SHARES, SLOTS, TENANT_COPIES } from './examples.ts';

/** The name of a cell. */
export const CellName = z.string().regex(/^[a-z0-9][a-z0-9-]{0,31}$/, 'must be 1 to 32 of a-z, 0-9, "-"');

const Epoch = z.int().min(0).describe("The directory's epoch.");

/** The 16 bits of an owner's hash that all its ids carry. */
export const SLOTS_ALL = 65_536;
const Slot = z
  .int()
  .min(0)
  .max(SLOTS_ALL - 1);
/** More than a directory splits the slots into. */
const RANGES_MAX = 4_096;
const SlotRange = z
  .strictObject({ from: Slot, to: Slot })
  .refine(({ from, to }) => from <= to, 'expected from to be at most to')
  .describe('From and to are included.');

/** Slots next to each other, as they are answered. */
const Run = { from: z.int(), to: z.int() };

const ofOwner = { ...ofTenant, kind: OwnerKind, id: ExternalId };

export const CellView = z
  .object({
    name: z.string(),
    ledger_id: z.string(),
    epoch: Epoch.describe('The latest directory epoch the cell knows; 0: none.'),
    closed: z.array(z.object(Run)).describe('Slots that accept no new owners in this cell.'),
    owners: z.int(),
    memories: z.int(),
    away: z.int().describe('Owners that moved away and are still recorded here.'),
    given_up_at: z
      .string()
      .nullable()
      .describe('When the cell was given up as lost; it serves no requests since then. null: it is not lost.'),
  })
  .meta({ id: 'Cell' });
export type CellView = z.infer<typeof CellView>;

const STATES_OF_CELLS = ['open', 'draining', 'lost', 'left_behind'] as const;
const STATES_OF_MOVES = ['copying', 'departing', 'arriving', 'leaving_off', 'recalling', 'given_up'] as const;
const STATES_OF_HANDOVERS = ['closing', 'opening', 'emptying', 'reopening'] as const;
const Tried = z.string().nullable().describe('Why its last step failed; null: it did not.');

/** All cells, as a router sees them. */
export const CellsView = z
  .object({
    cells: z.array(
      z.object({
        name: z.string(),
        url: z.string(),
        state: z.enum(STATES_OF_CELLS),
        slots: z.int().describe(`Of ${SLOTS_ALL}.`),
        answers: z.boolean(),
        owners: z.int().nullable().describe('null: the cell does not respond.'),
        memories: z.int().nullable(),
      }),
    ),
    ranges: z.array(z.object({ ...Run, cell: z.string() })).describe('Which slots each cell has, in order.'),
    moves: z.object({
      counts: z.object({
        ...{ copying: z.int(), departing: z.int(), arriving: z.int() },
        ...{ leaving_off: z.int(), recalling: z.int(), given_up: z.int() },
      }),
      oldest: z
        .array(
          z.object({
            ...{ tenant: z.string(), kind: OwnerKind, id: z.string() },
            ...{ source: z.string(), destination: z.string(), state: z.enum(STATES_OF_MOVES) },
            ...{ tries: z.int(), why: Tried },
          }),
        )
        .describe('Owners on their way, and those whose move was given up; the oldest first.'),
    }),
    handovers: z
      .array(
        z.object({
          ...Run,
          ...{ source: z.string(), destination: z.string(), state: z.enum(STATES_OF_HANDOVERS) },
          ...{ tries: z.int(), why: Tried },
        }),
      )
      .describe('Slots that are moving to another cell.'),
  })
  .meta({ id: 'Cells' });
export type CellsView = z.infer<typeof CellsView>;

/** Whose key it is that a request came with. */
export const CallerView = z
  .object({
    tenant: z.string(),
    scopes: z.array(KeyScope),
    user_id: z.string().nullable(),
    app_id: z.string().nullable(),
    operator: z.boolean(),
  })
  .meta({ id: 'Caller' });
export type CallerView = z.infer<typeof CallerView>;

/** For how long at most the work of an owner that is to leave is kept back at a time. */
export const LEAVE_MAX_MS = 10 * 60_000;

export const PostLeaving = z
  .strictObject({
    ...ofOwner,
    ms: z
      .int()
      .min(0)
      .max(LEAVE_MAX_MS)
      .describe('For how long no work of the owner starts, in ms. 0: release it now.'),
  })
  .meta({ id: 'PostLeaving', examples: LEAVINGS });

export const LeavingView = z
  .object({
    until: z.string().nullable().describe('null: nothing is held.'),
    waits_for: z.array(z.string()).describe('Why the owner cannot depart yet: work that has to finish first.'),
  })
  .meta({ id: 'Leaving' });
export type LeavingView = z.infer<typeof LeavingView>;

export const PostDeparture = z
  .strictObject({
    ...ofOwner,
    to: CellName.describe('The cell it moves to.'),
    epoch: Epoch.describe('The directory epoch of the move, returned to callers that ask for the owner here.'),
    stamp: z
      .string()
      .min(1)
      .max(64)
      .describe(
        'The stamp of the last page of its lines, read with moving=true. Without the part after the dot, receipts created since then are ignored and left behind.',
      ),
    until: Moment.describe(
      'Until when the cell answers that the owner moved: at least as long as idempotency keys are kept.',
    ),
  })
  .meta({ id: 'PostDeparture', examples: DEPARTURES });

export const DepartureView = z
  .object({
    ...{ tenant: z.string(), kind: OwnerKind, id: z.string() },
    to: z.string(),
    epoch: z.int(),
    departed_at: z.string(),
    until: z.string(),
  })
  .meta({ id: 'Departure' });
export type DepartureView = z.infer<typeof DepartureView>;

/** An owner that departed, or of which an import has not finished. */
export const CellOwnerQuery = z.strictObject(ofOwner);

export const ArrivalsQuery = z.strictObject({
  ...ofOwner,
  attempt: z.coerce.number().int().min(0).default(0).describe('The number of the move: data from later moves stays.'),
});

export const ArrivalsEnded = z
  .object({ thrown_away: z.int().describe('Imports that had not finished.') })
  .meta({ id: 'ArrivalsEnded' });

const CURSOR_MAX = 4_096;
const OWNERS_PAGE_MAX = 1_000;
const OWNERS_PAGE = 200;

export const ListCellOwnersQuery = z.strictObject({
  from: z.coerce.number().pipe(Slot).default(0).describe('Only owners in this slot or a later one.'),
  to: z.coerce
    .number()
    .pipe(Slot)
    .default(SLOTS_ALL - 1)
    .describe('Only owners in this slot or an earlier one.'),
  limit: z.coerce.number().int().min(1).max(OWNERS_PAGE_MAX).default(OWNERS_PAGE),
  cursor: z.string().min(1).max(CURSOR_MAX).optional(),
});

/** A page may have fewer than the limit, or none, while there are more: what counts is the cursor. */
export const CellOwnerList = z
  .object({
    results: z.array(z.object({ tenant: z.string(), kind: OwnerKind, id: z.string(), slot: z.int() })),
    next_cursor: z.string().nullable(),
  })
  .meta({ id: 'CellOwnerList' });

export const PostCellErasure = z.strictObject(ofOwner).meta({ id: 'PostCellErasure', examples: CELL_ERASURES });

export const CellErasureView = z.object({ erasure_id: z.string() }).meta({ id: 'CellErasure' });

export const PutSlots = z
  .strictObject({
    epoch: Epoch,
    closed: z.array(SlotRange).max(RANGES_MAX).describe('All slots that accept no new owners in this cell.'),
  })
  .meta({ id: 'PutSlots', examples: SLOTS });

export const SlotsView = z.object({ epoch: z.int(), closed: z.array(z.object(Run)) }).meta({ id: 'Slots' });
export type SlotsView = z.infer<typeof SlotsView>;

export const PostLoss = z
  .strictObject({
    cell: CellName.describe('The cell that is permanently lost.'),
    anew: z
      .boolean()
      .default(false)
      .describe(
        'true: owners of the lost cell start over; the records of owners that moved there from here are removed.',
      ),
  })
  .meta({ id: 'PostLoss', examples: CELL_LOSSES });

export const LossView = z
  .object({
    cell: z.string(),
    given_up: z.boolean().describe('true: it is this cell, which stops serving requests.'),
    forgotten: z.int().describe('Owners that moved from here to the lost cell and start over.'),
  })
  .meta({ id: 'Loss' });

export const GetTenantCopyQuery = z.strictObject({ tenant: TenantName.default('default') });

const Copied = z.record(z.string(), z.array(z.record(z.string(), z.json())));

/** Everything of a tenant that is no owner's: settings, ceilings, keys, links, webhooks, and what was erased. */
export const TenantCopyView = z
  .object({
    tenant: z.string(),
    ledger_id: z.string(),
    version: z.string().describe('A stamp that changes with any of the settings.'),
    copy: Copied.describe('Rows by kind, to be passed on unchanged.'),
  })
  .meta({ id: 'TenantCopy' });
export type TenantCopyView = z.infer<typeof TenantCopyView>;

export const PutTenantCopy = z
  .strictObject({
    tenant: TenantName.default('default'),
    epoch: Epoch.describe('A copy with an earlier epoch than the current one is refused.'),
    version: z.string().min(1).max(64).describe('The stamp of the copy, as the home cell returned it.'),
    copy: Copied.optional().describe('If omitted, only the epoch is recorded, as for the home cell itself.'),
  })
  .meta({ id: 'PutTenantCopy', examples: TENANT_COPIES });

export const TenantCopied = z
  .object({ tenant: z.string(), epoch: z.int(), version: z.string() })
  .meta({ id: 'TenantCopied' });
export type TenantCopied = z.infer<typeof TenantCopied>;

export const ListSharesQuery = z.strictObject({
  tenant: TenantName.optional().describe('If omitted: the tenants for which this cell wants more.'),
  limit: z.coerce.number().int().min(1).max(1_000).default(100),
});

export const ShareView = z
  .object({
    tenant: z.string(),
    epoch: z.int().describe('The number of the share; 0: the cell has none.'),
    part: Share.describe('The part of the tenant’s daily limits that the cell may use now.'),
    until: z
      .string()
      .nullable()
      .describe('The end of the lease; null: the cell has the whole limit because it knows of no other cell.'),
    used: Share.describe('What the cell itself has used today, as a part of the limit it has used most of.'),
    day: z.string().describe('UTC.'),
    wants: z.boolean().describe('true: the cell is about to run out, and more may be available.'),
  })
  .meta({ id: 'Share' });
export type ShareView = z.infer<typeof ShareView>;

export const ShareList = z.object({ results: z.array(ShareView) }).meta({ id: 'ShareList' });
export type ShareList = z.infer<typeof ShareList>;

export const PutShare = z
  .strictObject({
    tenant: TenantName.default('default'),
    epoch: z
      .int()
      .min(1)
      .describe('The number that the directory assigned. If it is not higher than the current one, nothing changes.'),
    part: Share.describe('The new share. If the cell has used more, it keeps what it has used.'),
    until: Moment,
    day: z.iso.date().describe('The day (UTC) of the share; on any other day it is ignored.'),
    elsewhere: z.number().min(0).default(0).describe('What other cells have used today.'),
    is_last: z.boolean().default(false).describe('true: no more is available today.'),
  })
  .meta({ id: 'PutShare', examples: SHARES });
