import { readServiceConfig, refuseArguments } from '@slowwave/adapters/config';
import { closeThreads, giveWay } from '@slowwave/adapters/system';
import { serve } from '@slowwave/http';
import { compose } from './compose.ts';

const PORT = 7074;

giveWay();
await serve(
  () => {
    refuseArguments(process.argv.slice(2));
    return compose(readServiceConfig(PORT));
  },
  { ending: closeThreads },
);
