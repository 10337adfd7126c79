import { EventEmitter } from 'node:events';
import type { IQueueBackend } from 'bullmq';

/** What the library calls a backend's method with. */
export type Given<Name extends keyof IQueueBackend> = Parameters<
  Extract<IQueueBackend[Name], (...args: never[]) => unknown>
>;

/**
 * What the product does not use of queues: flows, schedulers, rate limits, logs, metrics, and changes of jobs. Views hear
 * that there is none of it; whoever asks for it is refused.
 */
export class UnusedCalls extends EventEmitter {
  async getClientList(): Promise<string[]> {
    return [];
  }
  async removeOrphanedJobs(): Promise<number> {
    return 0;
  }
  async getJobLogs(): Promise<{ logs: string[]; count: number }> {
    return { logs: [], count: 0 };
  }
  async getMetrics(): Promise<[string[], string[], number]> {
    return [['0', '0', '0'], [], 0];
  }
  async getDependencies(): Promise<Record<string, never>> {
    return {};
  }
  async getDependencyCounts(...[, types]: Given<'getDependencyCounts'>): Promise<number[]> {
    return types.map(() => 0);
  }
  async getProcessedChildrenValues(): Promise<Record<string, string>> {
    return {};
  }
  async getIgnoredChildrenFailures(): Promise<Record<string, string>> {
    return {};
  }
  async getJobSchedulersCount(): Promise<number> {
    return 0;
  }
  async getJobSchedulersRange(): Promise<string[]> {
    return [];
  }
  async isJobScheduler(): Promise<boolean> {
    return false;
  }
  async isMaxed(): Promise<boolean> {
    return false;
  }
  /** As the library says that there is no limit. */
  async getRateLimitTtl(): Promise<number> {
    return -2;
  }

  readonly addFlow = refuse('addFlow');
  readonly addJobScheduler = refuse('addJobScheduler');
  readonly updateJobSchedulerNextMillis = refuse('updateJobSchedulerNextMillis');
  readonly removeJobScheduler = refuse('removeJobScheduler');
  readonly getJobScheduler = refuse('getJobScheduler');
  readonly getJobSchedulerData = refuse('getJobSchedulerData');
  readonly moveToWaitingChildren = refuse('moveToWaitingChildren');
  readonly removeUnprocessedChildren = refuse('removeUnprocessedChildren');
  readonly removeChildDependency = refuse('removeChildDependency');
  readonly paginate = refuse('paginate');
  readonly removeDeduplicationKey = refuse('removeDeduplicationKey');
  readonly deleteDeduplicationKey = refuse('deleteDeduplicationKey');
  readonly getDeduplicationJobId = refuse('getDeduplicationJobId');
  readonly moveJobFromActiveToWait = refuse('moveJobFromActiveToWait');
  readonly setRateLimit = refuse('setRateLimit');
  readonly removeRateLimitKey = refuse('removeRateLimitKey');
  readonly getCountsPerPriority = refuse('getCountsPerPriority');
  readonly removeDeprecatedPriorityKey = refuse('removeDeprecatedPriorityKey');
  readonly updateData = refuse('updateData');
  readonly updateProgress = refuse('updateProgress');
  readonly addLog = refuse('addLog');
  readonly clearLogs = refuse('clearLogs');
  readonly changeDelay = refuse('changeDelay');
  parseNodeKey(): never {
    throw unsupported('parseNodeKey');
  }
}

export const unsupported = (what: string): Error =>
  new Error(`the queue in memory does not support ${what}; set REDIS_URL to use a queue that does`);

const refuse = (call: string) => (): Promise<never> => Promise.reject(unsupported(call));
