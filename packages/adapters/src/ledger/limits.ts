import type { Economy, LimitStore, TenantId } from '@slowwave/engine';
import { climb, economyNotice } from '@slowwave/engine/storing';
import { read, storeOf, write } from './access.ts';
import { all, first, run, type Script } from './script.ts';
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
  economies: read(() => all<Economy & { tenant: TenantId }>('SELECT * FROM economies ORDER BY tenant', {})),
});

/** The rung of the tenant of a lane on a day; null: it saves nothing. */
export function* rungOfLane(lane: string, day: number): Script<number | null> {
  return (yield* first<{ rung: number }>(SELECT_RUNG, { lane, day }))?.rung ?? null;
}

const SELECT_RUNG = `
  SELECT rung FROM economies WHERE tenant = (SELECT l.tenant FROM lanes l WHERE l.id = @lane) AND day = @day`;

const PUT_ECONOMY = `
  INSERT INTO economies (tenant, day, rung, highest, limits, since) VALUES (@tenant, @day, @rung, @highest, @limits, @since)
  ON CONFLICT (tenant) DO UPDATE SET
    day = excluded.day, rung = excluded.rung, highest = excluded.highest, limits = excluded.limits, since = excluded.since`;
