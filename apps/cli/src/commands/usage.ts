import { UsageCause, UsageGroup, type UsageReport, type UsageRowView } from '@slowwave/contracts';
import { type Command, momentOf, OptionError, oneOf, TENANT } from '../command.ts';
import { type Column, LIMIT, listing } from '../output.ts';

export const usageCommand: Command = {
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
    const columns = [...groups.map((group) => GROUP_COLUMNS[group]), ...SUMS];
    const { items: rows, more, text } = await listing<UsageRowView>(call, { path: '/v1/usage', query, columns });
    return { value: { rows, more } satisfies Shown, text: rows.length === 0 ? 'No model calls found.' : text };
  },
};

interface Shown {
  readonly rows: UsageReport['results'];
  readonly more: boolean;
}

function groupsOf(text: string): readonly (typeof UsageGroup.options)[number][] {
  return text.split(',').map((word) => {
    const group = UsageGroup.options.find((one) => one === word.trim());
    if (group === undefined) throw new OptionError('by', `some of ${UsageGroup.options.join(', ')}`, word);
    return group;
  });
}

const GROUP_COLUMNS: Readonly<Record<(typeof UsageGroup.options)[number], Column<UsageRowView>>> = {
  day: { name: 'day', of: ({ day }) => day ?? '' },
  hour: { name: 'hour', of: ({ hour }) => hour ?? '' },
  step: { name: 'step', of: ({ step }) => step ?? '' },
  model: { name: 'model', of: ({ model }) => model ?? '' },
  cause: { name: 'cause', of: ({ cause }) => cause ?? '' },
  user: { name: 'user', of: (row) => row.user_id ?? '–' },
  app: { name: 'app', of: (row) => row.app_id ?? '–' },
  key: { name: 'key', of: (row) => row.key_id ?? '–' },
};

/** Calls cost fractions of a cent. */
const money = (amount: number): number => Math.round(amount * 10_000) / 10_000;

const SUMS: readonly Column<UsageRowView>[] = [
  { name: 'calls', of: ({ calls }) => calls },
  { name: 'prompt', of: (row) => row.prompt_tokens },
  { name: 'cached', of: (row) => row.cached_tokens },
  { name: 'completion', of: (row) => row.completion_tokens },
  { name: 'cost', of: ({ cost }) => money(cost) },
  { name: 'refused', of: (row) => row.refused_calls },
  { name: 'unanswered', of: ({ unanswered }) => unanswered.calls },
  { name: 'their tokens', of: ({ unanswered: { prompt_tokens: a, completion_tokens: b } }) => a + b },
  { name: 'their cost', of: ({ unanswered }) => money(unanswered.cost) },
];
