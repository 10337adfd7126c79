import { type Command, OWNER } from '../command.ts';

export const mcpCommand: Command = {
  name: 'mcp',
  on: 'server',
  summary: 'Offer the memory to a model over standard input and output, as an MCP server.',
  about: `For programs that start it, like Claude Code or Cursor; docs/mcp.md has their settings. Uses
the server of --server or SLOWWAVE_URL with the key in SLOWWAVE_API_KEY. Without one it uses
the standalone server on this machine, and if none is running it is one itself, on the data
folder of this machine. With --user the model sees that user alone.`,
  options: {
    ...OWNER,
    user: {
      value: 'ID',
      about: 'The user whom everything is about; default: that of the key, else each call names one.',
    },
    agent: { value: 'ID', about: 'The agent that it is said to and found by.' },
    run: { value: 'ID', about: 'The run that it is said in and found by.' },
    app: { value: 'ID', about: 'The app that it is said in and found by.' },
  },
  run: async (call) => {
    // Loaded only here: no other command needs the protocol.
    const { serveMcp } = await import('../mcp/serve.ts');
    await serveMcp(call);
    return null;
  },
};
