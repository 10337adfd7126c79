import { standaloneOnRedis } from './setups.ts';
import { describeWay } from './way-of-a-batch.ts';

describeWay('in one process on Redis', standaloneOnRedis, { builtin: true });
