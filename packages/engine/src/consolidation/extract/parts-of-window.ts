import type { EngineDeps } from '../../deps.ts';
import { inSlices } from '../../slices.ts';
import { cutIntoParts, type Part, type PartLimits } from './parts.ts';

/** What a part repeats of the one before it, in tokens: the last exchange. */
const OVERLAP_TOKENS = 500;
/** A model that finds no end in so few tokens finds none in fewer. */
const HALVED_TOKENS_MIN = 500;

/** How long the parts are that a model is shown of a window, each in one call. */
export const partLimits = ({ settings, tokenizer }: EngineDeps, tokens = settings.partTokens): PartLimits => ({
  tokens,
  overlap: OVERLAP_TOKENS,
  count: tokenizer.count,
});

/** Cuts a part in two; null: it is too short. */
export const halvingParts =
  (deps: EngineDeps) =>
  async ({ before, messages }: Part): Promise<readonly Part[] | null> => {
    const tokens = messages.reduce((sum, { text }) => sum + deps.tokenizer.count(text), 0);
    if (tokens < HALVED_TOKENS_MIN) return null;
    const halves = await inSlices(deps.tools, cutIntoParts(messages, partLimits(deps, Math.ceil(tokens / 2))));
    return halves.length < 2 ? null : halves.map((half, i) => (i === 0 ? { ...half, before } : half));
  };
