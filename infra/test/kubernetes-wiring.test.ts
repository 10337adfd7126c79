import { SETTINGS } from '@slowwave/adapters/config';
import { expect, test } from 'vitest';
import { filesBelow, programs, textOf, yamlOf } from './files.ts';
import { manifests } from './manifests.ts';
import { deployments, podOf, workloads } from './workloads.ts';

test('settings and secrets name only settings that exist', async () => {
  const lines = (await textOf('infra/k8s/base/settings.env')).split('\n');
  const secrets = await manifests<{ stringData: object }>('Secret');
  const generated = await manifests<Generators>('Kustomization');
  const literals = generated.flatMap(({ secretGenerator = [], configMapGenerator = [] }) =>
    [...secretGenerator, ...configMapGenerator].flatMap((each) =>
      each.name === 'slowwave' ? (each.literals ?? []) : [],
    ),
  );
  const named = [
    ...[...lines, ...literals].filter((line) => /^[^#=]+=/.test(line)).map((line) => line.split('=')[0] ?? ''),
    ...secrets.flatMap(({ stringData }) => Object.keys(stringData)),
  ];
  expect(named.length).toBeGreaterThan(8);
  const known = SETTINGS.map(({ name }) => name);
  expect(named.filter((name) => !known.includes(name))).toEqual([]);
});

interface Generators {
  readonly resources: readonly string[];
  readonly secretGenerator?: readonly { readonly name: string; readonly literals?: readonly string[] }[];
  readonly configMapGenerator?: readonly {
    readonly name: string;
    readonly literals?: readonly string[];
    readonly envs?: readonly string[];
    readonly files?: readonly string[];
  }[];
}

test('every file is part of the whole, and every part has its file', async () => {
  const files = await filesBelow('infra/k8s');
  const kustomizations = files.filter((file) => file.endsWith('/kustomization.yaml'));
  const named = await Promise.all(
    kustomizations.map(async (file) => {
      const [{ resources, configMapGenerator = [] }] = (await yamlOf(file)) as [Generators];
      const parts = [...resources, ...configMapGenerator.flatMap(({ envs = [], files = [] }) => [...envs, ...files])];
      return parts.filter((part) => !part.startsWith('..')).map((part) => file.replace('kustomization.yaml', part));
    }),
  );
  const read = files.filter((file) => !/kustomization\.yaml$|\.example\.yaml$|\.values\.yaml$|\.md$/.test(file));
  expect(named.flat().sort()).toEqual(read);
});

interface Autoscaler {
  readonly spec: {
    readonly scaleTargetRef: object;
    readonly metrics: readonly {
      readonly type: string;
      readonly external: { readonly metric: { readonly name: string } };
    }[];
  };
}

test('workers are scaled on the queue age, by a metric that exists and is never summed up', async () => {
  const [autoscaler] = await manifests<Autoscaler>('HorizontalPodAutoscaler');
  const { scaleTargetRef, metrics } = autoscaler?.spec ?? {};
  expect(scaleTargetRef).toEqual({ apiVersion: 'apps/v1', kind: 'Deployment', name: 'worker' });
  const [name] = metrics?.map(({ external }) => external.metric.name) ?? [];
  expect(name).toBe('slowwave_oldest_due_seconds');
  expect(await textOf('docs/metrics.md')).toContain(`| \`${name}\` |`);
  const [{ rules }] = (await yamlOf('infra/k8s/overlays/production/prometheus-adapter.values.yaml')) as [
    { rules: { external: object[] } },
  ];
  expect(rules.external).toMatchObject([
    {
      seriesQuery: expect.stringContaining(`${name}{`),
      name: { as: name },
      metricsQuery: expect.stringMatching(/^max\(/),
    },
  ]);
});

test('metrics are scraped with the key, under the names the alerts ask for', async () => {
  const [monitor] = await manifests<{ spec: { jobLabel: string } }>('PodMonitor');
  expect(monitor?.spec).toMatchObject({
    podMetricsEndpoints: [
      { port: 'http', authorization: { credentials: { name: 'slowwave', key: 'SLOWWAVE_API_KEY' } } },
    ],
  });
  const jobs = deployments.map(({ spec }) => spec.template.metadata.labels[monitor?.spec.jobLabel ?? '']);
  for (const [, job] of (await textOf('infra/prometheus/prometheus.yml')).matchAll(/job_name: (\S+)/g)) {
    expect(jobs).toContain(job);
  }
});

test('the network lets through the ports that programs listen on and call', async () => {
  const policies = JSON.stringify(await manifests('NetworkPolicy'));
  for (const { port } of await programs()) expect(policies).toContain(`"port":${port}`);
  for (const { containerPort } of workloads.flatMap((workload) =>
    podOf(workload).containers.flatMap(({ ports }) => ports),
  ))
    expect(policies).toContain(`"port":${containerPort}`);
});

test('the proxy decides as the one of docker-compose.yml does', async () => {
  const rulesOf = (text: string): string[] =>
    (/map "\$request_method \$uri" \$program \{(.*?)\n\}/s.exec(text)?.[1] ?? '').split('\n').map((line) =>
      line
        .trim()
        .replace(/:\d+;$/, ';')
        .replaceAll(/ +/g, ' '),
    );
  const [docker, kubernetes] = await Promise.all(
    ['infra/docker/nginx.conf', 'infra/k8s/base/proxy.conf'].map(async (path) => rulesOf(await textOf(path))),
  );
  expect(docker?.length).toBeGreaterThan(5);
  expect(kubernetes).toEqual(docker);
});

test.each(['infra/docker/nginx.conf', 'infra/k8s/base/proxy.conf'])(
  '%s tells the programs whether a request came by https, as the TLS proxy in front of it says',
  async (path) => {
    const text = await textOf(path);
    const map = /map \$http_x_forwarded_proto \$came_by \{(.*?)\n\}/s.exec(text)?.[1] ?? '';
    const pairs = map.trim().split(/\s*\n\s*/u);
    const rules = pairs.map((pair) => pair.replace(/;$/u, '').split(/\s+/u));
    expect(Object.fromEntries(rules)).toEqual({ default: '$scheme', '~^https\\b': 'https' });
    expect(text).toMatch(/^\s*proxy_set_header X-Forwarded-Proto \$came_by;$/mu);
    expect(text).not.toMatch(/X-Forwarded-Proto \$scheme/u);
  },
);
