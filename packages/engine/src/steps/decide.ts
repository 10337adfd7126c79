import type { EngineDeps } from '../deps.ts';
import { operationsIn } from '../parse/operations.ts';
import type { Fact } from '../plan.ts';
import type { Cancellation } from '../ports/tools.ts';
import { customPrompt } from '../prompts/custom.ts';
import { DECIDE, type DecideInput } from '../prompts/decide.ts';
import type { Prompt } from '../prompts/prompt.ts';
import type { TenantSettings } from '../settings.ts';
import { isoOf } from '../text/iso.ts';
import type { BatchSettings, JsonObject } from '../words.ts';
import { ask } from './ask.ts';
import type { Decided, Recalled } from './values.ts';

/** Asks what the facts do to their neighbours; not at all where nothing is near, or all is a repeat. */
export async function decide(deps: EngineDeps, recalled: Recalled, cancel: Cancellation): Promise<Decided> {
  const { turn, repeats, undecided, rules } = recalled;
  const open = recalled.facts.filter((fact) => !repeats.has(fact.id));
  if (open.length === 0 || !undecided || isByRule(turn.settings)) return { ...recalled, asked: null };
  const prompt = promptOf(rules);
  const asked = await ask(
    { deps, turn, cancel },
    {
      step: 'decide',
      prompt,
      ask: 'Decide what each fact does to the memories.',
      input: inputOf(recalled, open),
      shape: operationsIn,
    },
  );
  const used = { name: prompt.name, version: prompt.version, hash: deps.tools.hash(prompt.system) };
  return { ...recalled, asked, prompts: [...recalled.prompts, used] };
}

/** What is stored as it is, and procedures, only ever join what is there; so do all facts where a batch says so. */
const isByRule = ({ infer, mode, memoryType }: BatchSettings): boolean =>
  !infer || mode === 'add_only' || memoryType === 'procedural';

const promptOf = ({ prompts }: TenantSettings): Prompt =>
  prompts.decide === null ? DECIDE : customPrompt(DECIDE, prompts.decide);

function inputOf({ candidates, turn, rules }: Recalled, facts: readonly Fact[]): JsonObject {
  const instructions = [rules.decideInstructions, turn.settings.instructions].filter((text) => text !== null);
  const input: DecideInput = {
    facts: facts.map(({ id, text, saidAt }) => ({ id, text, said_at: isoOf(saidAt.at) })),
    memories: candidates.map(({ shortId, text, saidAt }) => ({ id: shortId, text, said_at: isoOf(saidAt.at) })),
    ...(instructions.length === 0 ? {} : { instructions: instructions.join('\n') }),
  };
  return input as unknown as JsonObject;
}
