export { countCommits } from './count-commits.ts';
export { engineMetrics } from './engine-metrics.ts';
export { ingestMetrics } from './ingest-metrics.ts';
export { meteredEmbedder } from './metered-embedder.ts';
