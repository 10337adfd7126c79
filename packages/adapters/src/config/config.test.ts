import { homedir } from 'node:os';
import { resolve } from 'node:path';
import { describe, expect, it, test } from 'vitest';
import { ConfigError, readServiceConfig, readStandaloneConfig } from './config.ts';

const ROOT = resolve(import.meta.dirname, '../../../..');
const REDIS = { REDIS_URL: 'redis://127.0.0.1:6379' };
/** With these settings alone, whatever is set where the tests run. */
const standalone = (settings: Readonly<Record<string, string>>) => readStandaloneConfig({}, settings);
const service = (settings: Readonly<Record<string, string>>) => readServiceConfig(7_071, { queue: true }, settings);

function problemsOf(read: () => unknown): string[] {
  try {
    read();
  } catch (error) {
    if (error instanceof ConfigError) return error.message.split('\n').slice(1);
  }
  throw new Error('expected the settings to be refused');
}

describe('without any setting', () => {
  it('standalone listens on this machine only, keeps its data in the repository and needs nothing else', () => {
    expect(standalone({})).toMatchObject({
      host: '127.0.0.1',
      port: 7_070,
      dataDir: resolve(ROOT, '.slowwave'),
      redisUrl: null,
      chatModel: null,
      embeddingModel: null,
    });
  });

  it('owners are waited for as their pace says, least where one person tries things out by rules that cost nothing', () => {
    const tokens = 1_024;
    expect(service(REDIS).due).toEqual({ tokens, idleMs: 60_000, paces: 3, maxAgeMs: 600_000 });
    expect(standalone({ OPENAI_API_KEY: 'k' }).due).toEqual({ tokens, idleMs: 15_000, paces: 3, maxAgeMs: 120_000 });
    expect(standalone({}).due).toEqual({ tokens, idleMs: 1_000, paces: 0, maxAgeMs: 120_000 });
    expect(standalone({ OPENAI_API_KEY: 'k', SLOWWAVE_CHAT_MODEL: 'builtin' }).due.paces).toBe(0);
  });

  it('a silence that is set is that long, whatever the pace', () => {
    const said = { OPENAI_API_KEY: 'k', SLOWWAVE_BATCH_IDLE_MS: '7', SLOWWAVE_BATCH_EXCHANGES: '4' };
    expect(standalone(said).due).toMatchObject({ idleMs: 7, paces: 0, maxAgeMs: 120_000, exchanges: 4 });
  });
});

describe('where the data is', () => {
  test.each([
    ['a relative folder begins at the root of the repository', 'data/here', resolve(ROOT, 'data/here')],
    ['an absolute folder is taken as it is', '/srv/slowwave', '/srv/slowwave'],
    ['~ is the home folder', '~/slowwave', resolve(homedir(), 'slowwave')],
  ])('%s', (_name, given, dataDir) => {
    expect(standalone({ SLOWWAVE_DATA_DIR: given }).dataDir).toBe(dataDir);
  });
});

describe('how much is asked and taken', () => {
  it('nothing is limited that was not said, but the work that waits', () => {
    expect(standalone({})).toMatchObject({
      limits: { requestsPerMinute: null, tokensPerMinute: null },
      maxPending: { perTenant: 100_000, total: 1_000_000, lateMs: 3_600_000 },
    });
    const said = { SLOWWAVE_RPM: '60', SLOWWAVE_TPM: '20000', SLOWWAVE_MAX_PENDING: '5' };
    expect(standalone(said)).toMatchObject({
      limits: { requestsPerMinute: 60, tokensPerMinute: 20_000 },
      maxPending: { perTenant: 5 },
    });
  });
});

describe('where URLs that callers give may lead', () => {
  it('nowhere inside the network, but to what is listed', () => {
    expect(standalone({}).allowedPrivateUrls).toEqual([]);
    const listed = { SLOWWAVE_ALLOW_PRIVATE_URLS: '127.0.0.1, 10.0.0.0/8,receiver' };
    expect(standalone(listed).allowedPrivateUrls).toEqual(['127.0.0.1', '10.0.0.0/8', 'receiver']);
  });

  it.each(['10.0.0.0/33', '10.0.0', 'http://receiver', 'a,,b', '10.0.0.1-10.0.0.9'])('%s is no list', (list) => {
    expect(problemsOf(() => standalone({ SLOWWAVE_ALLOW_PRIVATE_URLS: list }))[0]).toMatch(
      /must be comma-separated addresses, ranges/,
    );
  });
});

