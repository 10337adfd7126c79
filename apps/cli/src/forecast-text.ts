import type { ForecastView } from '@slowwave/contracts';

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
