import { type Command, OWNER } from '../command.ts';

export const mcpCommand: Command = {
  name: 'mcp',
  on: 'server',
  summary: 'Offer the memory to a model over standard input and output, as an MCP server.',
  about: `For programs that start it, like Claude Code or Cursor; docs/mcp.md has their settings. Uses
the server of --server or SLOWWAVE_URL with the key in SLOWWAVE_API_KEY. Without one it uses
the standalone server on this machine; if none is running, it starts one on the data
folder of this machine. With --user the model only sees that user.`,
  options: {
    ...OWNER,
    user: {
      value: 'ID',
      about: 'The user of all calls. Default: the key’s user; otherwise each call names one.',
    },
    agent: { value: 'ID', about: 'The agent of all calls.' },
    run: { value: 'ID', about: 'The run of all calls.' },
    app: { value: 'ID', about: 'The app of all calls.' },
  },
  run: async (call) => {
    // Loaded only here: no other command needs the protocol.
    const { serveMcp } = await import('../mcp.ts');
    await serveMcp(call);
    return null;
  },
};
