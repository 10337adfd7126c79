import {
  type CeilingsView,
  type ForecastView,
  type HoldView,
  UsageCause,
  UsageGroup,
  type UsageRowView,
} from '@slowwave/contracts';
import { ofTenant } from '../api.ts';
import { type Command, type Given, momentOf, OptionError, oneOf, pathWord, TENANT } from '../command.ts';
import { UsageError } from '../exit.ts';
import { type Columns, LIMIT, listed, pairs } from '../output.ts';

export const usageCommands: readonly Command[] = [
  {
    name: 'usage',
    summary: 'Show what model calls used and cost.',
    about: `Adds up all calls of chat and embedding models. Calls without an answer are shown separately, as an
estimate: the provider's bill lies between the cost without and with them.`,
    options: {
      by: { value: 'GROUPS', about: `Comma-separated: ${UsageGroup.options.join(', ')}. Default: day.` },
      since: { value: 'MOMENT', about: 'Only since this time, e.g. 2026-03-01T00:00:00Z or 2h, 30d. Default: 7d.' },
      until: { value: 'MOMENT', about: 'Only before this time.' },
      user: { value: 'ID', about: 'Only calls for this user.' },
      app: { value: 'ID', about: 'Only calls for this app.' },
      key: { value: 'ID', about: 'Only calls of this key.' },
      step: { value: 'STEP', about: 'Only this step, e.g. extract, decide, summary, embed.' },
      model: { value: 'NAME', about: 'Only this model.' },
      cause: { value: 'CAUSE', about: `Only calls made for one of: ${UsageCause.options.join(', ')}.` },
      tenant: TENANT,
      limit: LIMIT,
    },
    run: async (call) => {
      const { given } = call;
      const groups = groupsOf(given.text('by') ?? 'day');
      const query = {
        group_by: groups.join(','),
        from: momentOf(given, 'since'),
        to: momentOf(given, 'until'),
        user_id: given.text('user'),
        app_id: given.text('app'),
        key_id: given.text('key'),
        step: given.text('step'),
        model: given.text('model'),
        cause: oneOf(given, 'cause', UsageCause.options),
        tenant: given.text('tenant'),
      };
      const columns = { ...Object.fromEntries(groups.map((group) => [group, GROUP_COLUMNS[group]])), ...SUMS };
      return listed<UsageRowView>(call, {
        path: '/v1/usage',
        query,
        columns,
        as: 'rows',
        none: 'No model calls found.',
      });
    },
  },
  {
    name: 'plan',
    summary: 'Estimate the resources for a number of users: processes, stores, disks, tokens and cost.',
    about: `Uses no server and no ledger: it extrapolates from the measurements in docs/scale.md. The cost
of machines is not included.`,
    on: 'server',
    options: {
      users: { value: 'N', about: 'Number of active users.' },
      'messages-per-day': { value: 'N', about: 'Messages per user and day, including answers.' },
      model: { value: 'NAME', about: 'The chat model, for its price.' },
      dimensions: { value: 'N', about: 'Dimensions of the embedding model. Default: 1536.' },
      gap: { value: 'SECONDS', about: 'Time between two exchanges in a conversation, in seconds. Default: 60.' },
      months: { value: 'N', about: 'How long the disks should last, in months. Default: 12.' },
      asleep: { value: 'PERCENT', about: 'Percentage of users that sleep, see docs/cold.md. Default: 0.' },
      'prompt-price': { value: 'PRICE', about: 'Price per million prompt tokens, if the model has no list price,' },
      'completion-price': { value: 'PRICE', about: 'and price per million completion tokens.' },
      'embedding-price': { value: 'PRICE', about: 'Price per million embedded tokens. Default: not counted.' },
    },
    run: async (call) => (await import('../capacity.ts')).planCapacity(call),
  },
];

type Group = (typeof UsageGroup.options)[number];

function groupsOf(text: string): readonly Group[] {
  return text.split(',').map((word) => {
    const group = UsageGroup.options.find((one) => one === word.trim());
    if (group === undefined) throw new OptionError('by', `some of ${UsageGroup.options.join(', ')}`, word);
    return group;
  });
}

const GROUP_COLUMNS: Readonly<Record<Group, (row: UsageRowView) => string>> = {
  day: ({ day = '' }) => day,
  hour: ({ hour = '' }) => hour,
  step: ({ step = '' }) => step,
  model: ({ model = '' }) => model,
  cause: ({ cause = '' }) => cause,
  user: (row) => row.user_id ?? '–',
  app: (row) => row.app_id ?? '–',
  key: (row) => row.key_id ?? '–',
};

/** Calls cost fractions of a cent. */
const money = (amount: number): number => Math.round(amount * 10_000) / 10_000;

