import { readStandaloneConfig } from '@slowwave/adapters/config';
import { closeThreads } from '@slowwave/adapters/system';
import { serve } from '@slowwave/http';
import { helpText, readFlags, welcome } from './terminal.ts';

await serve(
  async () => {
    const flags = readFlags(process.argv.slice(2));
    if (flags === null) {
      process.stdout.write(helpText());
      process.exit(0);
    }
    const config = readStandaloneConfig(flags);
    // Loads the whole product, so only once the configuration is valid.
    const { compose } = await import('./compose.ts');
    return compose(config);
  },
  { started: (service) => process.stdout.write(welcome(service)), ending: closeThreads },
);
