import { fourProcessesOnPostgres } from './setups.ts';
import { describeWay } from './way-of-a-batch.ts';

describeWay('in four processes on PostgreSQL alone', fourProcessesOnPostgres, { builtin: false });
