import { type CapacityPlan, capacityPlan, costOfUse, type ModelPrice, type Part } from '@slowwave/engine';
import { type Call, countOf, type Given, OptionError } from './command.ts';
import { UsageError } from './exit.ts';
import { type Columns, table } from './output.ts';

export async function planCapacity({ given }: Call) {
  const model = given.text('model');
  if (model === null) throw missing('model NAME');
  const plan = capacityPlan({
    users: required(given, 'users', USERS_MAX),
    messagesPerDay: required(given, 'messages-per-day', MESSAGES_MAX),
    dimensions: countOf(given, 'dimensions', { usual: 1_536, max: 65_536 }),
    gap: countOf(given, 'gap', { usual: 60, max: DAY_S }),
    months: countOf(given, 'months', { usual: 12, max: 1_200 }),
    asleep: countOf(given, 'asleep', { usual: 0, max: ASLEEP_MAX }) / PERCENT,
  });
  const money = moneyOf(plan, model, given);
  return { value: answerOf(plan, { model, money }), text: textOf(plan, { model, money }) };
}

const USERS_MAX = 10_000_000_000;
const MESSAGES_MAX = 1_000_000;
const DAY_S = 86_400;
const PERCENT = 100;
const ASLEEP_MAX = 99;

function required(given: Given, option: string, max: number): number {
  if (given.text(option) === null) throw missing(`${option} N`);
  return countOf(given, option, { usual: 1, max });
}

const missing = (option: string): UsageError => new UsageError(`slowwave plan: expected --${option}`, 'plan');

/** Of a million tokens; null: not given. */
function priceIn(given: Given, option: string): number | null {
  const text = given.text(option);
  if (text === null) return null;
  const price = Number(text);
  if (text.trim() === '' || !Number.isFinite(price) || price < 0)
    throw new OptionError(option, 'a price, e.g. 0.4', text);
  return price;
}

const PER_PRICE = 1_000_000;

/** Of a month; null: the model has no price. */
function moneyOf({ tokensPerMonth: tokens }: CapacityPlan, model: string, given: Given): number | null {
  const [prompt, completion] = [priceIn(given, 'prompt-price'), priceIn(given, 'completion-price')];
  if ((prompt === null) !== (completion === null)) {
    throw missing(`${prompt === null ? 'prompt-price' : 'completion-price'} PRICE together with the other price`);
  }
  const own: Record<string, ModelPrice> =
    prompt === null || completion === null ? {} : { [model]: { prompt, completion } };
  const embedding = priceIn(given, 'embedding-price') ?? 0;
  const used = { promptTokens: tokens.prompt, completionTokens: tokens.completion };
  const asked = costOfUse(model, used, own);
  return asked === null ? null : asked + (tokens.embedded * embedding) / PER_PRICE;
}

interface Priced {
  readonly model: string;
  readonly money: number | null;
}

const answerOf = (
  { setup, exchangesPerSecond, processes, stores, disks, tokensPerMonth }: CapacityPlan,
  { model, money }: Priced,
) => ({
  setup,
  exchanges_per_second: exchangesPerSecond,
  processes,
  stores,
  disks: disks.map(({ name, bytes, bytesPerMonth }) => ({
    name,
    bytes: Math.round(bytes),
    bytes_per_month: Math.round(bytesPerMonth),
  })),
  per_month: {
    model,
    calls: Math.round(tokensPerMonth.calls),
    prompt_tokens: Math.round(tokensPerMonth.prompt),
    completion_tokens: Math.round(tokensPerMonth.completion),
    embedded_tokens: Math.round(tokensPerMonth.embedded),
    cost: money === null ? null : Number(money.toFixed(2)),
  },
});

const PARTS: Columns<Part> = { what: 'name', count: 'count', why: 'why' };

function textOf(plan: CapacityPlan, { model, money }: Priced): string {
  const { setup, exchangesPerSecond: load, processes, stores, disks, tokensPerMonth: tokens } = plan;
  const sizes: Columns<CapacityPlan['disks'][number]> = {
    disk: 'name',
    'per month': ({ bytesPerMonth }) => sizeOf(bytesPerMonth),
    'in the end': ({ bytes }) => sizeOf(bytes),
  };
  const cost = money === null ? NO_PRICE : `${amount(money)} at the price of ${model}`;
  return [
    `${setup}: ${amount(load.mean)} exchanges per second, ${amount(load.peak)} at the peak`,
    '',
    table(PARTS, [...processes, ...stores]),
    table(sizes, disks),
    `${amount(tokens.calls)} calls of ${model} per month, ${amount(tokens.prompt)} prompt tokens, ${amount(tokens.completion)} completion tokens, ${amount(tokens.embedded)} embedded tokens`,
    `model cost per month: ${cost}`,
  ].join('\n');
}

const NO_PRICE = 'the model has no list price; give --prompt-price and --completion-price';

const amount = (value: number): string => value.toLocaleString('en-US', { maximumSignificantDigits: 3 });

const UNITS = ['B', 'KB', 'MB', 'GB', 'TB', 'PB'];
const UNIT = 1_000;

function sizeOf(bytes: number): string {
  const power = Math.min(UNITS.length - 1, Math.floor(Math.log(Math.max(1, bytes)) / Math.log(UNIT)));
  return `${amount(bytes / UNIT ** power)} ${UNITS[power]}`;
}
