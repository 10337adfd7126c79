export { auditMetrics } from './audit-metrics.ts';
export { countCommits } from './count-commits.ts';
export { countWaits } from './count-waits.ts';
export { engineMetrics } from './engine-metrics.ts';
export { ingestMetrics } from './ingest-metrics.ts';
export { measureBreakers } from './measure-breakers.ts';
export { meteredEmbedder } from './metered-embedder.ts';
export { countQueryVectors, type VectorSource } from './query-metrics.ts';
