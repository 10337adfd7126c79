/** A sample of a Prometheus page. */
export interface Sample {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

/** The metrics of several programs, one list after the other. */
export async function scrape(urls: readonly string[]): Promise<readonly Sample[]> {
  const pages = await Promise.all(urls.map(async (url) => (await fetch(`${url}/metrics`)).text()));
  return pages.flatMap((page) => page.split('\n').flatMap(sampleOf));
}

/** The sum of a metric over all programs and labels that are not named. */
export function total(samples: readonly Sample[], name: string, labels: Readonly<Record<string, string>> = {}): number {
  return samples
    .filter((one) => one.name === name && Object.entries(labels).every(([key, value]) => one.labels[key] === value))
    .reduce((sum, { value }) => sum + value, 0);
}

function sampleOf(line: string): Sample[] {
  const [, name, labels = '', value] = /^([a-z_]+)(?:\{(.*)\})? (\S+)$/.exec(line) ?? [];
  if (name === undefined) return [];
  const pairs = [...labels.matchAll(/(\w+)="([^"]*)"/g)].map(([, key = '', text = '']) => [key, text]);
  return [{ name, labels: Object.fromEntries(pairs), value: Number(value) }];
}
