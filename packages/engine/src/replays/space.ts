import type { SaidAt, TenantId } from '../words.ts';

/**
 * A shadow space is a tenant of its own: lanes, batches, memories and index points in it are nobody else's, and no caller
 * can name it. Its id says whose it is, since the models it asks are paid for by that tenant.
 */
interface Space {
  /** Whose it is. */
  readonly tenant: TenantId;
  readonly replay: string;
}

/** No tenant of callers begins so. */
const PREFIX = 'shadow/';

export const spaceOf = ({ tenant, replay }: Space): TenantId => `${PREFIX}${replay}/${tenant}` as TenantId;

/** What a tenant is the shadow space of; null: it is none. */
export function spaceIn(tenant: TenantId): Space | null {
  if (!tenant.startsWith(PREFIX)) return null;
  const rest = tenant.slice(PREFIX.length);
  const end = rest.indexOf('/');
  return { replay: rest.slice(0, end), tenant: rest.slice(end + 1) as TenantId };
}

/** The tenant whose budget and counters a call is counted to. */
export const payerOf = (tenant: TenantId): TenantId => spaceIn(tenant)?.tenant ?? tenant;

/** The id of a copy: different from that of its original, and from that of other copies. */
export const copyId = (id: string, replay: string): string => `${id}~${replay}`;

/** The original behind a copy's id. */
export const originOf = (id: string): string => id.split('~', 1)[0] ?? id;

/** More than a lane has messages. */
const ALL_MESSAGES = 1_000_000_000;

/** Messages of a space are numbered anew: what came before them in life comes before them there, in the same moment too. */
export const saidBefore = ({ at, seq }: SaidAt): SaidAt => ({ at, seq: seq > ALL_MESSAGES ? seq : seq - ALL_MESSAGES });

/** The condition, on a column, that rows are of no shadow space: for figures of the service as a whole. */
export const ofNoSpace = (column: string): string => `${column} NOT LIKE '${PREFIX}%'`;
