/** What the description says of the API as a whole. */
export const ABOUT = {
  version: '1',
  description: 'Long-term memory for agents: post transcripts, search memories. Errors are RFC 9457 problems.',
  license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
};

/** Relative: whoever reads the description has reached the server. */
export const SERVERS = [{ url: '/', description: 'The server this description comes from' }];

export const SECURITY_SCHEME = 'key';

export const SECURITY_SCHEMES = {
  [SECURITY_SCHEME]: {
    type: 'http',
    scheme: 'bearer',
    description:
      'A key with the scope that an operation names; admin stands for all scopes. `Authorization: Token <key>` and ' +
      '`X-API-Key: <key>` are taken as well. Without any key on the server, requests from its own machine need none.',
  },
} as const;

/** What operations are grouped by; only the groups of a program appear in its description. */
export const TAGS = [
  { name: 'ingest', description: 'Posting messages, and what becomes of them.' },
  { name: 'search', description: 'Asking for what is remembered.' },
  { name: 'memories', description: 'Reading memories, where they came from, and whose there are.' },
  { name: 'manage', description: 'Explicit writes, decisions and their undoing, erasure, settings, replays.' },
  { name: 'graph', description: 'Entities and how they are related.' },
  { name: 'webhooks', description: 'Telling other programs what happens.' },
  { name: 'keys', description: 'Who may do what.' },
  { name: 'audit', description: 'Who did what.' },
  { name: 'health', description: 'Whether a program is well, and this description.' },
];
