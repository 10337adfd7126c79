import { Counter, type Registry } from 'prom-client';

/** Where the vector of a question came from: this process, the cache that all share, or the model. */
export type VectorSource = 'memory' | 'shared' | 'model';

export function countQueryVectors(registry: Registry): (source: VectorSource) => void {
  const counter = new Counter({
    name: 'slowwave_query_vectors_total',
    help: 'Questions by where their vector came from: memory and shared are caches, model was asked',
    labelNames: ['source'] as const,
    registers: [registry],
  });
  return (source) => counter.inc({ source });
}
