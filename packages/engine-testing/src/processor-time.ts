/** The processor time that a piece of work takes in this thread, in milliseconds. Its wall time would depend on what else the machine does. */
export function processorMs(work: () => void): number {
  const before = process.threadCpuUsage();
  work();
  const { user, system } = process.threadCpuUsage(before);
  return (user + system) / 1_000;
}
