import { ForecastView, PostForecast } from '@slowwave/contracts';
import { type About, type Forecast, forecastOf } from '@slowwave/engine';
import type { z } from 'zod';
import { routesOf } from './deps.ts';
import { tenantNamed } from './keys.ts';

const route = routesOf('manage');

/** Of English, about. */
const CHARS_PER_TOKEN = 4;
export const postForecast = route('POST /v1/usage/forecast', {
  id: 'postForecast',
  summary: 'Forecast what consolidating messages will use and cost',
  description:
    'Based on what the tenant’s consolidations used in the last 35 days, per consolidation and per token read. ' +
    'Calls no model and stores nothing. Does not include summaries, what-ifs and retries.',
  body: PostForecast,
  answer: ForecastView,
  handle: async (deps, { body, request }) => {
    const { messages = 0, owners, live } = body;
    const work = { tokens: tokensOf(body), messages, owners, live };
    return forecastView(await forecastOf(deps, tenantNamed(request, body.tenant), work));
  },
});

/** null: by the number of messages. */
function tokensOf({ tokens, characters }: z.infer<typeof PostForecast>): number | null {
  if (tokens !== undefined) return tokens;
  return characters === undefined ? null : Math.ceil(characters / CHARS_PER_TOKEN);
}

export const forecastView = (known: Forecast): ForecastView => ({
  consolidations: known.consolidations,
  prompt_tokens: aboutView(known.promptTokens),
  completion_tokens: aboutView(known.completionTokens),
  tokens: aboutView(known.tokens),
  cost: known.cost && { about: known.cost.about, plus_minus: known.cost.plusMinus },
  basis: { ...known.basis },
});

const aboutView = ({ about, plusMinus }: About) => ({ about: Math.round(about), plus_minus: Math.round(plusMinus) });
