import { createHash } from 'node:crypto';
import type {
  Economy,
  HeldShare,
  HoldKind,
  KeptHold,
  LimitStore,
  PeerUse,
  Room,
  SentCall,
  SettledCall,
  ShareStore,
  TenantId,
  Use,
} from '@slowwave/engine';
import { climb, dayOf, economyNotice, holdNotice, payerOf } from '@slowwave/engine/storing';
import { type Listing, newestFirst } from './page.ts';
import { ownerFrom } from './rows/columns.ts';
import { all, few, first, type Given, lookup, read, run, type Script, statement, storeOf, write } from './script.ts';
import { activeWebhooks, noteDeliveries } from './webhooks.ts';

export const limitStore = storeOf<LimitStore>('limits', {
  economise: write(function* (tenant, seen, now) {
    const text = 'SELECT * FROM economies WHERE tenant = @tenant FOR UPDATE';
    const before = yield* first<Economy>(text, { tenant });
    const climbed = climb(before, seen, now);
    const { economy, told } = climbed;
    if (economy === null) yield* run('DELETE FROM economies WHERE tenant = @tenant', { tenant });
    else yield* run(PUT_ECONOMY, { tenant, ...economy });
    if (told) {
      const notice = economyNotice(tenant, climbed, { ...seen, at: now });
      yield* noteDeliveries(yield* activeWebhooks(tenant), [notice]);
    }
    return climbed;
  }),
  economies: few(() => all<Economy & { tenant: TenantId }>('SELECT * FROM economies ORDER BY tenant', {})),
  uses: few(function* (tenant, whos, day) {
    const rows = whos.map(({ kind, who }) => ({ kind, who, counted: countedAs(kind, who) }));
    return (yield* all<UseRow>(SELECT_USES, { tenant, day, rows })).map(useFrom);
  }),
  usual: few((tenant, { day, days, peers }) => all<PeerUse>(SELECT_USUAL, { tenant, day, since: day - days, peers })),
  ownUse: few((tenant, { kind, who }, { day, days }) =>
    all(SELECT_OWN, {
      tenant,
      kind,
      who: countedAs(kind, who),
      days: Array.from({ length: days }, (_, i) => day - days + i),
    }),
  ),
  settleDays: write(function* (day, days) {
    const since = day - days;
    yield* run('DELETE FROM uses WHERE day < @since', { since });
    yield* run('DELETE FROM use_medians WHERE day < @since', { since });
    yield* run('DELETE FROM holds WHERE day < @since', { since: day - HOLDS_KEPT });
    return yield* run(SETTLE_DAYS, { day, since });
  }),
  hold: write(function* (hold) {
    const { tenant, kind, who } = hold;
    if ((yield* run(INSERT_HOLD, { ...hold })) === 0) return;
    const lane = kind === 'owner' ? yield* first<OwnerColumns>(SELECT_OWNER, { who }) : null;
    const notice = holdNotice(hold, lane && ownerFrom(lane));
    yield* noteDeliveries(yield* activeWebhooks(tenant), [notice]);
  }),
  holds: read((tenant, page) => newestFirst(HOLDS, page, { tenant })),
  release: write(function* (tenant, id, now) {
    const text = 'UPDATE holds SET released_at = coalesce(released_at, @now) WHERE tenant = @tenant AND id = @id';
    yield* run(text, { tenant, id, now });
    const row = yield* first<HoldRow>(`${SELECT_HOLDS} WHERE h.tenant = @tenant AND h.id = @id`, { tenant, id });
    return row && holdFrom(row);
  }),
  heldOn: read(function* (day) {
    const rows = yield* all<{ kind: HoldKind; held: number }>(COUNT_HELD, { day });
    return Object.fromEntries(rows.map(({ kind, held }) => [kind, held]));
  }),
});

