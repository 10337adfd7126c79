// Run before and after a package for applications is packed. pnpm puts publishConfig and versions into what it packs by itself;
// npm does not, so that it finds a manifest in which they are in place, which is taken back afterwards.

const { copyFileSync, existsSync, readFileSync, renameSync, rmSync, writeFileSync } = require('node:fs');

const MANIFEST = 'package.json';
const KEPT = 'package.json.kept';

// Also after a packing that was interrupted.
if (existsSync(KEPT)) {
  renameSync(KEPT, MANIFEST);
  rmSync('LICENSE', { force: true });
}
// biome-ignore lint/style/noProcessEnv: it is how a packer says which one it is
const packer = process.env.npm_config_user_agent ?? '';
if (process.argv[2] === 'before' && packer.startsWith('npm/')) {
  const manifest = JSON.parse(readFileSync(MANIFEST, 'utf8'));
  renameSync(MANIFEST, KEPT);
  copyFileSync('../../LICENSE', 'LICENSE');
  writeFileSync(MANIFEST, `${JSON.stringify(published(manifest), null, 2)}\n`);
}

function published({ publishConfig: { access, ...fields }, devDependencies, ...manifest }) {
  // All packages of the workspace have one version.
  const versions = Object.entries(manifest.dependencies ?? {}).map(([name, version]) => [
    name,
    version.startsWith('workspace:') ? manifest.version : version,
  ]);
  return { ...manifest, ...fields, publishConfig: { access }, dependencies: Object.fromEntries(versions) };
}
