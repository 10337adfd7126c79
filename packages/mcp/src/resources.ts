import { type McpServer, ProtocolError, ProtocolErrorCode, ResourceTemplate } from '@modelcontextprotocol/server';
import { z } from 'zod';
import { type Connection, ownerIn } from './connection.ts';
import { DATA, ID_FIELDS } from './fields.ts';
import { sentenceOn } from './tool.ts';

const PROFILE_TOKENS = 2_000;

const profileUri = (userId: string): string => `slowwave://users/${encodeURIComponent(userId)}/profile`;

/** What is known about a user, for hosts that attach it to a conversation. */
export function addProfile(server: McpServer, connection: Connection): void {
  const mimeType = 'text/markdown';
  const list = async () => {
    const { user_id } = await connection.fixed();
    const resources =
      user_id === undefined ? [] : [{ uri: profileUri(user_id), name: `Profile of ${user_id}`, mimeType }];
    return { resources };
  };
  const note = {
    title: 'Profile of a user',
    description: `The summary and the most important memories of a user. ${DATA}`,
    mimeType,
  };
  const template = new ResourceTemplate('slowwave://users/{user_id}/profile', { list });
  server.registerResource('profile', template, note, async ({ href }, variables) => {
    const user_id = decodeURIComponent(String(variables.user_id));
    const text = await answered(connection, () => known(connection, { user_id }));
    return { contents: [{ uri: href, mimeType, text }] };
  });
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
      const text = await answered(connection, () => known(connection, { user_id, query: topic }));
      return said(`This is what you remember about me from earlier conversations. ${DATA} Use it where it helps, and do not \
recite it.\n\n${text}`);
    },
  );
  server.registerPrompt(
    'save_memory',
    {
      title: 'Save memories',
      description: 'Has the model save what is worth remembering at the end of a conversation.',
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

async function known(
  connection: Connection,
  { user_id, query }: { readonly user_id?: string | undefined; readonly query?: string | undefined },
): Promise<string> {
  const asked = { max_tokens: PROFILE_TOKENS, ...(query !== undefined && { query }) };
  const { text = '' } = await connection.slowwave.memories.context({
    ...(await ownerIn(connection, { user_id })),
    ...asked,
  });
  return text === '' ? 'Nothing is known yet.' : text;
}

/** Resources and prompts are asked for by hosts, which are told of failures as errors of the protocol. */
async function answered<T>(connection: Connection, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw new ProtocolError(ProtocolErrorCode.InvalidParams, sentenceOn(error, connection));
  }
}