const PUT_ECONOMY = `
  INSERT INTO economies (tenant, day, rung, highest, limits, since) VALUES (@tenant, @day, @rung, @highest, @limits, @since)
  ON CONFLICT (tenant) DO UPDATE SET
    day = excluded.day, rung = excluded.rung, highest = excluded.highest, limits = excluded.limits, since = excluded.since`;

/** What a call adds to the use of those it is for: as it is noted, and as it has ended. */
export const usesNoted = (call: SentCall): readonly object[] => usesOf(call, { calls: 1, tokens: 0 });

export function usesSettled(call: SettledCall): readonly object[] {
  const { outcome, noted, usage } = call;
  if (outcome === 'refused') return noted === null ? [] : usesOf(call, { calls: -1, tokens: 0 });
  return usesOf(call, { calls: noted === null ? 1 : 0, tokens: usage.promptTokens + usage.completionTokens });
}

/** What is asked in shadow spaces, and embeddings, are nobody's in particular. */
function usesOf(
  { tenant, lane, appId, keyId, step, at }: SentCall,
  adds: Pick<Use, 'calls' | 'tokens'>,
): readonly object[] {
  if (payerOf(tenant) !== tenant || step === 'embed') return [];
  const whos: readonly (readonly [HoldKind, string | null])[] = [
    ['owner', lane],
    ['app', appId],
    ['key', keyId],
  ];
  return whos.flatMap(([kind, who]) =>
    who === null ? [] : [{ tenant, kind, who: countedAs(kind, who), day: dayOf(at), ...adds }],
  );
}

/** The days of which there are uses, one look for each: rows of one owner are found by them. */
const DAYS_OF_USES = `
  WITH RECURSIVE days (day) AS (
    SELECT min(day) FROM uses
    UNION ALL SELECT (SELECT min(u.day) FROM uses u WHERE u.day > days.day) FROM days WHERE days.day IS NOT NULL
  ) SELECT day FROM days WHERE day IS NOT NULL`;

/** What the owner of a lane used, or why it is held: a condition on rows. */
export const OF_LANE = "tenant = (SELECT tenant FROM lanes WHERE id = @lane) AND kind = 'owner' AND who = @lane";
export const USES_OF_LANE = `day IN (${DAYS_OF_USES}) AND ${OF_LANE}`;

/** In days. */
const HOLDS_KEPT = 35;

/** An app may be called after somebody who is erased: its use goes by a digest. The use of an owner goes with the owner. */
const countedAs = (kind: HoldKind, who: string): string =>
  kind === 'owner' ? who : createHash('sha256').update(who).digest('base64url');

/** What HAS_ROOM is given. */
export const roomsGiven = (tenant: TenantId, rooms: readonly Room[]): Given => ({
  tenant,
  rows: rooms.map((room) => ({ ...room, counted: countedAs(room.kind, room.who) })),
});

/** Each connection has its slot, as with counters. */
export const addToUses = (condition: string): string => `
  INSERT INTO uses (tenant, kind, who, day, slot, calls, tokens)
  SELECT value ->> 'tenant' AS tenant, value ->> 'kind' AS kind, value ->> 'who' AS who, (value ->> 'day')::int AS day, :slot,
    (value ->> 'calls')::bigint, (value ->> 'tokens')::bigint
  FROM :rows AS r WHERE ${condition} ORDER BY 1, 2, 4, 3
  ON CONFLICT (day, tenant, kind, who, slot) DO UPDATE SET
    calls = uses.calls + excluded.calls, tokens = uses.tokens + excluded.tokens`;

interface UseRow extends Omit<Use, 'hold'> {
  readonly held: 0 | 1;
  readonly released_at: number | null;
}

const useFrom = ({ held, released_at, ...use }: UseRow): Use => ({
  ...use,
  hold: held === 0 ? null : released_at === null ? 'held' : 'released',
});

