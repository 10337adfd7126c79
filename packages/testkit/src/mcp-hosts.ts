import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { Client as FormerClient } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport as FormerStdio } from '@modelcontextprotocol/sdk/client/stdio.js';
import { StreamableHTTPClientTransport as FormerHttp } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import type { Transport as FormerTransport } from '@modelcontextprotocol/sdk/shared/transport.js';
import { COMPILE_CACHE } from './compile-cache.ts';
import { programFile } from './programs.ts';

/** What tests use of the clients, which is the same in both generations. */
export type Host = Pick<
  Client,
  | 'listTools'
  | 'callTool'
  | 'listResources'
  | 'listResourceTemplates'
  | 'readResource'
  | 'listPrompts'
  | 'getPrompt'
  | 'getInstructions'
  | 'close'
>;

/** modern: today's client and specification; auto: whatever it finds; initialize: today's client as the one before; former: that one itself. */
export type Kind = 'modern' | 'auto' | 'initialize' | 'former';

/** A host that is connected to the server at an address, with these headers. */
export async function overHttp(kind: Kind, url: string, headers: Readonly<Record<string, string>> = {}): Promise<Host> {
  const at = new URL('/mcp', url);
  const how = { requestInit: { headers: { ...headers } } };
  if (kind === 'former') return former(new FormerHttp(at, how) as FormerTransport);
  const client = today(kind);
  await client.connect(new StreamableHTTPClientTransport(at, how));
  return client;
}

/** A host that starts `slowwave mcp` with these arguments. */
export async function overStdio(
  kind: Kind,
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Promise<Host> {
  const program = {
    ...{ command: process.execPath, args: [programFile('cli'), 'mcp', ...args] },
    ...{ env: { ...COMPILE_CACHE, ...env }, stderr: 'ignore' as const },
  };
  if (kind === 'former') return former(new FormerStdio(program));
  const client = today(kind);
  await client.connect(new StdioClientTransport(program));
  return client;
}

const ME = { name: 'test', version: '1.0.0' };

const MODES = { modern: { pin: '2026-07-28' }, auto: 'auto', initialize: 'legacy' } as const;

const today = (kind: Exclude<Kind, 'former'>): Client => new Client(ME, { versionNegotiation: { mode: MODES[kind] } });

async function former(transport: FormerTransport): Promise<Host> {
  const client = new FormerClient(ME);
  await client.connect(transport);
  return client as unknown as Host;
}

/** What a tool answered. */
export interface Said {
  readonly text: string;
  // biome-ignore lint/suspicious/noExplicitAny: tests read fields of many shapes and assert what they find
  readonly data: any;
  readonly isError: boolean;
}

/** Calls a tool; throws unless it works. */
export async function use(
  host: Pick<Host, 'callTool'>,
  name: string,
  args: Record<string, unknown> = {},
): Promise<Said> {
  const said = await tryTo(host, name, args);
  if (said.isError) throw new Error(`${name}: ${said.text}`);
  return said;
}

/** Calls a tool that may refuse. */
export async function tryTo(
  host: Pick<Host, 'callTool'>,
  name: string,
  args: Record<string, unknown> = {},
): Promise<Said> {
  const { content, structuredContent, isError = false } = await host.callTool({ name, arguments: args });
  const text = content.map((block) => (block.type === 'text' ? block.text : '')).join('\n');
  return { text, data: structuredContent, isError };
}
