import { expect, test } from 'vitest';
import { PINNED, programs, stopSeconds, textOf, yamlOf } from './files.ts';
import { type Manifest, manifests, mistakesOf } from './manifests.ts';
import { deployments, podOf, programOf, type Workload, workloads } from './workloads.ts';

interface Selecting {
  readonly spec: { readonly selector: object; readonly ports?: readonly { readonly port: number }[] };
}

const all = await manifests();
const [base] = await yamlOf('infra/k8s/base/ingest.yaml');

test.each(all.map((manifest) => [`${manifest.kind} ${manifest.metadata?.name ?? ''}`, manifest] as const))(
  '%s is what Kubernetes takes',
  (_name, manifest) => {
    expect(mistakesOf(manifest)).toEqual([]);
  },
);

test('a mistake in a manifest would be noticed: a wrong type, something missing, and an unknown field however deep', () => {
  const broken = (change: (container: Record<string, unknown>) => void): string => {
    const copy = structuredClone(base) as Manifest & Workload;
    change(podOf(copy).containers[0] as unknown as Record<string, unknown>);
    return mistakesOf(copy).join();
  };
  expect(broken(() => {})).toBe('');
  expect(broken((container) => Object.assign(container, { ports: 'http' }))).toContain('ports');
  expect(broken((container) => delete container.name)).toContain('name');
  expect(broken((container) => Object.assign(container, { readnessProbe: {} }))).toContain('readnessProbe');
  expect(mistakesOf({ apiVersion: 'apps/v2', kind: 'Deployment', metadata: { name: 'a' } })).toHaveLength(1);
});

test.each(workloads.map((workload) => [workload.metadata.name, workload] as const))(
  '%s is pinned, without root, contained, and asked whether it is well',
  (_name, workload) => {
    const pod = podOf(workload);
    expect(pod).toMatchObject({
      automountServiceAccountToken: false,
      enableServiceLinks: false,
      securityContext: { runAsNonRoot: true, seccompProfile: { type: 'RuntimeDefault' } },
    });
    expect(workload.spec.template.metadata.labels).toMatchObject(workload.spec.selector.matchLabels);
    for (const container of pod.containers) {
      expect(container.image).toMatch(PINNED);
      expect(container).toMatchObject({
        securityContext: {
          allowPrivilegeEscalation: false,
          readOnlyRootFilesystem: true,
          capabilities: { drop: ['ALL'] },
        },
        resources: { requests: { cpu: expect.any(String) }, limits: { memory: expect.any(String) } },
        livenessProbe: expect.any(Object),
        readinessProbe: expect.any(Object),
      });
    }
  },
);

test('the images are those of docker-compose.yml', async () => {
  const compose = await textOf('docker-compose.yml');
  for (const { image } of workloads.flatMap((workload) => podOf(workload).containers)) {
    expect(compose).toContain(` image: ${image}\n`);
  }
});

test('every program runs on its own port, with its settings, and is asked where it answers', async () => {
  for (const { name, port } of await programs()) {
    const { container } = programOf(name);
    expect(container).toMatchObject({
      command: ['node', 'bin/slowwave.cjs', 'start', name],
      ports: [{ name: 'http', containerPort: port }],
      envFrom: [{ configMapRef: { name: 'slowwave' } }, { secretRef: { name: 'slowwave' } }],
      startupProbe: { httpGet: { path: '/healthz', port: 'http' } },
      livenessProbe: { httpGet: { path: '/healthz', port: 'http' } },
      // Ingest takes batches in also while the queue is away.
      readinessProbe: { httpGet: { path: name === 'ingest' ? '/healthz' : '/readyz', port: 'http' } },
    });
  }
});

test('every program is left longer to stop than it takes, from the moment nobody sends to it any more', async () => {
  const limit = await stopSeconds();
  for (const { name } of await programs()) {
    const { pod, container } = programOf(name);
    const [, pause = '0'] = container.lifecycle?.preStop.exec.command ?? [];
    expect(pod.terminationGracePeriodSeconds, name).toBeGreaterThan(limit + Number(pause));
  }
});

test('every service and disruption budget finds its pods, and every deployment has a budget', async () => {
  const labels = (name: string) => workloads.find(({ metadata }) => metadata.name === name)?.spec.selector.matchLabels;
  const budgets = await manifests<Selecting>('PodDisruptionBudget');
  for (const { metadata, spec } of budgets) expect(spec.selector).toEqual({ matchLabels: labels(metadata.name) });
  for (const { metadata, spec } of await manifests<Selecting>('Service')) {
    expect(spec.selector).toEqual(labels(metadata.name));
    const ports = workloads.find((each) => each.metadata.name === metadata.name)?.spec.template.spec.containers[0]
      ?.ports;
    expect(spec.ports?.map(({ port }) => port)).toEqual(ports?.map(({ containerPort }) => containerPort));
  }
  expect(budgets.map(({ metadata }) => metadata.name).sort()).toEqual(
    deployments.map(({ metadata }) => metadata.name).sort(),
  );
});