const SELECT_USES = `
  SELECT u.kind, r.value ->> 'who' AS who, sum(u.calls)::bigint AS calls, sum(u.tokens)::bigint AS tokens,
    max(CASE WHEN h.id IS NULL THEN 0 ELSE 1 END) AS held, max(h.released_at) AS released_at
  FROM :rows AS r
  JOIN uses u ON u.tenant = @tenant AND u.kind = r.value ->> 'kind' AND u.day = @day AND u.who = r.value ->> 'counted'
  LEFT JOIN holds h ON h.tenant = @tenant AND h.kind = u.kind AND h.day = @day AND h.who = r.value ->> 'who'
  GROUP BY u.kind, r.value ->> 'who' ORDER BY u.kind`;

/** Nobody of these has used what there is room for; whom somebody has let go of has all of it. */
export const HAS_ROOM = `NOT EXISTS (
  SELECT 1 FROM :rows AS r WHERE (
    SELECT CASE WHEN max(h.id) IS NOT NULL THEN max(h.released_at) IS NULL
      ELSE sum(u.calls) >= (r.value ->> 'calls')::bigint OR sum(u.tokens) >= (r.value ->> 'tokens')::bigint END
    FROM uses u LEFT JOIN holds h ON h.tenant = u.tenant AND h.kind = u.kind AND h.day = u.day AND h.who = r.value ->> 'who'
    WHERE u.tenant = @tenant AND u.kind = r.value ->> 'kind' AND u.day = (r.value ->> 'day')::int AND u.who = r.value ->> 'counted'))`;

const SELECT_USUAL = `
  SELECT kind, max(calls) AS calls, max(tokens) AS tokens FROM use_medians
  WHERE tenant = @tenant AND day >= @since AND day < @day AND peers >= @peers GROUP BY kind ORDER BY kind`;

const SELECT_OWN = `
  SELECT sum(calls)::bigint AS calls, sum(tokens)::bigint AS tokens FROM uses
  WHERE tenant = @tenant AND kind = @kind AND who = @who AND day IN :days::int
  GROUP BY day ORDER BY day`;

const SETTLE_DAYS = `
  INSERT INTO use_medians (tenant, kind, day, peers, calls, tokens)
  SELECT tenant, kind, day, peers, max(CASE WHEN by_calls = (peers + 1) / 2 THEN calls END),
    max(CASE WHEN by_tokens = (peers + 1) / 2 THEN tokens END)
  FROM (
    SELECT tenant, kind, day, calls, tokens, count(*) OVER (PARTITION BY tenant, kind, day) AS peers,
      row_number() OVER (PARTITION BY tenant, kind, day ORDER BY calls) AS by_calls,
      row_number() OVER (PARTITION BY tenant, kind, day ORDER BY tokens) AS by_tokens
    FROM (
      SELECT u.tenant, u.kind, u.day, sum(u.calls)::bigint AS calls, sum(u.tokens)::bigint AS tokens FROM uses u
      WHERE u.day >= @since AND u.day < @day AND NOT EXISTS (
        SELECT 1 FROM use_medians m WHERE m.tenant = u.tenant AND m.kind = u.kind AND m.day = u.day)
      GROUP BY u.tenant, u.kind, u.day, u.who
    ) AS sums
  ) AS ranked
  WHERE true GROUP BY tenant, kind, day, peers ON CONFLICT (tenant, kind, day) DO NOTHING`;

const INSERT_HOLD = `
  INSERT INTO holds (id, tenant, kind, who, day, measure, used, most, held_at)
  VALUES (@id, @tenant, @kind, @who, @day, @measure, @used, @limit, @heldAt)
  ON CONFLICT (tenant, kind, day, who) DO NOTHING`;

const SELECT_HOLDS = `
  SELECT h.*, l.owner_kind, l.owner_id FROM holds h LEFT JOIN lanes l ON h.kind = 'owner' AND l.id = h.who`;

const SELECT_OWNER = 'SELECT owner_kind, owner_id FROM lanes WHERE id = @who';

