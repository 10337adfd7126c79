import { z } from 'zod';
import { ofTenant } from './access.ts';
import { ExternalId, Moment, OwnerKind } from './common.ts';
import { BUNDLED_ERASURES, BUNDLED_SETTINGS, IMPORTS, LINES } from './examples.ts';
import { PutSettings, SettingsView } from './settings.ts';

const CURSOR_MAX = 4_096;
const Cursor = z.string().min(1).max(CURSOR_MAX).optional();
const PAGE_MAX = 1_000;
const PAGE = 200;
const Limit = z.coerce.number().int().min(1).max(PAGE_MAX).default(PAGE);

export const GetBundleQuery = z.strictObject(ofTenant);
export const ListBundledQuery = z.strictObject({ ...ofTenant, limit: Limit, cursor: Cursor });
export const GetLinesQuery = z.strictObject({
  ...{ ...ofTenant, kind: OwnerKind, id: ExternalId, cursor: Cursor },
  moving: z
    .stringbool()
    .default(false)
    .describe('true: include data that only matters at the owner’s home, such as pending webhook deliveries.'),
});

export const BundleView = z
  .object({
    format: z.int().describe('The format of lines.'),
    ledger_id: z.string(),
    tenant: z.string(),
    settings: SettingsView,
  })
  .meta({ id: 'Bundle' });
export type BundleView = z.infer<typeof BundleView>;

const next_cursor = z.string().nullable();

export const BundledOwnerList = z
  .object({ results: z.array(z.object({ kind: OwnerKind, id: z.string() })), next_cursor })
  .meta({ id: 'BundledOwnerList' });

export const BundleLines = z
  .object({
    read_at: z.string().describe('When the lines were read.'),
    lines: z.array(z.string()).describe('Lines of a bundle: JSON objects that end with a checksum.'),
    next_cursor,
    stamp: z
      .string()
      .optional()
      .describe(
        'Only with the last page: the state of the owner while all pages were read. A departure sends it back.',
      ),
  })
  .meta({ id: 'BundleLines' });
export type BundleLines = z.infer<typeof BundleLines>;

const HASH_DIGITS = 64;
const BundledErasure = z.strictObject({
  id: z.string().min(1).max(HASH_DIGITS),
  owner_hash: z.string().min(1).max(HASH_DIGITS).describe('A digest of ledger, tenant and owner.'),
  requested_at: Moment,
  erased_at: Moment,
});

export const BundledErasureList = z
  .object({ results: z.array(BundledErasure), next_cursor })
  .meta({ id: 'BundledErasureList' });

export const PostErasures = z
  .strictObject({ ...ofTenant, erasures: z.array(BundledErasure).max(PAGE_MAX) })
  .meta({ id: 'PostErasures', examples: BUNDLED_ERASURES });

export const TakenErasures = z.object({ taken: z.int() }).meta({ id: 'TakenErasures' });

export const PutBundledSettings = z
  .strictObject({
    ...ofTenant,
    settings: PutSettings,
    replace: z.boolean().default(false).describe('true: replace settings that the tenant already has.'),
  })
  .meta({ id: 'PutBundledSettings', examples: BUNDLED_SETTINGS });

export const TakenSettings = z
  .object({
    settings: z.enum(['same', 'taken', 'kept']).describe('kept: the tenant already has other settings, which stay.'),
  })
  .meta({ id: 'TakenSettings' });
export type TakenSettings = z.infer<typeof TakenSettings>;

const SUM_DIGITS = 32;
const LINES_MAX = 1_000_000_000;

export const PostImport = z
  .strictObject({
    ...ofTenant,
    format: z.int().min(1),
    ledger_id: z.string().min(1).max(HASH_DIGITS).describe('The id of the source ledger.'),
    kind: OwnerKind,
    id: ExternalId,
    read_at: Moment.describe('When the lines were read from the source.'),
    lines: z.int().min(2).max(LINES_MAX).describe('The number of lines of the owner.'),
    sum: z.string().length(SUM_DIGITS).describe('The checksum of the last line.'),
    attempt: z
      .int()
      .min(0)
      .default(0)
      .describe('Only for moves between cells: the number of the move. An earlier move never replaces a later one.'),
  })
  .meta({ id: 'PostImport', examples: IMPORTS });

export const ImportView = z
  .object({
    import_id: z.string(),
    state: z.enum(['open', 'finished']),
    taken: z.int().describe('The number of lines accepted so far. Continue with the next one.'),
    lines: z.int(),
  })
  .meta({ id: 'Import' });
export type ImportView = z.infer<typeof ImportView>;

const LINES_AT_ONCE = 5_000;

export const PostLines = z
  .strictObject({
    from: z.int().min(0).describe('The number of lines before these.'),
    lines: z.array(z.string()).min(1).max(LINES_AT_ONCE),
  })
  .meta({ id: 'PostLines', examples: LINES });
