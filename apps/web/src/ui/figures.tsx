const EXACT = new Intl.DateTimeFormat('en', { dateStyle: 'medium', timeStyle: 'medium' });
const AGO = new Intl.RelativeTimeFormat('en', { numeric: 'auto' });

const UNITS: readonly (readonly [unit: Intl.RelativeTimeFormatUnit, ms: number])[] = [
  ['year', 31_557_600_000],
  ['month', 2_629_800_000],
  ['day', 86_400_000],
  ['hour', 3_600_000],
  ['minute', 60_000],
];

/** How long ago it was; exactly for those who point at it. */
export const Moment = ({ iso }: { readonly iso: string }) => (
  <time dateTime={iso} title={EXACT.format(new Date(iso))}>
    {agoOf(Date.parse(iso), Date.now())}
  </time>
);

const DAY = new Intl.DateTimeFormat('en', { dateStyle: 'medium' });

/** The day since when, or until when, something is so; exactly for those who point at it. */
export const Day = ({ iso }: { readonly iso: string }) => (
  <time dateTime={iso} title={EXACT.format(new Date(iso))}>
    {DAY.format(new Date(iso))}
  </time>
);

export function agoOf(at: number, now: number): string {
  const passed = at - now;
  const [unit, ms] = UNITS.find(([, ms]) => Math.abs(passed) >= ms) ?? ['second', 1_000];
  return AGO.format(Math.round(passed / ms), unit);
}

const SECOND_MS = 1_000;
const MINUTE_MS = 60_000;
const HOUR_MS = 3_600_000;

/** How long something takes, in the unit that people would say it in. */
export function lasting(ms: number): string {
  if (ms < SECOND_MS) return `${Math.round(ms)} ms`;
  if (ms < MINUTE_MS) return `${inUnits(ms / SECOND_MS)} s`;
  return ms < HOUR_MS ? `${inUnits(ms / MINUTE_MS)} min` : `${inUnits(ms / HOUR_MS)} h`;
}

const inUnits = (value: number): string => value.toLocaleString('en', { maximumFractionDigits: value < 10 ? 1 : 0 });

export const whole = (value: number): string => value.toLocaleString('en');

export const sumOf = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0);

export const counted = (count: number, one: string, more: string): string =>
  `${whole(count)} ${count === 1 ? one : more}`;

export const percent = (share: number, maximumFractionDigits = 0): string =>
  `${(share * 100).toLocaleString('en', { maximumFractionDigits })}%`;

/** What something cost, in the currency of the prices. Without a price nothing is known of it. */
export const money = (cost: number | null, maximumFractionDigits = 4): string =>
  cost === null ? 'no price' : cost.toLocaleString('en', { maximumFractionDigits });

/** What is measured of calls of models. */
export const MEASURES = { tokens: 'Tokens', cost: 'Cost' } as const;
export type Measure = keyof typeof MEASURES;

export interface Used {
  readonly prompt_tokens: number;
  readonly completion_tokens: number;
  readonly cost: number;
}

export const measured = (used: Used, measure: Measure): number =>
  measure === 'cost' ? used.cost : used.prompt_tokens + used.completion_tokens;

export const DAY_MS = 86_400_000;
const UTC_DAY = new Intl.DateTimeFormat('en', {
  ...{ weekday: 'short', month: 'short', day: 'numeric' },
  timeZone: 'UTC',
});

/** The day of a budget. */
export const utcDay = (at: number): string => UTC_DAY.format(at);