describe('which models are used', () => {
  const key = { OPENAI_API_KEY: 'key-of-the-model-server' };

  it('a key alone means the usual models of its server', () => {
    expect(standalone(key)).toMatchObject({
      chatModel: 'gpt-4.1-mini',
      embeddingModel: 'text-embedding-3-small',
    });
  });

  it('one of them may be builtin while the other is on a server', () => {
    const mixed = { ...key, SLOWWAVE_CHAT_MODEL: 'llama', SLOWWAVE_EMBEDDING_MODEL: 'builtin' };
    expect(standalone(mixed)).toMatchObject({ chatModel: 'llama', embeddingModel: null });
  });

  it('images are described by no model unless one is named', () => {
    expect(standalone(key).imageModel).toBeNull();
    expect(standalone({ ...key, SLOWWAVE_IMAGE_MODEL: 'gpt-4.1-mini' }).imageModel).toBe('gpt-4.1-mini');
    expect(problemsOf(() => standalone({ SLOWWAVE_IMAGE_MODEL: 'llava' }))).toEqual([
      '  - SLOWWAVE_IMAGE_MODEL: a model needs a server; set OPENAI_API_KEY, OPENAI_BASE_URL or SLOWWAVE_IMAGE_BASE_URL, or name it none',
    ]);
  });

  it('images may have a server of their own, which is never sent the key of another', () => {
    const image = { ...key, SLOWWAVE_IMAGE_MODEL: 'llava' };
    const imageServer = (more: Readonly<Record<string, string>>) => standalone({ ...image, ...more }).imageServer;
    const common = { apiKey: key.OPENAI_API_KEY, baseUrl: null };
    expect(imageServer({})).toMatchObject({ ...common, settings: { baseUrl: 'OPENAI_BASE_URL' } });
    expect(imageServer({ SLOWWAVE_IMAGE_API_KEY: 'other' })).toMatchObject({ ...common, apiKey: 'other' });
    const own = { SLOWWAVE_IMAGE_BASE_URL: 'http://images:8000/v1' };
    expect(imageServer(own)).toMatchObject({
      ...{ baseUrl: own.SLOWWAVE_IMAGE_BASE_URL, apiKey: null },
      settings: { baseUrl: 'SLOWWAVE_IMAGE_BASE_URL', apiKey: 'SLOWWAVE_IMAGE_API_KEY' },
    });
    expect(imageServer({ ...own, SLOWWAVE_IMAGE_API_KEY: 'other' })).toMatchObject({ apiKey: 'other' });
    expect(standalone({ ...own, SLOWWAVE_IMAGE_MODEL: 'llava' })).toMatchObject({
      chatModel: null,
      imageModel: 'llava',
    });
  });

  it('what is added to requests is JSON, and sets nothing that Slowwave decides', () => {
    const body = { SLOWWAVE_CHAT_EXTRA_BODY: '{"reasoning_effort":"low","options":{"num_ctx":8192}}' };
    const headers = { SLOWWAVE_CHAT_EXTRA_HEADERS: '{"api-key":"hunter2-hunter2"}' };
    expect(standalone({ ...key, ...body, ...headers }).chatServer).toMatchObject({
      extraBody: { reasoning_effort: 'low', options: { num_ctx: 8_192 } },
      extraHeaders: { 'api-key': 'hunter2-hunter2' },
    });
    const problems = problemsOf(() =>
      standalone({
        ...key,
        SLOWWAVE_CHAT_EXTRA_BODY: '{"stream":false,"user":"hunter2"}',
        SLOWWAVE_CHAT_EXTRA_HEADERS: '{"content-length":"hunter2"}',
        SLOWWAVE_RERANK_EXTRA_BODY: '["hunter2"]',
        SLOWWAVE_IMAGE_EXTRA_HEADERS: '{"api-key":"hunter2\\n"}',
      }),
    );
    expect(problems).toEqual([
      expect.stringContaining('SLOWWAVE_CHAT_EXTRA_BODY: must not set model, messages'),
      expect.stringContaining('SLOWWAVE_CHAT_EXTRA_HEADERS: must be a JSON object of header names'),
      expect.stringContaining('SLOWWAVE_IMAGE_EXTRA_HEADERS: must be a JSON object of header names'),
      expect.stringContaining('SLOWWAVE_RERANK_EXTRA_BODY: must be a JSON object, e.g.'),
      expect.stringContaining('SLOWWAVE_RERANK_EXTRA_BODY: only applies with a reranker'),
      expect.stringContaining('SLOWWAVE_IMAGE_EXTRA_HEADERS: only applies with an image model'),
    ]);
    expect(problems.join()).not.toContain('hunter2');
    expect(problemsOf(() => standalone(body))).toEqual([
      expect.stringContaining('SLOWWAVE_CHAT_EXTRA_BODY: only applies with a model server'),
    ]);
  });

  it('a model without a server is refused', () => {
    expect(problemsOf(() => standalone({ SLOWWAVE_EMBEDDING_MODEL: 'nomic' }))).toEqual([
      '  - SLOWWAVE_EMBEDDING_MODEL: a model needs a server; set OPENAI_API_KEY, OPENAI_BASE_URL or SLOWWAVE_EMBEDDING_BASE_URL, or name it builtin or local',
    ]);
  });

  it('a local one needs no server, and is known by its name or by its folder', () => {
    const known = { name: 'multilingual-e5-small' };
    expect(standalone({ SLOWWAVE_EMBEDDING_MODEL: 'local' })).toMatchObject({ chatModel: null, localModel: known });
    const other = 'paraphrase-multilingual-MiniLM-L12-v2';
    expect(standalone({ SLOWWAVE_EMBEDDING_MODEL: `local:${other}` }).localModel).toEqual({ name: other });
    expect(standalone({ SLOWWAVE_EMBEDDING_MODEL: 'local:/models/own' }).localModel).toEqual({ folder: '/models/own' });
    expect(standalone({ ...key, SLOWWAVE_EMBEDDING_MODEL: 'locale-embed' }).localModel).toBeNull();
    expect(standalone(key).localModel).toBeNull();
  });

  it('a local one that nobody knows is refused with those that can be named', () => {
    expect(problemsOf(() => standalone({ SLOWWAVE_EMBEDDING_MODEL: 'local:e5' }))[0]).toMatch(
      /SLOWWAVE_EMBEDDING_MODEL: must be .*local:multilingual-e5-small, local:paraphrase-.*, got "local:e5"/,
    );
  });

  it('embeddings are asked for where chat is, or at a server of their own with its own key', () => {
    const own = { SLOWWAVE_EMBEDDING_BASE_URL: 'http://embed/v1', SLOWWAVE_EMBEDDING_MODEL: 'bge-m3' };
    expect(standalone(key).embeddingServer).toMatchObject({ baseUrl: null, apiKey: 'key-of-the-model-server' });
    expect(standalone({ ...key, ...own }).embeddingServer).toMatchObject({ baseUrl: 'http://embed/v1', apiKey: null });
    expect(standalone({ ...key, SLOWWAVE_EMBEDDING_API_KEY: 'other' }).embeddingServer.apiKey).toBe('other');
    expect(standalone(own)).toMatchObject({ chatModel: null, embeddingModel: 'bge-m3' });
    expect(problemsOf(() => standalone({ ...key, SLOWWAVE_EMBEDDING_BASE_URL: 'http://embed/v1' }))).toEqual([
      '  - SLOWWAVE_EMBEDDING_MODEL: a separate embedding server needs the name of its model; set SLOWWAVE_EMBEDDING_MODEL',
    ]);
    expect(problemsOf(() => standalone({ ...own, SLOWWAVE_EMBEDDING_MODEL: 'local' }))).toEqual([
      '  - SLOWWAVE_EMBEDDING_BASE_URL: does not apply to a local model; unset it',
    ]);
  });

  it.each([
    ['SLOWWAVE_EMBEDDING_EXTRA_BODY', '[1]', 'must be a JSON object'],
    ['SLOWWAVE_EMBEDDING_EXTRA_BODY', '{"secret": ', 'must be a JSON object'],
    ['SLOWWAVE_EMBEDDING_EXTRA_HEADERS', '{"secret": 1}', 'must be a JSON object of header names'],
    ['SLOWWAVE_EMBEDDING_EXTRA_HEADERS', '{"a:secret": "x"}', 'must be a JSON object of header names'],
  ])('%s=%s is refused, and not repeated', (name, text, expected) => {
    const problems = problemsOf(() => standalone({ ...key, [name]: text }));
    expect(problems).toEqual([expect.stringContaining(`${name}: ${expected}`)]);
    expect(problems[0]).not.toContain('secret');
  });

  it('how answers are streamed may be set for an image model alone', () => {
    const images = { SLOWWAVE_IMAGE_MODEL: 'see', SLOWWAVE_IMAGE_BASE_URL: 'http://images:8000/v1' };
    expect(standalone({ ...images, SLOWWAVE_CHAT_STREAM: 'off' })).toMatchObject({ imageServer: { stream: 'off' } });
    expect(problemsOf(() => standalone({ SLOWWAVE_CHAT_STREAM: 'off' }))).toEqual([
      expect.stringContaining('SLOWWAVE_CHAT_STREAM'),
    ]);
  });

  it('the key of a chat model that speaks as Anthropic does goes to nobody who has embeddings', () => {
    const anthropic = { ...key, SLOWWAVE_CHAT_API: 'anthropic', SLOWWAVE_CHAT_MODEL: 'claude-m' };
    expect(standalone(anthropic)).toMatchObject({
      chatServer: { api: 'anthropic', apiKey: 'key-of-the-model-server' },
      embeddingModel: null,
      embeddingServer: { api: 'openai', baseUrl: null, apiKey: null },
    });
    const own = { SLOWWAVE_EMBEDDING_MODEL: 'small', SLOWWAVE_EMBEDDING_API_KEY: 'other' };
    expect(standalone({ ...anthropic, ...own }).embeddingServer).toMatchObject({ baseUrl: null, apiKey: 'other' });
    expect(problemsOf(() => standalone({ ...anthropic, SLOWWAVE_EMBEDDING_MODEL: 'small' }))).toEqual([
      expect.stringContaining('SLOWWAVE_EMBEDDING_MODEL: a model needs a server'),
    ]);
    expect(problemsOf(() => standalone({ ...anthropic, SLOWWAVE_CHAT_STREAM: 'on' }))).toEqual([
      expect.stringContaining('SLOWWAVE_CHAT_STREAM'),
    ]);
    expect(problemsOf(() => standalone({ ...key, SLOWWAVE_CHAT_API: 'anthropic' }))).toEqual([
      '  - SLOWWAVE_CHAT_MODEL: there is no default model for Anthropic; set SLOWWAVE_CHAT_MODEL',
    ]);
    expect(problemsOf(() => standalone({ SLOWWAVE_CHAT_API: 'anthropic' }))).toContainEqual(
      expect.stringContaining('SLOWWAVE_CHAT_API: only applies with a model server'),
    );
  });

  it('prefixes are taken as they are given, spaces included, and none is none', () => {
    const given = { SLOWWAVE_EMBEDDING_QUERY_PREFIX: 'query: ', SLOWWAVE_EMBEDDING_DOCUMENT_PREFIX: 'none' };
    expect(standalone({ ...key, ...given }).embeddingPrefixes).toEqual({ query: 'query: ', document: '' });
    expect(standalone(key).embeddingPrefixes).toEqual({ query: null, document: null });
  });

  it('what an embedder has no use for is refused', () => {
    expect(problemsOf(() => standalone({ SLOWWAVE_EMBEDDING_QUERY_PREFIX: 'query: ' }))[0]).toContain(
      'SLOWWAVE_EMBEDDING_QUERY_PREFIX: does not apply to the builtin embedding model',
    );
    const local = { SLOWWAVE_EMBEDDING_MODEL: 'local', SLOWWAVE_EMBEDDING_DIMENSIONS: '384' };
    expect(problemsOf(() => standalone(local))[0]).toContain('SLOWWAVE_EMBEDDING_DIMENSIONS: does not apply');
  });
});

