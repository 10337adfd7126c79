import { DriftQuery, DriftView } from '@slowwave/contracts';
import { DAY_MS, type DriftedFigure, driftOf, FIGURES, isoOf, type Millis, type Tally } from '@slowwave/engine';
import { routesOf } from './deps.ts';

const route = routesOf('manage');

const RECENT_MS = 7 * DAY_MS;
const BEFORE_MS = 28 * DAY_MS;
/** Of each kind and period. */
const ROWS_MAX = 1_000;

export const getDrift = route('GET /v1/drift', {
  id: 'getDrift',
  summary: 'Compare the consolidations of the last seven days with the 28 days before',
  description:
    'Needs no test data: it shows changes in production, for example a model that its provider has replaced.',
  query: DriftQuery,
  answer: DriftView,
  handle: async ({ ledger, tools }, { tenant, query }) => {
    const now = tools.now();
    const periods = {
      before: { from: now - RECENT_MS - BEFORE_MS, to: now - RECENT_MS },
      recent: { from: now - RECENT_MS, to: now + 1 },
    };
    const read = (period: { from: Millis; to: Millis }) =>
      ledger.overview.measured(tenant, { ...period, rowsMax: ROWS_MAX });
    const [before, recent] = await Promise.all([read(periods.before), read(periods.recent)]);
    const { figures, opinions, models } = driftOf(before, recent, query.model ?? null);
    const shown = ({ from, to }: { from: Millis; to: Millis }) => ({ from: isoOf(from), to: isoOf(to) });
    return {
      before: shown(periods.before),
      recent: shown(periods.recent),
      models: [...models],
      figures: figures.map(figureView),
      opinions: opinions.map((one) => ({ of: one.of, before: tallyView(one.before), recent: tallyView(one.recent) })),
    };
  },
});

function figureView({
  figure,
  baseline,
  variant,
  difference,
  n,
  verdict,
}: DriftedFigure): DriftView['figures'][number] {
  const { says, kind, worse } = FIGURES[figure];
  const counted = { before: n.baseline, recent: n.variant };
  return { figure, says, kind, worse, before: baseline, recent: variant, n: counted, difference, verdict };
}

const tallyView = ({ part, of }: Tally) => ({ against: part, of });
