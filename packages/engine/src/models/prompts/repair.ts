import type { JsonObject } from '../../words.ts';
import type { Prompt } from './prompt.ts';

/** What a repair call is given beside the question it repeats. */
export type RepairInput = {
  /** The call whose answer could not be used. */
  readonly call: string;
  readonly problem: string;
  /** That answer, cut to a useful length. */
  readonly broken: string;
  /** The input of that call, unchanged. */
  readonly input: JsonObject;
};

/** The same question once more, with what was wrong with the first answer. Its answer has the first call's form. */
export const repairOf = (prompt: Prompt): Prompt => ({
  name: 'repair_output',
  version: '1',
  system: `repair_output

An earlier answer to the task below could not be used. The user message ends with one JSON object {"call","problem","broken","input"}: "input" is the task's input, "broken" the answer, "problem" what was wrong with it. Do the task again for "input", take over from "broken" what is right, and answer in full and in exactly the form the task asks for.

The task:
${prompt.system}`,
  schema: prompt.schema,
});