describe('the index', () => {
  it('is a file unless a Qdrant server is named', () => {
    expect(standalone({}).qdrant).toBeNull();
    expect(standalone({ QDRANT_URL: 'http://127.0.0.1:6333', SLOWWAVE_QDRANT_QUANTIZED: 'true' }).qdrant).toEqual({
      url: 'http://127.0.0.1:6333',
      apiKey: null,
      index: 'slowwave',
      quantized: true,
      onDisk: false,
      shards: 0,
    });
    const sharded = { QDRANT_URL: 'http://127.0.0.1:6333', SLOWWAVE_QDRANT_SHARDS: '8' };
    expect(standalone(sharded).qdrant?.shards).toBe(8);
  });
});

describe('the index in PostgreSQL', () => {
  const DATABASE_URL = 'postgres://db/slowwave';

  it('is one that separate processes share', () => {
    expect(service({ DATABASE_URL, SLOWWAVE_INDEX: 'postgres' })).toMatchObject({
      qdrant: null,
      indexInDatabase: true,
    });
    expect(standalone({ DATABASE_URL }).indexInDatabase).toBe(false);
  });

  it('needs a PostgreSQL, and is the only one', () => {
    const both = { SLOWWAVE_INDEX: 'postgres', QDRANT_URL: 'http://127.0.0.1:6333' };
    expect(problemsOf(() => standalone(both))).toEqual([
      '  - SLOWWAVE_INDEX: the index is either in PostgreSQL or on Qdrant; unset SLOWWAVE_INDEX or QDRANT_URL',
      '  - SLOWWAVE_INDEX: requires PostgreSQL; set DATABASE_URL, or unset SLOWWAVE_INDEX',
    ]);
    expect(problemsOf(() => standalone({ DATABASE_URL, SLOWWAVE_INDEX: 'sqlite' }))).toEqual([
      '  - SLOWWAVE_INDEX: must be postgres, or not set, got "sqlite"',
    ]);
  });
});

