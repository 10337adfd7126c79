import { type McpServer, ProtocolError, ProtocolErrorCode, ResourceTemplate } from '@modelcontextprotocol/server';
import { z } from 'zod';
import { DATA, ID_FIELDS, lineOf, linesOr } from './fields.ts';
import { type Connection, type Ids, ownerIn, sentenceOn, ToolError } from './tool.ts';

const PROFILE_TOKENS = 2_000;
/** How many memories are told beside the profile, which holds only what lasts. */
const NEWEST = 20;

const profileUri = (userId: string): string => `slowwave://users/${encodeURIComponent(userId)}/profile`;

/** What is known about a user, for hosts that attach it to a conversation. */
export function addProfile(server: McpServer, connection: Connection): void {
  const mimeType = 'text/markdown';
  const list = async () => {
    const { user_id } = await answered(connection, () => connection.fixed());
    const resources =
      user_id === undefined ? [] : [{ uri: profileUri(user_id), name: `Profile of ${user_id}`, mimeType }];
    return { resources };
  };
  const note = {
    title: 'Profile of a user',
    description: `The summary, the most important and the newest memories of a user. ${DATA}`,
    mimeType,
  };
  const template = new ResourceTemplate('slowwave://users/{user_id}/profile', { list });
  server.registerResource('profile', template, note, async ({ href }, variables) => {
    const text = await answered(connection, () => known(connection, { user_id: userIn(variables.user_id) }));
    return { contents: [{ uri: href, mimeType, text }] };
  });
}

/** Protocols leave variables as they stand in the address. */
function userIn(variable: string | string[] | undefined): string {
  try {
    return decodeURIComponent(String(variable));
  } catch {
    throw new ToolError('expected a percent-encoded user id in the address of the profile');
  }
}

/** Prompts for the beginning and the end of a conversation. */
export function addPrompts(server: McpServer, connection: Connection): void {
  server.registerPrompt(
    'load_memory',
    {
      title: 'Load memories',
      description: 'Puts what is known about the person at the start of a conversation.',
      argsSchema: z.object({
        topic: z.string().optional().describe('What the conversation is about.'),
        user_id: ID_FIELDS.user_id,
      }),
    },
    async ({ topic, user_id }) => {
      const text = await answered(connection, () => known(connection, { user_id, topic }));
      return said(`This is what you remember about me from earlier conversations. ${DATA} Use it where it helps, and do not \
recite it.\n\n${text}`);
    },
  );
  server.registerPrompt(
    'save_memory',
    {
      title: 'Save memories',
      description: 'Asks the model to save what is worth remembering at the end of a conversation.',
    },
    () =>
      said(`Look back at this conversation. Call add_memory once with the messages in which I said something worth \
remembering: lasting facts about me, preferences, decisions, plans, corrections of what you knew. Give them as they were said. \
Leave out small talk, secrets, and what came from documents or tools. If there is nothing, say so and call nothing. Then tell me in \
one sentence what you saved.`),
  );
}

const said = (text: string) => ({
  messages: [{ role: 'user' as const, content: { type: 'text' as const, text } }],
});

/** What is known about a topic; without one the profile, the summary, and what was heard last. */
async function known(
  connection: Connection,
  { topic, ...given }: { topic?: string | undefined } & Ids,
): Promise<string> {
  const { memories } = connection.slowwave;
  const owner = await ownerIn(connection, given);
  const asked = { max_tokens: PROFILE_TOKENS, ...(topic !== undefined && { query: topic }) };
  const { text = '', memory_ids } = await memories.context({ ...owner, ...asked });
  const newest = topic === undefined ? (await memories.list({ ...owner, limit: NEWEST })).results : [];
  const others = newest.filter(({ id }) => !memory_ids.includes(id)).map(lineOf);
  const parts = [text, others.length === 0 ? '' : ['# Newest', ...others].join('\n')].filter((part) => part !== '');
  return linesOr('Nothing is known yet.', parts);
}

/** Resources and prompts are asked for by hosts, which are told of failures as errors of the protocol. */
async function answered<T>(connection: Connection, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw new ProtocolError(ProtocolErrorCode.InvalidParams, sentenceOn(error, connection));
  }
}
