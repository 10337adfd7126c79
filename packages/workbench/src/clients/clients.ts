/** A client or integration of mem0's, as its registry has it, and what calls all of it. */
export interface Client {
  readonly name: string;
  /** What is asked for on the command line. */
  readonly id: string;
  readonly registry: 'PyPI' | 'npm';
  /** With a version where it is not the newest. */
  readonly packages: readonly string[];
  /** A file of the folder harness. */
  readonly harness: string;
}

type Named = Pick<Client, 'id' | 'name' | 'packages'>;

const python = (client: Named): Client => ({ ...client, registry: 'PyPI', harness: 'mem0_client.py' });
const node = (harness: string, client: Named): Client => ({ ...client, registry: 'npm', harness });

/** Tests of mem0's repository, which no registry has: they are run where a checkout of it is given. */
export const SUITE: Client = node('mem0-suite.mjs', {
  id: 'suite',
  name: "mem0's own integration tests for JavaScript",
  packages: [
    ...[
      'jest@29.7.0',
      'ts-jest@29.2.6',
      'typescript@5.5.4',
      '@types/jest@29.5.14',
      '@types/node@22.7.6',
      '@types/uuid@9.0.8',
    ],
    ...['dotenv@16.4.5', 'axios@1', 'openai@4', 'uuid@11', 'zod@3'],
  ],
});

export const CLIENTS: readonly Client[] = [
  python({ id: 'python-2', name: 'mem0ai for Python', packages: ['mem0ai'] }),
  python({ id: 'python-1', name: 'mem0ai for Python, version 1', packages: ['mem0ai==1.0.11'] }),
  python({ id: 'python-0', name: 'mem0ai for Python, version 0', packages: ['mem0ai==0.1.118'] }),
  node('mem0-client.mjs', { id: 'node-3', name: 'mem0ai for JavaScript', packages: ['mem0ai'] }),
  node('mem0-client.mjs', { id: 'node-2', name: 'mem0ai for JavaScript, version 2', packages: ['mem0ai@2.4.6'] }),
  node('mem0-cli.mjs', { id: 'cli', name: '@mem0/cli', packages: ['@mem0/cli'] }),
  node('mem0-n8n.mjs', { id: 'n8n', name: '@mem0/n8n-nodes-mem0', packages: ['@mem0/n8n-nodes-mem0', 'n8n-workflow'] }),
  node('mem0-vercel.mjs', {
    id: 'vercel',
    name: '@mem0/vercel-ai-provider',
    packages: ['@mem0/vercel-ai-provider'],
  }),
  {
    id: 'agent-framework',
    name: 'agent-framework-mem0',
    registry: 'PyPI',
    packages: ['agent-framework-mem0'],
    harness: 'mem0_agent_framework.py',
  },
];
