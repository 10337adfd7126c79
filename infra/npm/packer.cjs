// Run before a package for applications is packed: npm does not know publishConfig.exports, and would pack it without its code.

// biome-ignore lint/style/noProcessEnv: it is how a packer says which one it is
const packer = process.env.npm_config_user_agent ?? '';
if (packer.startsWith('npm/')) {
  process.stderr.write(`expected pnpm to pack this package, got ${packer.split(' ')[0]}: run ./scripts/pack
at the root of the repository. npm can install and publish the archives that it makes.
`);
  process.exitCode = 1;
}
