import { createHash } from 'node:crypto';

/**
 * Turns may be spread over several queues. Each has keys with a hash tag of its own, so that the nodes of a Redis Cluster share them, and on
 * one server several processors of the workers' side do. A lane is always in the same one, which keeps its jobs in order and under one name.
 */
export const shardQueues = (name: string, shards: number): readonly string[] =>
  Array.from({ length: shards }, (_, shard) => (shard === 0 ? name : `${name}-${shard}`));

/** Which of the queues a lane is in, for ever the same for as many shards. */
export const shardOf = (lane: string, shards: number): number =>
  shards === 1 ? 0 : createHash('sha256').update(lane).digest().readUInt32BE() % shards;

/** What the keys of a queue begin with. The braces keep all of them on one node of a Redis Cluster, which the library's scripts need. */
export function prefixOf(queue: string): string {
  const shard = /-(\d+)$/.exec(queue)?.[1];
  return shard === undefined ? '{slowwave}' : `{slowwave-${shard}}`;
}
