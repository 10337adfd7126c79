/** The library cannot do this on PostgreSQL: its `trimEvents` throws there. The schema is the one it keeps its tables in. */
export const FORGET_EVENTS = 'DELETE FROM bullmq.event WHERE queue = $1';
