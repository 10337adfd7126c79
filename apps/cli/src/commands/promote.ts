import type { TenantId } from '@slowwave/engine';
import { type Command, countOf, OptionError } from '../command.ts';
import { tracked } from '../output.ts';
import { type Stores, withStores } from '../stores.ts';

const MOST = 1_000_000_000_000;

export const promoteCommand: Command = {
  name: 'index promote',
  usage: '[tenant…]',
  on: 'stores',
  summary: 'Give large tenants shards of their own on Qdrant.',
  about: `Needs SLOWWAVE_QDRANT_SHARDS. Works while servers run: Qdrant copies what a tenant has into a new
shard, answers from the common one until all of it is there, and from the new one after that.
If it is stopped, the next run continues. A tenant keeps its shard when the index is rebuilt.`,
  options: {
    over: { value: 'COUNT', about: 'All tenants with more memories in the index, former ones included.' },
  },
  run: ({ config, given, out, cancel }) =>
    withStores(config, async (stores) => {
      const { promoteTenant } = await import('@slowwave/adapters/assemble');
      const { index, embedder } = await stores.space();
      const over = given.text('over') === null ? null : countOf(given, 'over', { usual: 1, max: MOST });
      const named = given.words.map((tenant) => tenant as TenantId);
      if (named.length === 0 && over === null)
        throw new OptionError('over', 'names of tenants, or how many memories', '');
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
        promoted ? `${tenant}: ${memories} memories now have their own shard.` : `${tenant} had its own shard already.`,
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
