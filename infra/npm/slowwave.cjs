#!/usr/bin/env node
// The command that npm installs. Written for any Node.js, so that an old one gets a sentence instead of a syntax error.

const NEEDED = require('../package.json').engines.node.replace('>=', '');
const SETTINGS = 'slowwave.env';

if (isOlder(process.versions.node.split('.').map(Number), NEEDED.split('.').map(Number))) {
  process.stderr.write(`Slowwave needs Node.js ${NEEDED} or newer, and this is ${process.version}.
Install a newer one from https://nodejs.org and run this again.
`);
  process.exit(1);
}
// Compiled modules are kept between starts: a start takes a third of the time.
require('node:module').enableCompileCache();
if (require('node:fs').existsSync(SETTINGS)) process.loadEnvFile(SETTINGS);
void import('../apps/cli/src/main.js');

function isOlder(found, needed) {
  return found[0] < needed[0] || (found[0] === needed[0] && found[1] < needed[1]);
}