describe('the database', () => {
  it('can be the queue too', () => {
    const settings = { DATABASE_URL: 'postgres://db/slowwave', QDRANT_URL: 'http://qdrant:6333' };
    expect(service(settings)).toMatchObject({ databaseUrl: 'postgres://db/slowwave', redisUrl: null });
  });

  it('gets a few connections for the ledger, and more where it is the queue too', () => {
    const settings = { DATABASE_URL: 'postgres://db/slowwave', QDRANT_URL: 'http://qdrant:6333' };
    expect(service({ ...settings, ...REDIS }).databaseConnections).toBe(4);
    const alone = { DATABASE_URL: settings.DATABASE_URL, SLOWWAVE_INDEX: 'postgres' };
    expect(service({ ...alone, ...REDIS }).databaseConnections).toBe(8);
    expect(service(settings).databaseConnections).toBe(24);
    const few = { ...settings, SLOWWAVE_DATABASE_CONNECTIONS: '3' };
    expect(service({ ...few, ...REDIS }).databaseConnections).toBe(3);
    expect(problemsOf(() => service(few))).toEqual([
      '  - SLOWWAVE_DATABASE_CONNECTIONS: expected at least 12 with the queue in PostgreSQL, got "3"; raise it, or set REDIS_URL',
    ]);
  });
});