const COUNT_HELD = `
  SELECT kind, count(*) AS held FROM holds WHERE day = @day AND released_at IS NULL GROUP BY kind`;

type OwnerColumns = Parameters<typeof ownerFrom>[0];

interface HoldRow extends Omit<KeptHold, 'limit' | 'heldAt' | 'releasedAt' | 'owner'> {
  readonly most: number;
  readonly held_at: number;
  readonly released_at: number | null;
  readonly owner_kind: OwnerColumns['owner_kind'] | null;
  readonly owner_id: string | null;
}

const holdFrom = ({ most, held_at, released_at, owner_kind, owner_id, ...hold }: HoldRow): KeptHold => ({
  ...hold,
  limit: most,
  heldAt: held_at,
  releasedAt: released_at,
  owner: owner_kind === null || owner_id === null ? null : ownerFrom({ owner_kind, owner_id }),
});

const HOLDS: Listing<HoldRow, KeptHold> = {
  select: SELECT_HOLDS,
  by: ['h.held_at', 'h.id'],
  asked: { tenant: 'h.tenant = @tenant' },
  make: holdFrom,
};

export const shareStore = storeOf<ShareStore>('shares', {
  held: lookup((tenant) => heldShare(tenant)),
  take: write(function* (tenant, share) {
    yield* run(UPSERT_SHARE, { tenant, ...share, isLast: Number(share.isLast), wants: Number(share.wants) });
    return (yield* heldShare(tenant)) ?? share;
  }),
  want: statement(function* (tenant, epoch) {
    yield* run('UPDATE tenant_shares SET wants = 1 WHERE tenant = @tenant AND epoch = @epoch', { tenant, epoch });
  }),
  wanting: read(function* (limit) {
    const text = 'SELECT tenant FROM tenant_shares WHERE wants = 1 ORDER BY tenant LIMIT @limit';
    return (yield* all<{ tenant: TenantId }>(text, { limit })).map(({ tenant }) => tenant);
  }),
});

/** What a tenant has in common comes, or one of its owners: its share is with other cells until this one is told. */
export const awaitShare = (tenant: TenantId): Script<number> => run(INSERT_NOTHING, { tenant });

const INSERT_NOTHING = `
  INSERT INTO tenant_shares (tenant, epoch, part, until, day, limits, elsewhere, is_last, wants_at, wants)
  VALUES (@tenant, 0, 0, 0, 0, '', 0, 0, 0, 1) ON CONFLICT (tenant) DO NOTHING`;

interface ShareRow {
  readonly epoch: number;
  readonly part: number;
  readonly until: number;
  readonly day: number;
  readonly limits: string;
  readonly elsewhere: number;
  readonly is_last: number;
  readonly wants_at: number;
  readonly wants: number;
}

function* heldShare(tenant: TenantId): Script<HeldShare | null> {
  return shareFrom(yield* first<ShareRow>('SELECT * FROM tenant_shares WHERE tenant = @tenant', { tenant }));
}

const shareFrom = (row: ShareRow | null): HeldShare | null =>
  row && {
    ...{ epoch: row.epoch, part: row.part, until: row.until, day: row.day, limits: row.limits },
    ...{ elsewhere: row.elsewhere, isLast: row.is_last === 1, wantsAt: row.wants_at, wants: row.wants === 1 },
  };

const UPSERT_SHARE = `
  INSERT INTO tenant_shares (tenant, epoch, part, until, day, limits, elsewhere, is_last, wants_at, wants)
  VALUES (@tenant, @epoch, @part, @until, @day, @limits, @elsewhere, @isLast, @wantsAt, @wants)
  ON CONFLICT (tenant) DO UPDATE SET
    epoch = excluded.epoch, part = excluded.part, until = excluded.until, day = excluded.day, limits = excluded.limits,
    elsewhere = excluded.elsewhere, is_last = excluded.is_last, wants_at = excluded.wants_at, wants = excluded.wants
  WHERE tenant_shares.epoch <= excluded.epoch`;
