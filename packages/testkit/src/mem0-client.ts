/** mem0's own client, unmodified, for tests that use it on Slowwave. */
export { MemoryClient } from 'mem0ai';