describe('what is refused', () => {
  it('all problems are said at once, with what was expected and what was got', () => {
    const problems = problemsOf(() =>
      standalone({
        SLOWWAVE_PORT: 'x',
        SLOWWAVE_CONCURRENCY: '0',
        SLOWWAVE_LOG_LEVEL: 'loud',
        SLOWWAVE_CHAT_MODEL: 'llama',
      }),
    );
    expect(problems).toEqual([
      '  - SLOWWAVE_PORT: must be a number from 0 to 65535, got "x"',
      '  - SLOWWAVE_LOG_LEVEL: must be one of debug, info, warn, error, silent, got "loud"',
      '  - SLOWWAVE_CONCURRENCY: must be a whole number from 1 to 500, got "0"',
      expect.stringContaining('SLOWWAVE_CHAT_MODEL: a model needs a server'),
    ]);
  });

  it('settings of a Qdrant that is not used', () => {
    expect(problemsOf(() => standalone({ QDRANT_API_KEY: 'key', SLOWWAVE_QDRANT_ON_DISK: 'true' }))).toEqual([
      '  - QDRANT_API_KEY: only applies with an index on Qdrant; set QDRANT_URL, or unset this',
      '  - SLOWWAVE_QDRANT_ON_DISK: only applies with an index on Qdrant; set QDRANT_URL, or unset this',
    ]);
  });

  it('secrets are not repeated', () => {
    const problems = problemsOf(() =>
      standalone({ SLOWWAVE_API_KEY: 'too-short', REDIS_URL: 'http://u:hunter2@host' }),
    );
    expect(problems).toHaveLength(2);
    expect(problems.join()).not.toMatch(/too-short|hunter2/);
  });

  it('separate processes without a shared queue', () => {
    expect(problemsOf(() => service({}))).toEqual([
      expect.stringContaining('REDIS_URL: separate processes share a queue'),
    ]);
    expect(readServiceConfig(7_072, { queue: false }, {}).redisUrl).toBeNull();
  });

  it('separate processes on PostgreSQL with an index file on each host', () => {
    const DATABASE_URL = 'postgres://slowwave:hunter2@db/slowwave';
    const problems = problemsOf(() => service({ ...REDIS, DATABASE_URL }));
    expect(problems).toEqual([expect.stringMatching(/SLOWWAVE_INDEX: separate processes .* index file of its own/)]);
    expect(problems.join()).not.toContain('hunter2');
    expect(problemsOf(() => readServiceConfig(7_072, { queue: false }, { DATABASE_URL }))).toEqual(problems);
    expect(standalone({ DATABASE_URL }).databaseUrl).toBe(DATABASE_URL);
  });
});