const SUMS: Columns<UsageRowView> = {
  calls: 'calls',
  prompt: 'prompt_tokens',
  cached: 'cached_tokens',
  completion: 'completion_tokens',
  cost: ({ cost }) => money(cost),
  refused: 'refused_calls',
  unanswered: ({ unanswered }) => unanswered.calls,
  'their tokens': ({ unanswered: { prompt_tokens: a, completion_tokens: b } }) => a + b,
  'their cost': ({ unanswered }) => money(unanswered.cost),
};

export const holdCommands: readonly Command[] = [
  {
    name: 'holds',
    summary: 'List users, apps and keys that are held because they used far more than usual, newest first.',
    options: { tenant: TENANT, limit: LIMIT },
    run: async (call) => {
      const query = { tenant: call.given.text('tenant') };
      return listed(call, {
        path: '/v1/holds',
        query,
        columns: HOLD_COLUMNS,
        as: 'holds',
        none: 'There are no holds.',
      });
    },
  },
  {
    name: 'holds release',
    usage: '<hold>',
    summary: 'Release a hold: waiting work continues, and there is no second hold today.',
    writes: true,
    options: { tenant: TENANT },
    run: async (call) => {
      const hold = await call.ask<HoldView>('POST', ofTenant(`/v1/holds/${pathWord(call)}/release`, call));
      return {
        value: hold,
        text: `The ${hold.kind} ${hold.of} is released. Waiting work continues within five minutes.`,
      };
    },
  },
];

const HOLD_COLUMNS: Columns<HoldView> = {
  id: 'id',
  of: ({ kind, of }) => `${kind} ${of}`,
  state: 'state',
  used: ({ used, measure }) => `${used.toLocaleString('en')} ${measure}`,
  limit: ({ limit }) => limit.toLocaleString('en'),
  held: 'held_at',
};

const NAME = 'tenants ceilings';

export const ceilingsCommand: Command = {
  name: NAME,
  usage: '<tenant>',
  summary: 'Show or set the daily limits of a tenant.',
  about: `--tokens and --cost replace both limits: the one you omit is removed. The tenant's own budgets
can be lower, but not higher. Only for operators.`,
  options: {
    tokens: { value: 'N', about: 'Chat model tokens per day (UTC), or none.' },
    cost: { value: 'AMOUNT', about: 'Cost per day, by the prices of the tenant default, or none.' },
    usual: { value: null, about: 'Reset to the limits for all tenants.' },
  },
  run: async (call) => {
    const { method, body } = changeOf(call.given);
    const view = await call.ask<CeilingsView>(method, `/v1/tenants/${pathWord(call)}/ceilings`, body);
    return { value: view, text: ceilingsText(view) };
  },
};

function changeOf(given: Given): { method: 'GET' | 'PUT' | 'DELETE'; body?: object } {
  const tokens = amountOf(given, 'tokens');
  const cost = amountOf(given, 'cost');
  const isSet = tokens !== undefined || cost !== undefined;
  if (given.flag('usual') && isSet) throw new UsageError('expected --usual, or --tokens and --cost, got both', NAME);
  if (given.flag('usual')) return { method: 'DELETE' };
  if (!isSet) return { method: 'GET' };
  return { method: 'PUT', body: { tokens_per_day: tokens ?? null, cost_per_day: cost ?? null } };
}

/** null: no limit; undefined: not given. */
function amountOf(given: Given, option: string): number | null | undefined {
  const text = given.text(option);
  if (text === null) return undefined;
  if (text === 'none') return null;
  const amount = Number(text);
  if (text.trim() !== '' && Number.isFinite(amount) && amount >= 0) return amount;
  throw new UsageError(`expected --${option}, an amount of 0 or more, or none; got "${text}"`, NAME);
}

const ceilingsText = ({ tenant, tokens_per_day: tokens, cost_per_day: cost, own }: CeilingsView): string =>
  pairs([
    ['tenant', tenant],
    ['tokens per day', tokens ?? 'no limit'],
    ['cost per day', cost ?? 'no limit'],
    ['set for', own ? 'this tenant' : 'all tenants'],
  ]);

/** "about 120,000 ± 9,000 tokens". */
export function forecastText({ tokens, cost, basis }: ForecastView): string {
  const used = `about ${rounded(tokens.about)} ± ${rounded(tokens.plus_minus)} tokens`;
  const money =
    cost === null ? '' : ` and ${amount(cost.about)} ± ${amount(cost.plus_minus)} in the currency of the prices`;
  const from =
    basis.owners === 0
      ? ' (a guess: there are no past consolidations)'
      : ` (from ${basis.consolidations} consolidations of ${basis.owners} owners)`;
  return `${used}${money}${from}`;
}

/** To two places: more would look surer than it is. */
const PLACES = 2;
const rounded = (tokens: number): string => Number(tokens.toPrecision(PLACES)).toLocaleString('en');
const amount = (cost: number): string => cost.toLocaleString('en', { maximumSignificantDigits: PLACES });
