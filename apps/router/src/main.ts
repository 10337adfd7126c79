import { readRouterConfig, refuseArguments } from '@slowwave/adapters/config';
import { serve } from '@slowwave/http';
import { compose } from './compose.ts';

await serve(
  () => {
    refuseArguments(process.argv.slice(2));
    return compose(readRouterConfig());
  },
  { started: ({ url }) => void process.stdout.write(`router on ${url}\n`) },
);
