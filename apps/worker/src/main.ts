import { readServiceConfig } from '@slowwave/adapters/config';
import { closeThreads } from '@slowwave/adapters/system';
import { serve } from '@slowwave/http';
import { compose } from './compose.ts';
import { giveWay } from './give-way.ts';

const PORT = 7074;

giveWay();
await serve(() => compose(readServiceConfig(PORT)), { ending: closeThreads });
