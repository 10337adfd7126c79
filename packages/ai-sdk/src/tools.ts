import type { Slowwave } from '@slowwave/sdk';
import { jsonSchema, type Tool, tool } from 'ai';
import { ownerOf, type Scope, scopeOf, type Whose } from './options.ts';

export interface ToolOptions extends Whose {
  readonly slowwave: Slowwave;
  /** How many memories a search finds at most (10). */
  readonly topK?: number | undefined;
  /** How long a tool takes at most, in ms (5,000). Then the model is told that it failed. */
  readonly withinMs?: number | undefined;
}

const TOP_K = 10;
const WITHIN_MS = 5_000;

interface FoundMemory {
  readonly id: string;
  readonly memory: string;
  readonly valid_from: string;
}

/** An alias and no interface, so that it is a set of tools. */
export type MemoryTools = {
  readonly searchMemories: Tool<{ readonly query?: string }, FoundMemory[]>;
  readonly rememberThis: Tool<{ readonly memory?: string }, { id: string; memory: string }>;
  readonly forgetMemory: Tool<{ readonly id?: string }, { forgotten: string }>;
};

/**
 * Tools with which a model looks into the memory of one owner, adds to it, and takes something out of it.
 * Keep their names: the middleware posts neither their calls nor what they found.
 */
export function memoryTools({ slowwave, topK = TOP_K, withinMs = WITHIN_MS, ...whose }: ToolOptions): MemoryTools {
  const scope = scopeOf(whose);
  const owner = ownerOf(scope);
  const within = (abortSignal: AbortSignal | undefined) => ({ signal: abortSignal, timeoutMs: withinMs, retries: 0 });
  return {
    searchMemories: tool({
      description: 'Searches what is remembered from earlier conversations. Returns nothing if nothing is known.',
      inputSchema: textInput('query', 'What to look for, as a question or a few words.'),
      execute: async ({ query = '' }, { abortSignal }) => {
        const { results } = await slowwave.memories.search({ ...owner, query, top_k: topK }, within(abortSignal));
        return results.map(({ id, memory, valid_from }) => ({ id, memory, valid_from }));
      },
    }),
    rememberThis: tool({
      description: 'Remembers a fact for later conversations. Use it if somebody asks for something to be remembered.',
      inputSchema: textInput('memory', 'The fact, as one sentence that is understood without the conversation.'),
      execute: async ({ memory = '' }, { abortSignal }) => {
        const { id } = await slowwave.memories.add({ ...scope, memory, trust: 'agent' }, within(abortSignal));
        return { id, memory };
      },
    }),
    forgetMemory: tool({
      description:
        'Forgets one memory. Use it only if somebody asks for that, with an id that searchMemories returned.',
      inputSchema: textInput('id', 'The id of the memory.'),
      execute: async ({ id = '' }, { abortSignal }) => {
        const found = await slowwave.memories.get(id, within(abortSignal));
        if (!isOf(found, owner)) throw new Error(`memory ${id} was not found`); // the model may have any id from anywhere
        await slowwave.memories.delete(id, {}, within(abortSignal));
        return { forgotten: found.memory };
      },
    }),
  };
}

export const OWN_TOOLS: ReadonlySet<string> = new Set(['searchMemories', 'rememberThis', 'forgetMemory']);

const textInput = <N extends string>(name: N, description: string) =>
  jsonSchema<{ readonly [K in N]?: string }>({
    type: 'object',
    properties: { [name]: { type: 'string', minLength: 1, description } },
    required: [name],
    additionalProperties: false,
  });

type Found = Readonly<Record<'user_id' | 'agent_id' | 'run_id', string | null>>;

/** The owner is the first of user, agent and run, so those before it have to be missing. */
function isOf({ user_id, agent_id, run_id }: Found, owner: Scope): boolean {
  const [first] = Object.entries({ user_id, agent_id, run_id }).filter(([, id]) => id !== null);
  const [wanted] = Object.entries(owner);
  return first !== undefined && first[0] === wanted?.[0] && first[1] === wanted[1];
}
