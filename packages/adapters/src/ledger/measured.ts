import type { HowToMeasure, MeasuredRow, MeasuredStretch, Tally, TenantId } from '@slowwave/engine';
import { unpacked } from '../packed.ts';
import { laneIdOf } from './page.ts';
import { all, first, type Script, together } from './script.ts';

/** The figures of a stretch of time, and what was thought of what came of it. */
export function* measured(tenant: TenantId, how: HowToMeasure): Script<MeasuredStretch> {
  const given = { tenant, ...how };
  const [consolidations, reviews, ratings, outcomes] = yield* together(
    all<FiguresRow>(CONSOLIDATIONS, given),
    first<Tally>(REVIEWS, given),
    first<Tally>(RATINGS, given),
    first<Tally>(OUTCOMES, given),
  );
  return {
    consolidations: consolidations.map(measuredFrom),
    opinions: { reviews: reviews ?? NONE, ratings: ratings ?? NONE, outcomes: outcomes ?? NONE },
  };
}

const NONE: Tally = { part: 0, of: 0 };

interface FiguresRow extends Pick<MeasuredRow, 'lane'> {
  readonly state: string;
  readonly figures: Uint8Array;
}

const measuredFrom = ({ lane, state, figures }: FiguresRow): MeasuredRow => ({
  ...(JSON.parse(unpacked(figures)) as Pick<MeasuredRow, 'model' | 'figures'>),
  lane,
  undone: state === 'undone',
});

const CONSOLIDATIONS = `
  SELECT ${laneIdOf('lane')} AS lane, state, figures FROM consolidations
  WHERE tenant = @tenant AND created_at >= @from AND created_at < @to AND figures IS NOT NULL
  ORDER BY created_at DESC, id DESC LIMIT @rowsMax`;

/** Of the newest ones: how many there are, and how many of them are against it. */
const tally = (newest: string, against: string): string => `
  SELECT count(*) FILTER (WHERE ${against}) AS part, count(*) AS of FROM (${newest} LIMIT @rowsMax) AS newest`;

const REVIEWS = tally(
  `SELECT state FROM reviews
   WHERE tenant = @tenant AND created_at >= @from AND created_at < @to AND state IN ('approved', 'rejected')
   ORDER BY created_at DESC`,
  "state = 'rejected'",
);

const RATINGS = tally(
  `SELECT e.rated ->> 'rating' AS rating FROM events e CROSS JOIN memories m
   WHERE e.kind = 'FEEDBACK' AND e.recorded_at >= @from AND e.recorded_at < @to AND e.rated ->> 'rating' IS NOT NULL
     AND m.number = e.memory AND +m.tenant = @tenant
   ORDER BY e.recorded_at DESC`,
  "rating <> 'positive'",
);

/** SQLite reads the tables of a cross join in this order. */
const OUTCOMES = tally(
  `SELECT r.outcome FROM receipts r CROSS JOIN lanes l
   WHERE r.outcome IS NOT NULL AND r.at >= @from AND r.at < @to AND l.id = r.lane AND l.tenant = @tenant
   ORDER BY r.at DESC`,
  "outcome = 'bad'",
);
