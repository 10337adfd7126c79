// Bundles every program, every script of a thread and every script that tests start with what it imports into the folder named:
// each has its name there, as JavaScript. The tests start them some thousand times, and from a few files each is up with a
// third of the processor time. What is neither bundled nor imported stands where it stood: the bundle belongs to this
// checkout, and is no product.
import { globSync, rmSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { rolldown } from 'rolldown';

const ROOT = resolve(import.meta.dirname, '../..');
/** They load native code, WebAssembly or pages that stand beside their own files. */
const LEFT_AS_THEY_ARE = ['better-sqlite3', 'onnxruntime-node', '@electric-sql/pglite', '@bull-board'];

/** As the bundler writes it: `import * as whole`, `import whole` or `import { named, one as another }`. */
const IMPORT_OF_BUILTIN =
  /^import (?:(?:\* as )?(?<whole>[\w$]+))?,? ?(?<named>\{[^}]*\})? ?from "(?<module>node:[\w/]+)";$/gm;

const STARTED = [
  'apps/*/src/main.ts',
  'packages/{adapters,local-embedder}/src/**/*-thread.ts',
  'packages/*/test/*-{child,thread}.ts',
];

const folder = resolve(process.argv[2] ?? '');
const started = globSync(STARTED, { cwd: ROOT });
rmSync(folder, { recursive: true, force: true });
const bundle = await rolldown({
  input: Object.fromEntries(started.map((path) => [path.replace(/\.ts$/, ''), resolve(ROOT, path)])),
  platform: 'node',
  logLevel: 'silent',
  plugins: [
    {
      name: 'in-place',
      resolveId: { order: 'pre', handler: external },
      load: asDefault,
      transform: inPlace,
      renderChunk: asBuiltin,
    },
  ],
});
await bundle.write({
  dir: folder,
  format: 'esm',
  // Without the white space and the comments a start takes a tenth less; names stay for whoever reads a stack.
  minify: { compress: false, mangle: false },
  entryFileNames: '[name].js',
  chunkFileNames: '[name]-[hash].js',
});

async function external(specifier, importer) {
  if (!LEFT_AS_THEY_ARE.some((name) => specifier === name || specifier.startsWith(`${name}/`))) return null;
  const found = await this.resolve(specifier, importer, { skipSelf: true });
  return found && { id: pathToFileURL(found.id).href, external: true };
}

/** The bundler would also export every key by its name, and trips over "private". */
async function asDefault(id) {
  if (id !== resolve(ROOT, 'package.json')) return null;
  return { code: `export default ${await readFile(id, 'utf8')}`, moduleType: 'js' };
}

/** A module still knows where its file is. Scripts of threads become files of the bundle. */
function inPlace(code, id) {
  const url = JSON.stringify(pathToFileURL(id).href);
  const there = { url, filename: JSON.stringify(id), dirname: JSON.stringify(dirname(id)) };
  if (id.includes('/node_modules/')) {
    if (!/\b__(?:dir|file)name\b/.test(code)) return null;
    return `var __filename = ${there.filename}, __dirname = ${there.dirname}; ${code}`;
  }
  return code
    .replace(/new URL\('([^']+\.ts)', import\.meta\.url\)/g, (_, path) => {
      const script = fileURLToPath(new URL(path, pathToFileURL(id)));
      return `new URL(import.meta.ROLLUP_FILE_URL_${this.emitFile({ type: 'chunk', id: script })})`;
    })
    .replace(/\bimport\.meta\.(url|filename|dirname)\b/g, (_, name) => there[name]);
}

/**
 * A module that imports one of Node.js reads all that it exports at once, also what is only made when asked for: with
 * `node:http` all of fetch and HTTP/2 would be loaded at each start. What is taken from it by name is loaded alone.
 */
function asBuiltin(code) {
  return code.replace(IMPORT_OF_BUILTIN, (...found) => {
    const { whole, named, module } = found.at(-1);
    const builtin = `globalThis.process.getBuiltinModule("${module}")`; // a chunk may have a `process` of its own
    const parts = named?.replaceAll(/([\w$]+) as ([\w$]+)/g, '$1: $2');
    return [whole, parts].map((taken) => (taken === undefined ? '' : `const ${taken} = ${builtin};`)).join('');
  });
}
