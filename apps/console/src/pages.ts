import { readdir, readFile } from 'node:fs/promises';
import { extname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';
import { consolePolicy, type FastifyReply, type FastifyRequest, type Routes } from '@slowwave/http';

/** Where apps/web is built to. */
const BUILT = fileURLToPath(new URL('../../web/dist/', import.meta.url));

/** What the address of a page begins with. All of them are one document, whose script reads the address. */
export const SECTIONS = [
  ...['users', 'memories', 'consolidations', 'work', 'reviews', 'graph', 'suites', 'canaries', 'nights', 'costs'],
  ...['cells', 'settings', 'playground'],
] as const;

/** Where people see what is remembered of them: a document of its own, and the only one that may stand in a frame. */
const OWN_PAGE = '/me';

interface Pages {
  /** Which sites may show people's own page in a frame. */
  readonly frameAncestors: readonly string[];
}

/** The console in a browser. Anybody may load it: what it shows it asks the API for. */
export const consolePages = ({ frameAncestors }: Pages, folder: string = BUILT): Routes => {
  const files = filesIn(folder);
  return async (app) => {
    app.addHook('onRoute', (route) => {
      route.schema = { ...route.schema, hide: true };
      route.config = { ...route.config, open: true };
    });
    const document = (name: string, policy: string) => async (request: FastifyRequest, reply: FastifyReply) => {
      const found = (await files()).get(name);
      if (found === undefined) return reply.code(503).type('text/plain').send(NOT_BUILT);
      reply.header('content-security-policy', policy).header('cache-control', 'no-cache');
      return send(found, request, reply);
    };
    const page = document('/index.html', consolePolicy());
    app.addHook('onRequest', async (_request, reply) => void reply.header('referrer-policy', 'same-origin'));
    const own = document('/me.html', consolePolicy(frameAncestors));
    app.get(OWN_PAGE, async (request, reply) => {
      // The older header knows no list; browsers that know the policy go by that alone, and others show no frame.
      if (frameAncestors.length > 0) reply.removeHeader('x-frame-options');
      return own(request, reply.header('referrer-policy', 'no-referrer'));
    });
    app.get('/', page);
    for (const section of SECTIONS) {
      app.get(`/${section}`, page);
      app.get(`/${section}/*`, page);
    }
    app.get('/assets/*', async (request, reply) => {
      const found = (await files()).get(request.url.split('?')[0] ?? '');
      if (found === undefined) return reply.callNotFound();
      // Their names change with what they contain.
      return send(found, request, reply.header('cache-control', 'public, max-age=31536000, immutable'));
    });
  };
};

const NOT_BUILT = `The console has not been built yet. ./scripts/start builds it, and so does: pnpm --filter @slowwave/web build
The API works without it: see /docs/
`;

interface File {
  readonly type: string;
  readonly plain: Buffer;
  readonly br: Buffer;
  readonly gzip: Buffer;
}

const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
};

/** The best takes a second of a core at the first visit, for a tenth less. */
const BROTLI = { params: { [constants.BROTLI_PARAM_QUALITY]: 8 } };

/** The files of a folder by their paths, read and compressed at the first request; looked for again while there are none. */
function filesIn(folder: string): () => Promise<ReadonlyMap<string, File>> {
  let kept: Promise<ReadonlyMap<string, File>> | null = null;
  return async () => {
    kept ??= load(folder);
    const files = await kept;
    if (files.size === 0) kept = null;
    return files;
  };
}

async function load(folder: string): Promise<ReadonlyMap<string, File>> {
  const names = await readdir(folder, { recursive: true }).catch(() => []);
  const files = names.flatMap((name) => (TYPES[extname(name)] === undefined ? [] : [name]));
  const loaded = files.map(async (name): Promise<[string, File]> => {
    const plain = await readFile(join(folder, name));
    const type = TYPES[extname(name)] ?? '';
    const [br, zipped] = await Promise.all([promisify(brotliCompress)(plain, BROTLI), promisify(gzip)(plain)]);
    return [`/${name.replaceAll('\\', '/')}`, { type, plain, br, gzip: zipped }];
  });
  return new Map(await Promise.all(loaded));
}

function send({ type, plain, br, gzip }: File, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const accepted = String(request.headers['accept-encoding'] ?? '');
  reply.type(type).header('vary', 'accept-encoding');
  if (/\bbr\b/.test(accepted)) return reply.header('content-encoding', 'br').send(br);
  if (/\bgzip\b/.test(accepted)) return reply.header('content-encoding', 'gzip').send(gzip);
  return reply.send(plain);
}
