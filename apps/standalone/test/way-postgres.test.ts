import { standaloneOnPostgres } from './setups.ts';
import { describeWay } from './way-of-a-batch.ts';

describeWay('in one process on PostgreSQL', standaloneOnPostgres);