describe('where a setting comes from', () => {
  it('a flag wins over the environment', () => {
    expect(readStandaloneConfig({ SLOWWAVE_PORT: '7000' }, { SLOWWAVE_PORT: '8000' }).port).toBe(7_000);
  });

  it('an empty setting counts as not set', () => {
    expect(standalone({ SLOWWAVE_PORT: '', SLOWWAVE_API_KEY: '' })).toMatchObject({ port: 7_070, apiKey: null });
  });
});

describe('settings that there are not', () => {
  it.each([
    ['SLOWWAVE_CHATMODEL', 'did you mean SLOWWAVE_CHAT_MODEL?'],
    ['SLOWWAVE_BATCH_IDLE', 'did you mean SLOWWAVE_BATCH_IDLE_MS?'],
    ['SLOWWAVE_CAHT_MODEL', 'did you mean SLOWWAVE_CHAT_MODEL?'],
    ['SLOWWAVE_COLOUR_OF_THE_SEA', 'docs/settings.md lists all settings'],
  ])('%s is refused: %s', (name, said) => {
    const [problem] = problemsOf(() => standalone({ [name]: 'a secret' }));
    expect(problem).toContain(`${name}: unknown setting; ${said}`);
    expect(problem).not.toContain('secret');
    expect(() => service({ ...REDIS, QDRANT_URL: 'http://127.0.0.1:6333', [name]: 'x' })).toThrow(name);
  });

  it('an empty one counts as not set, and what Kubernetes says of services is no setting', () => {
    const names = ['SLOWWAVE_INGEST_SERVICE_HOST', 'SLOWWAVE_INGEST_PORT', 'SLOWWAVE_INGEST_PORT_7071_TCP_ADDR'];
    const services = Object.fromEntries(names.map((name) => [name, 'tcp://10.0.0.1:7071']));
    expect(standalone({ SLOWWAVE_CHATMODEL: '', ...services })).toMatchObject({ chatModel: null });
  });
});
