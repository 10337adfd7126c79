import type { Tools } from './ports/tools.ts';
import type { LaneId, Owner, OwnerBits, SaidAt, TenantId } from './words.ts';

/**
 * How owners are hashed, and what the ids of their things say of them. After its kind, an id has 26 digits:
 *
 *   01k9qz4m7w 3f0a   8hsc              2v7rk40d
 *   time       count  owner + 4 random  random
 *
 * The owner's bits say where a thing belongs without looking it up. Ids of things that belong to nobody have random ones.
 */
const ALPHABET = '0123456789abcdefghjkmnpqrstvwxyz'; // Crockford's: 5 bits each, in the order of their characters
const ORDER_DIGITS = 14;
const OWNER_DIGITS = 4;
const OF_KIND = new RegExp(
  `^[a-z]+_[${ALPHABET}]{${ORDER_DIGITS}}([${ALPHABET}]{${OWNER_DIGITS}})[${ALPHABET}]{8}(?:~|$)`,
);
/** 4 digits have 20 bits: 16 of the owner's hash, and 4 random ones. */
const BESIDE_OWNER = 16;
const OWNER_HEX = 4;
const OWNER_KEY_HEX = 32;

interface Owned {
  readonly tenant: TenantId;
  readonly owner: Owner;
}

/** The tenant belongs to it: elsewhere the same id is somebody else's. */
const hashOf = ({ hash }: Pick<Tools, 'hash'>, { tenant, owner }: Owned, within: readonly string[] = []): string =>
  hash(JSON.stringify([...within, tenant, owner.kind, owner.id]));

/** What stays of an owner that is erased: proves to who knows the id that it was, in this ledger. */
export const ownerHashOf = (tools: Pick<Tools, 'hash'>, { ledgerId, ...owned }: Owned & { ledgerId: string }): string =>
  hashOf(tools, owned, [ledgerId]);

/** What ids carry of an owner, the same in every ledger and after every restore. A copy in a shadow space stays with its original. */
export const ownerBitsOf = (tools: Pick<Tools, 'hash'>, owned: Owned): OwnerBits => bitsOfKey(ownerKeyOf(tools, owned));

/** What stands for an owner where its id is not to be kept, in every installation the same. It begins with the owner's bits. */
export const ownerKeyOf = (tools: Pick<Tools, 'hash'>, { tenant, owner }: Owned): string =>
  hashOf(tools, { tenant: payerOf(tenant), owner }).slice(0, OWNER_KEY_HEX);

export const bitsOfKey = (key: string): OwnerBits => Number.parseInt(key.slice(0, OWNER_HEX), 16) as OwnerBits;

/** The owner's bits of an id; null: it has none. Ids of things that belong to nobody have any. */
export function ownerBitsIn(id: string): OwnerBits | null {
  const digits = OF_KIND.exec(id)?.[1];
  return digits === undefined ? null : (Math.floor(numberOf(digits) / BESIDE_OWNER) as OwnerBits);
}

/** For the id of something in a lane of which nothing else is known yet. */
export function ownerBitsOfLane(lane: LaneId): OwnerBits {
  const bits = ownerBitsIn(lane);
  if (bits === null) throw new Error(`expected the id of a lane, got ${JSON.stringify(lane)}`);
  return bits;
}

/** The digits of an id that name its owner. `random`: a digit, of which 4 bits are kept. */
export const ownerDigits = (bits: OwnerBits, random: string): string =>
  digitsOf(bits * BESIDE_OWNER + (numberOf(random) % BESIDE_OWNER), OWNER_DIGITS);

export const ID_ALPHABET = ALPHABET;

export const numberOf = (digits: string): number =>
  [...digits].reduce((sum, digit) => sum * 32 + ALPHABET.indexOf(digit), 0);

export function digitsOf(number: number, length: number): string {
  let digits = '';
  for (let rest = number, i = 0; i < length; i += 1, rest = Math.floor(rest / 32)) {
    digits = (ALPHABET[rest % 32] ?? '0') + digits;
  }
  return digits;
}

const LAST_DIGITS = 4;
const REVISIONS = 32 ** LAST_DIGITS;
/** Of an id, with the replay of a copy behind. */
const OF_MEMORY = new RegExp(`^mem_([${ALPHABET}]{22})[${ALPHABET}]{${LAST_DIGITS}}(~.*)?$`);
const OF_EVENT = new RegExp(`^evt_([${ALPHABET}]{22})([${ALPHABET}]{${LAST_DIGITS}})(?:~|$)`);

/** The id of an event: that of its memory, but that the last digits count the revisions. So a ledger needs not keep it. */
export function eventIdOf(memoryId: string, revision: number): string {
  const [, first = memoryId, copy = ''] = OF_MEMORY.exec(memoryId) ?? [];
  return `evt_${first}${digitsOf(revision % REVISIONS, LAST_DIGITS)}${copy}`;
}

/** Between which ids of memories that of an event lies, and at which revision; null: it is no such id. */
export function placeOfEvent(
  id: string,
): { readonly from: string; readonly to: string; readonly revision: number } | null {
  const [, first, last] = OF_EVENT.exec(id) ?? [];
  if (first === undefined || last === undefined) return null;
  return { from: `mem_${first}`, to: `mem_${first}~`, revision: numberOf(last) };
}

/** Their last digits are free for what stands in them. */
const OF_BATCH = new RegExp(`^bat_([${ALPHABET}]{22})${'0'.repeat(LAST_DIGITS)}(~.*)?$`);
const OF_MESSAGE = new RegExp(`^msg_([${ALPHABET}]{22})([${ALPHABET}]{${LAST_DIGITS}})(~.*)?$`);

/** The id of a new batch. */
export const batchIdOf = (fresh: string): string => fresh.slice(0, -LAST_DIGITS) + '0'.repeat(LAST_DIGITS);

/** The id of a message: that of its batch, but that the last digits count its messages. So a ledger needs not keep it. */
export function messageIdOf(batchId: string, place: number): string {
  const [, first = batchId, copy = ''] = OF_BATCH.exec(batchId) ?? [];
  return `msg_${first}${digitsOf(place, LAST_DIGITS)}${copy}`;
}

/** The batch that a message of this id is in, and its place there; null: its id does not say. */
export function placeOfMessage(id: string): { readonly batchId: string; readonly place: number } | null {
  const [, first, last, copy = ''] = OF_MESSAGE.exec(id) ?? [];
  if (first === undefined || last === undefined) return null;
  return { batchId: `bat_${first}${'0'.repeat(LAST_DIGITS)}${copy}`, place: numberOf(last) };
}

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
