import { z } from 'zod';
import { ExtraOfChat, JsonHeaders, Models, Url } from './kinds.ts';

/** The steps that may have a chat model of their own, as settings name them, and what each is for. */
const STEPS = {
  EXTRACT: 'that extracts facts from messages',
  DECIDE: 'that decides what facts do to memories',
  GRAPH: 'that finds relations between people, places and things',
  SUMMARY: 'that keeps summaries of conversations',
  RECALL: 'that answers, rewrites and reranks for searches',
} as const;
export type StepName = keyof typeof STEPS;
export const STEP_NAMES = Object.keys(STEPS) as readonly StepName[];

/** In place of a list of fallbacks. */
export const NO_FALLBACK = 'none';

const PARTS = {
  MODEL: z.string(),
  BASE_URL: Url('http:', 'https:'),
  API_KEY: z.string(),
  EXTRA_BODY: ExtraOfChat,
  EXTRA_HEADERS: JsonHeaders,
  FALLBACK: Models,
};

type Parts = { readonly [P in keyof typeof PARTS]: z.ZodOptional<(typeof PARTS)[P]> };
type StepSettings = { readonly [P in keyof Parts as `SLOWWAVE_${StepName}_${P}`]: Parts[P] };

/** What is said of each part; where a step has none, it takes what the chat model has. */
const ABOUT: Readonly<Record<keyof typeof PARTS, (step: StepName) => string>> = {
  MODEL: (step) => `Chat model ${STEPS[step]}. Default: SLOWWAVE_CHAT_MODEL.`,
  BASE_URL: (step) =>
    `Base URL of a separate server for the ${wordOf(step)} model. Default: the server of the chat model.`,
  API_KEY: (step) =>
    `API key of the ${wordOf(step)} model. Default: OPENAI_API_KEY, which another base URL never receives.`,
  EXTRA_BODY: (step) => `JSON object added to each request to the ${wordOf(step)} model, in the same way.`,
  EXTRA_HEADERS: (step) => `JSON object of headers added to each request to the ${wordOf(step)} model.`,
  FALLBACK: (step) =>
    `Models used while the ${wordOf(step)} model is unavailable, comma-separated, in order of preference. none: work waits. Default: SLOWWAVE_CHAT_FALLBACK.`,
};

const wordOf = (step: StepName): string => step.toLowerCase();

export const STEP_SETTINGS = Object.fromEntries(
  STEP_NAMES.flatMap((step) =>
    (Object.keys(PARTS) as (keyof typeof PARTS)[]).map((part) => [
      `SLOWWAVE_${step}_${part}`,
      PARTS[part].optional().describe(ABOUT[part](step)),
    ]),
  ),
) as unknown as StepSettings;

/** Models that stand in, and their server. */
export const FALLBACK_SETTINGS = {
  SLOWWAVE_CHAT_FALLBACK: Models.optional().describe(
    'Models used while the chat model is unavailable, comma-separated, in order of preference. Default: none; work waits.',
  ),
  SLOWWAVE_IMAGE_FALLBACK: Models.optional().describe('The same for the image model.'),
  SLOWWAVE_FALLBACK_BASE_URL: Url('http:', 'https:')
    .optional()
    .describe(
      'Base URL of the server of all fallbacks. Default: the server of the model they replace. A fallback at another provider also helps when a whole provider is unavailable.',
    ),
  SLOWWAVE_FALLBACK_API_KEY: z
    .string()
    .optional()
    .describe('API key of the fallbacks. Default: the key of the model they replace, if they are on the same server.'),
  SLOWWAVE_FALLBACK_EXTRA_BODY: ExtraOfChat.optional().describe(
    'JSON object added to each request to a fallback, in the same way.',
  ),
  SLOWWAVE_FALLBACK_EXTRA_HEADERS: JsonHeaders.optional().describe(
    'JSON object of headers added to each request to a fallback.',
  ),
};
