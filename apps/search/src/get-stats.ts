import { StatsView } from '@slowwave/contracts';
import type { BatchCounts, Ledger, TenantId } from '@slowwave/engine';
import { type App, requestTenant } from '@slowwave/http';
import type { SearchDeps } from './deps.ts';

const schema = {
  operationId: 'getStats',
  tags: ['memories'],
  summary: 'Get counts, and check that they add up',
  description: 'batches.gap is accepted minus all other counts; any value other than 0 is a defect.',
  response: { 200: StatsView },
};

export function getStats(app: App, { ledger }: SearchDeps): void {
  app.get('/v1/stats', { schema }, async (request) => stats(ledger, requestTenant(request) as TenantId));
}

async function stats({ overview }: Ledger, tenant: TenantId) {
  const [batches, memories, usage, owners, outbox] = await Promise.all([
    overview.batches(tenant),
    overview.memories(tenant),
    overview.usage(tenant),
    overview.ownerCount(tenant),
    overview.outbox(),
  ]);
  return {
    batches: { ...batches, gap: gapOf(batches) },
    memories,
    owners,
    outbox,
    usage: {
      calls: usage.calls,
      failed_calls: usage.failedCalls,
      prompt_tokens: usage.promptTokens,
      completion_tokens: usage.completionTokens,
    },
  };
}

function gapOf({ accepted, ...outcomes }: BatchCounts): number {
  return accepted - Object.values(outcomes).reduce((sum, count) => sum + count, 0);
}
