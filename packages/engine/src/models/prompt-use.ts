import type { PromptUse } from '../plan.ts';
import type { Tools } from '../ports/tools.ts';
import type { Prompt } from './prompts/prompt.ts';

/** Which prompt was used, as a plan tells it. */
export const promptUse = ({ tools }: { readonly tools: Pick<Tools, 'hash'> }, prompt: Prompt): PromptUse => ({
  name: prompt.name,
  version: prompt.version,
  hash: tools.hash(prompt.system),
});
