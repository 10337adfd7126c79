import type { TenantId } from '@slowwave/engine';
import { type Command, countOf, OptionError } from '../command.ts';
import { tracked } from '../output.ts';
import { type Stores, withStores } from '../stores.ts';

const MOST = 1_000_000_000_000;

export const promoteCommand: Command = {
  name: 'index promote',
  usage: '[tenant…]',
  on: 'stores',
  summary: 'Give large tenants their own shards on Qdrant.',
  about: `Requires SLOWWAVE_QDRANT_SHARDS. Works while servers run: Qdrant copies the tenant's points into a new
shard and uses the common shard until the copy is complete.
If it is stopped, the next run continues. A tenant keeps its shard when the index is rebuilt.`,
  options: {
    over: { value: 'COUNT', about: 'All tenants with more memories than this in the index, including former ones.' },
  },
  run: ({ config, given, out, cancel }) =>
    withStores(config, async (stores) => {
      const { promoteTenant } = await import('@slowwave/adapters/assemble');
      const { index, embedder } = await stores.space();
      const over = given.text('over') === null ? null : countOf(given, 'over', { usual: 1, max: MOST });
      const named = given.words.map((tenant) => tenant as TenantId);
      if (named.length === 0 && over === null)
        throw new OptionError('over', 'names of tenants, or --over with a number of memories', '');
      const tenants = over === null ? named : [...new Set([...named, ...(await largerThan(stores, index, over))])];
      const promoted: { tenant: string; memories: number; promoted: boolean }[] = [];
      for (const tenant of tenants) {
        const memories = await index.count(tenant);
        const isNew = await tracked(out, { title: `promote ${tenant}`, unit: 'points' }, ({ update }) =>
          promoteTenant(
            config,
            { ...stores, embedder },
            { tenant, cancel, onProgress: (points) => update(points, Math.max(points, memories)) },
          ),
        );
        promoted.push({ tenant, memories, promoted: isNew });
      }
      const lines = promoted.map(({ tenant, memories, promoted }) =>
        promoted ? `${tenant}: ${memories} memories now have their own shard.` : `${tenant} already had its own shard.`,
      );
      return { value: { tenants: promoted }, text: lines.join('\n') || 'No tenant is that large.' };
    }),
};

async function largerThan(
  { ledger }: Pick<Stores, 'ledger'>,
  index: Awaited<ReturnType<Stores['space']>>['index'],
  least: number,
): Promise<readonly TenantId[]> {
  const larger: TenantId[] = [];
  for (const tenant of await ledger.audit.tenants()) if ((await index.count(tenant)) > least) larger.push(tenant);
  return larger;
}
