import type { CeilingsView } from '@slowwave/contracts';
import { withApi } from '../api/ask.ts';
import type { Command, Given } from '../command.ts';
import { EXIT, UsageError } from '../exit.ts';
import { pairs } from '../output/table.ts';

const NAME = 'tenants ceilings';

export const ceilingsCommand: Command = {
  name: NAME,
  usage: '<tenant>',
  words: [1, 1],
  on: 'server or ledger',
  summary: 'Show or set the daily limits of a tenant.',
  about: `With --tokens or --cost both are set anew: one that is not named is none. The tenant's own budgets
may be lower, and cannot lift it. For operators.`,
  options: {
    tokens: { value: 'N', about: 'Chat model tokens per day (UTC), or none.' },
    cost: { value: 'AMOUNT', about: 'Cost per day, by the prices of the tenant default, or none.' },
    usual: { value: null, about: 'Reset to the limits for all tenants.' },
  },
  run: (call) => {
    const path = `/v1/tenants/${encodeURIComponent(call.given.words[0] ?? '')}/ceilings`;
    const wish = wishOf(call.given);
    return withApi(call, { writes: false }, async (ask) => {
      const view = await ask<CeilingsView>({ ...wish, path });
      call.out.answer(view, told(view));
      return EXIT.done;
    });
  },
};

function wishOf(given: Given): { method: 'GET' | 'PUT' | 'DELETE'; body?: object } {
  const tokens = amountOf(given, 'tokens');
  const cost = amountOf(given, 'cost');
  const isSet = tokens !== undefined || cost !== undefined;
  if (given.flag('usual') && isSet) throw new UsageError('expected --usual, or --tokens and --cost, got both', NAME);
  if (given.flag('usual')) return { method: 'DELETE' };
  if (!isSet) return { method: 'GET' };
  return { method: 'PUT', body: { tokens_per_day: tokens ?? null, cost_per_day: cost ?? null } };
}

/** null: none; undefined: not given. */
function amountOf(given: Given, option: string): number | null | undefined {
  const text = given.text(option);
  if (text === null) return undefined;
  if (text === 'none') return null;
  const amount = Number(text);
  if (text.trim() !== '' && Number.isFinite(amount) && amount >= 0) return amount;
  throw new UsageError(`expected --${option}, an amount of 0 or more, or none; got "${text}"`, NAME);
}

const told = ({ tenant, tokens_per_day: tokens, cost_per_day: cost, own }: CeilingsView): string =>
  pairs([
    ['tenant', tenant],
    ['tokens a day', tokens ?? 'no limit'],
    ['cost a day', cost ?? 'no limit'],
    ['set for', own ? 'this tenant' : 'all tenants'],
  ]);
