import { Counter, type Registry } from 'prom-client';

/** A ledger that lets several writes share one commit. */
interface Grouping {
  committed(): Promise<{ readonly commits: number; readonly calls: number }>;
}

/** How many writes shared how many commits; asked for when metrics are. */
export function countCommits(registry: Registry, ledger: Grouping): void {
  const registers = [registry];
  const counted = (name: string, help: string, of: 'commits' | 'calls'): void => {
    new Counter({
      name,
      help,
      registers,
      async collect() {
        const total = (await ledger.committed())[of];
        this.reset();
        this.inc(total);
      },
    });
  };
  counted('slowwave_ledger_group_commits_total', 'Commits of grouped writes by this process', 'commits');
  counted('slowwave_ledger_grouped_writes_total', 'Writes by this process that shared those commits', 'calls');
}
