/** What the description says of the API as a whole. */
export const ABOUT = {
  version: '1',
  description: 'Long-term memory for agents: post transcripts, search memories. Errors are RFC 9457 problem documents.',
  license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
};

/** Relative: whoever reads the description has reached the server. */
export const SERVERS = [{ url: '/', description: 'The server that serves this description' }];

export const SECURITY_SCHEME = 'key';

export const SECURITY_SCHEMES = {
  [SECURITY_SCHEME]: {
    type: 'http',
    scheme: 'bearer',
    description:
      'A key with the scope that the operation requires; admin includes all scopes. `Authorization: Token <key>` ' +
      'and `X-API-Key: <key>` are accepted as well. If the server has no keys, requests from its own machine need ' +
      'none.',
  },
} as const;

/** What operations are grouped by; only the groups of a program appear in its description. */
export const TAGS = [
  { name: 'ingest', description: 'Post messages and track their processing.' },
  { name: 'search', description: 'Search memories and get answers and context from them.' },
  { name: 'memories', description: 'Read memories, their sources and their owners.' },
  {
    name: 'manage',
    description: 'Write memories, review and undo changes, erase data, change settings, replay batches.',
  },
  { name: 'graph', description: 'Entities and their relations.' },
  { name: 'webhooks', description: 'Notify other programs of events.' },
  { name: 'keys', description: 'API keys and what they may do.' },
  { name: 'audit', description: 'The audit log.' },
  { name: 'health', description: 'Health, metrics and this description.' },
];
