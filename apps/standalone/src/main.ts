import { runsOn } from '@slowwave/adapters/assemble';
import { readStandaloneConfig } from '@slowwave/adapters/config';
import { serve } from '@slowwave/http';
import { compose } from './compose.ts';
import { helpText, readFlags } from './flags.ts';
import { welcome } from './welcome.ts';

await serve(
  async () => {
    const flags = readFlags(process.argv.slice(2));
    if (flags === null) {
      process.stdout.write(helpText());
      process.exit(0);
    }
    const config = readStandaloneConfig(flags);
    const service = await compose(config);
    return { ...service, runsOn: runsOn(config) };
  },
  (service) => process.stdout.write(welcome(service)),
);
