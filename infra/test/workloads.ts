import { manifests } from './manifests.ts';

interface Probe {
  readonly httpGet?: { readonly path: string; readonly port: string };
  readonly periodSeconds?: number;
  readonly failureThreshold?: number;
}

export interface Container {
  readonly image: string;
  readonly command?: readonly string[];
  readonly ports: readonly { readonly name: string; readonly containerPort: number }[];
  readonly envFrom?: readonly object[];
  readonly resources: object;
  readonly startupProbe?: Probe;
  readonly livenessProbe: Probe;
  readonly readinessProbe: Probe;
  readonly lifecycle?: { readonly preStop: { readonly exec: { readonly command: readonly string[] } } };
}

export interface Workload {
  readonly spec: {
    readonly selector: { readonly matchLabels: Readonly<Record<string, string>> };
    readonly template: {
      readonly metadata: { readonly labels: Readonly<Record<string, string>> };
      readonly spec: { readonly containers: readonly Container[]; readonly terminationGracePeriodSeconds: number };
    };
  };
}

export const deployments = await manifests<Workload>('Deployment');
export const workloads = [...deployments, ...(await manifests<Workload>('StatefulSet'))];
export const podOf = ({ spec }: Workload) => spec.template.spec;

/** The deployment of a program, its pods and their one container. */
export function programOf(name: string): { pod: ReturnType<typeof podOf>; container: Container } {
  const deployment = deployments.find(({ metadata }) => metadata.name === name);
  const container = deployment?.spec.template.spec.containers[0];
  if (deployment === undefined || container === undefined) throw new Error(`expected a deployment ${name}, found none`);
  return { pod: podOf(deployment), container };
}
