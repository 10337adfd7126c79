import { ForecastView, PostForecast } from '@slowwave/contracts';
import { type About, CALLS_KEPT_MS, forecast } from '@slowwave/engine';
import type { z } from 'zod';
import { routesOf } from './deps.ts';
import { tenantNamed } from './keys.ts';

const route = routesOf('manage');

/** The newest: models and prompts change. */
const CONSOLIDATIONS_MAX = 2_000;
/** As one consolidation takes by default. */
const WINDOW_TOKENS = 6_000;
/** Of English, about. */
const CHARS_PER_TOKEN = 4;
/** Of one message, where nothing else is known. */
const MESSAGE_TOKENS = 60;

export const postForecast = route('POST /v1/usage/forecast', {
  id: 'postForecast',
  summary: 'Forecast what consolidating messages will use and cost',
  description:
    'Goes by what the consolidations of the same tenant have used in the last 35 days, for themselves and for each token they read. ' +
    'Calls no model and stores nothing. Summaries, what-ifs and retries after this are not in it.',
  body: PostForecast,
  answer: ForecastView,
  handle: async ({ ledger, tools }, { body, request }) => {
    const tenant = tenantNamed(request, body.tenant);
    const since = tools.now() - CALLS_KEPT_MS;
    const past = (backfill: boolean) => ledger.usage.past(tenant, { since, backfill, limit: CONSOLIDATIONS_MAX });
    const alike = await past(!body.live);
    const planned = { tokens: tokensOf(body), owners: body.owners };
    const first = forecast(planned, alike, WINDOW_TOKENS);
    // What was said live says more of a backfill than nothing does, and the other way round.
    const known = first.basis.owners > 0 ? first : forecast(planned, await past(body.live), WINDOW_TOKENS);
    return {
      consolidations: known.consolidations,
      prompt_tokens: aboutView(known.promptTokens),
      completion_tokens: aboutView(known.completionTokens),
      tokens: aboutView(known.tokens),
      cost: known.cost && { about: known.cost.about, plus_minus: known.cost.plusMinus },
      basis: { ...known.basis },
    };
  },
});

function tokensOf({ tokens, characters, messages = 0 }: z.infer<typeof PostForecast>): number {
  if (tokens !== undefined) return tokens;
  return characters === undefined ? messages * MESSAGE_TOKENS : Math.ceil(characters / CHARS_PER_TOKEN);
}

const aboutView = ({ about, plusMinus }: About) => ({ about: Math.round(about), plus_minus: Math.round(plusMinus) });
