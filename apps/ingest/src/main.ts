import { readServiceConfig } from '@slowwave/adapters/config';
import { closeThreads } from '@slowwave/adapters/system';
import { serve } from '@slowwave/http';
import { compose } from './compose.ts';

const PORT = 7071;

await serve(() => compose(readServiceConfig(PORT)), { ending: closeThreads });
