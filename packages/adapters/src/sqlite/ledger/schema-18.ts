/** What is due for one webhook, without looking at what is due for others. */
export const SCHEMA_18 = `
CREATE INDEX webhook_deliveries_due_for ON webhook_deliveries (webhook, due_at, seq) WHERE state = 'waiting';
`;
