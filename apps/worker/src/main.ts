import { readServiceConfig, refuseArguments } from '@slowwave/adapters/config';
import { closeThreads, giveWay } from '@slowwave/adapters/system';
import { serve } from '@slowwave/http';
import { compose } from './compose.ts';

const PORT = 7074;

await serve(
  () => {
    refuseArguments(process.argv.slice(2));
    const config = readServiceConfig(PORT);
    if (config.workerPriority === 'low') giveWay(); // before there are threads
    return compose(config);
  },
  { ending: closeThreads },
);
