import { ownerOf, type Scope } from './chat-memory.ts';
import type { Slowwave } from './client.ts';

export interface MemoryToolOptions {
  readonly slowwave: Slowwave;
  /** How many memories a search finds at most (10). */
  readonly topK?: number | undefined;
  /** How long a tool takes at most, in ms (5,000). Then the model is told that it failed. */
  readonly withinMs?: number | undefined;
}

/** What a model gives a tool: texts by name. */
export type ToolInput = Readonly<Record<string, string>>;

/** A tool of a model, in the form that frameworks make theirs of. */
export interface MemoryTool<Result> {
  readonly description: string;
  readonly parameters: {
    readonly type: 'object';
    readonly properties: Record<string, { type: 'string'; minLength: number; description: string }>;
    readonly required: string[];
    readonly additionalProperties: false;
  };
  readonly execute: (input: ToolInput, signal?: AbortSignal) => Promise<Result>;
}

export interface FoundMemory {
  readonly id: string;
  readonly memory: string;
  readonly valid_from: string;
}

export interface ChatTools {
  readonly searchMemories: MemoryTool<FoundMemory[]>;
  readonly rememberThis: MemoryTool<{ id: string; memory: string }>;
  readonly forgetMemory: MemoryTool<{ forgotten: string }>;
}

/** Their calls and what they found are no part of a conversation to remember. */
export const CHAT_TOOLS: ReadonlySet<string> = new Set(['searchMemories', 'rememberThis', 'forgetMemory']);

const TOP_K = 10;
const WITHIN_MS = 5_000;

/** Tools with which a model looks into the memory of one owner, adds to it, and takes something out of it. */
export function createChatTools(scope: Scope, options: MemoryToolOptions): ChatTools {
  const { slowwave, topK = TOP_K, withinMs = WITHIN_MS } = options;
  const owner = ownerOf(scope);
  const within = (signal: AbortSignal | undefined) => ({ signal, timeoutMs: withinMs, retries: 0 });
  return {
    searchMemories: {
      description: 'Searches what is remembered from earlier conversations. Returns nothing if nothing is known.',
      parameters: textInput('query', 'What to look for, as a question or a few words.'),
      execute: async ({ query = '' }, signal) => {
        const { results } = await slowwave.memories.search({ ...owner, query, top_k: topK }, within(signal));
        return results.map(({ id, memory, valid_from }) => ({ id, memory, valid_from }));
      },
    },
    rememberThis: {
      description: 'Remembers a fact for later conversations. Use it if somebody asks for something to be remembered.',
      parameters: textInput('memory', 'The fact, as one sentence that is understood without the conversation.'),
      execute: async ({ memory = '' }, signal) => {
        const { id } = await slowwave.memories.add({ ...scope, memory, trust: 'agent' }, within(signal));
        return { id, memory };
      },
    },
    forgetMemory: {
      description:
        'Forgets one memory. Use it only if somebody asks for that, with an id that searchMemories returned.',
      parameters: textInput('id', 'The id of the memory.'),
      execute: async ({ id = '' }, signal) => {
        const found = await slowwave.memories.get(id, within(signal));
        if (!isOf(found, owner)) throw new Error(`memory ${id} was not found`); // the model may have any id from anywhere
        await slowwave.memories.delete(id, {}, within(signal));
        return { forgotten: found.memory };
      },
    },
  };
}

const textInput = (name: string, description: string): MemoryTool<unknown>['parameters'] => ({
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
