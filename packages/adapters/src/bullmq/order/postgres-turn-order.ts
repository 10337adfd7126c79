import type { Pool, PoolClient } from 'pg';
import { BEFORE_FIRST, FAR_AHEAD, LAST_ROUND, type TurnOrder } from './turn-order.ts';

/** A number that only has to differ from other programs' locks. */
const TABLE_LOCK = 1_402_718_296;

/**
 * One row per tenant with its last round, and one without a tenant with the latest that began. Unlogged: a server that
 * crashes forgets it, and counting begins anew.
 */
const TABLE = `
  CREATE UNLOGGED TABLE IF NOT EXISTS turn_rounds (
    priority text NOT NULL,
    tenant text NOT NULL,
    round bigint NOT NULL,
    PRIMARY KEY (priority, tenant)
  ) WITH (fillfactor = 50)`;

const BEGUN = `coalesce((SELECT round FROM turn_rounds WHERE priority = $1 AND tenant = ''), ${BEFORE_FIRST})`;

const NEXT = `
  INSERT INTO turn_rounds AS t (priority, tenant, round) VALUES ($1, $2, ${BEGUN} + $3::bigint)
  ON CONFLICT (priority, tenant) DO UPDATE SET round = CASE
    WHEN t.round + $3 BETWEEN excluded.round AND excluded.round + ${FAR_AHEAD} THEN t.round + $3
    ELSE excluded.round END
  RETURNING round`;

const BEGIN = `
  INSERT INTO turn_rounds AS t (priority, tenant, round)
  SELECT $1, '', $2::bigint WHERE $2::bigint - ${BEGUN} BETWEEN 1 AND ${FAR_AHEAD}
  ON CONFLICT (priority, tenant) DO UPDATE SET round = greatest(t.round, excluded.round)`;

/** The order of turns that all processes on one PostgreSQL share. */
export function postgresTurnOrder(pool: Pool): TurnOrder {
  const last = async (priority: string, tenant: string, count: number): Promise<number> =>
    Number((await pool.query(NEXT, [priority, tenant, count])).rows[0]?.round);
  return {
    next: async (priority, tenant, count) => {
      const round = await last(priority, tenant, count);
      if (round <= LAST_ROUND) return round - count + 1;
      await pool.query('DELETE FROM turn_rounds WHERE priority = $1', [priority]);
      return (await last(priority, tenant, count)) - count + 1;
    },
    begin: async (priority, round) => {
      await pool.query(BEGIN, [priority, round]);
    },
  };
}

/** Safe when several processes start at once, which `IF NOT EXISTS` alone is not. */
export async function makeTurnOrderTable(client: PoolClient): Promise<void> {
  await client.query('BEGIN');
  try {
    await client.query(`SELECT pg_advisory_xact_lock(${TABLE_LOCK})`);
    await client.query(TABLE);
    await client.query('COMMIT');
  } catch (error) {
    await client.query('ROLLBACK').catch(() => {}); // a lost connection has rolled back by itself
    throw error;
  }
}
