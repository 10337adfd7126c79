import type { McpServer, ToolAnnotations } from '@modelcontextprotocol/server';
import { type Slowwave, SlowwaveError } from '@slowwave/sdk';
import type { z } from 'zod';

/** Whom something is about, as in the API. */
export interface Ids {
  readonly user_id?: string | undefined;
  readonly agent_id?: string | undefined;
  readonly run_id?: string | undefined;
  readonly app_id?: string | undefined;
}

/** What tools work with: the API as whoever is connected may use it. */
export interface Connection {
  readonly slowwave: Slowwave;
  /** What every call is about, whatever its arguments say: the key, a header or an option decides it. */
  fixed(): Promise<Ids>;
  /** Reports what should not happen; the caller is only told that it did. */
  report(error: unknown): void;
}

/** A call that a model can mend; the message says how. */
export class ToolError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'ToolError';
  }
}

const NAMES = ['user_id', 'agent_id', 'run_id', 'app_id'] as const;

/** The ids of a call, with those of its connection. Throws if they contradict each other. */
async function idsOf({ fixed }: Connection, given: Ids): Promise<Ids> {
  const standing = await fixed();
  for (const name of NAMES) {
    if (standing[name] === undefined || given[name] === undefined || given[name] === standing[name]) continue;
    const [mine, got] = [JSON.stringify(standing[name]), JSON.stringify(given[name])];
    throw new ToolError(`this connection may only be used with ${name} ${mine}, got ${got}; leave ${name} out`);
  }
  const all = NAMES.map((name) => [name, standing[name] ?? given[name]] as const);
  return Object.fromEntries(all.filter(([, id]) => id !== undefined));
}

/** The same; throws unless they name an owner of memories. */
export async function ownerIn(connection: Connection, given: Ids): Promise<Ids> {
  const ids = await idsOf(connection, given);
  if (ids.user_id !== undefined || ids.agent_id !== undefined || ids.run_id !== undefined) return ids;
  throw new ToolError('expected user_id, because this connection is not bound to one user; add the id of the person');
}

/** What a tool is given beside its arguments. */
export interface Call {
  readonly slowwave: Slowwave;
  /** Aborts when nobody waits for the answer any more. */
  readonly signal: AbortSignal;
  /** The ids of the call with those of its connection. */
  ids(given: Ids): Promise<Ids>;
  /** The same; throws unless they name an owner of memories. */
  owner(given: Ids): Promise<Ids>;
}

/** The answer of a tool: for a model to read, and for a program. */
interface Said<Data> {
  readonly text: string;
  readonly data: Data;
}

/** Everything about a tool. */
interface ToolNote<Input extends z.ZodObject, Output extends z.ZodObject> {
  readonly name: string;
  readonly title: string;
  /** For a model: when to use it, what it returns, what it must not be used for. */
  readonly description: string;
  readonly input: Input;
  readonly output: Output;
  /** What a host asks people about before it is called. */
  readonly effect: keyof typeof HINTS;
  run(call: Call, args: z.output<Input>): Promise<Said<z.output<Output>>>;
}

/** Nothing beyond the memory is reached by any of them. */
const HINTS = {
  reads: { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false },
  adds: { readOnlyHint: false, destructiveHint: false, idempotentHint: false, openWorldHint: false },
  changes: { readOnlyHint: false, destructiveHint: true, idempotentHint: true, openWorldHint: false },
  takesBack: { readOnlyHint: false, destructiveHint: true, idempotentHint: false, openWorldHint: false },
} as const satisfies Record<string, ToolAnnotations>;

/** Adds a tool to a server. */
export type Tool = (server: McpServer, connection: Connection) => void;

export const tool =
  <Input extends z.ZodObject, Output extends z.ZodObject>(note: ToolNote<Input, Output>): Tool =>
  (server, connection) => {
    const { name, title, description, input, output, effect, run } = note;
    const config = { title, description, inputSchema: input, outputSchema: output, annotations: HINTS[effect] };
    // Its arguments are typed by the schema of the note, and so is what it returns.
    server.registerTool<Output, z.ZodObject>(name, config, async (args, { mcpReq: { signal } }) => {
      const { slowwave } = connection;
      const ids = (given: Ids) => idsOf(connection, given);
      const owner = (given: Ids) => ownerIn(connection, given);
      try {
        const { text, data } = await run({ slowwave, signal, ids, owner }, args as z.output<Input>);
        return { content: [{ type: 'text', text }], structuredContent: data };
      } catch (error) {
        // Nobody reads the answer of a call that was given up, and nothing went wrong.
        const text = signal.aborted ? 'cancelled' : sentenceOn(error, connection);
        return { content: [{ type: 'text', text }], isError: true };
      }
    });
  };

/** What a model is told of a failure: what was wrong and what to do. */
export function sentenceOn(error: unknown, { report }: Pick<Connection, 'report'>): string {
  if (error instanceof ToolError) return error.message;
  if (error instanceof SlowwaveError) {
    // What reaches the server may know better why it cannot.
    if (error.cause instanceof ToolError) return error.cause.message;
    const mistakes = error.errors.map(({ path, message }) => `\n- ${path}: ${message}`).join('');
    return `${error.message}${mistakes}`;
  }
  report(error);
  return 'the memory server failed unexpectedly; tell the person, and check the log of the server';
}
