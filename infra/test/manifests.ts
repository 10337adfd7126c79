import * as apps from 'kubernetes-models/apps/v1';
import * as autoscaling from 'kubernetes-models/autoscaling/v2';
import * as networking from 'kubernetes-models/networking.k8s.io/v1';
import * as policy from 'kubernetes-models/policy/v1';
import * as core from 'kubernetes-models/v1';
import { filesBelow, yamlOf } from './files.ts';
import { watched } from './watched.ts';

export interface Manifest {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly name: string };
}

const FOLDER = 'infra/k8s';

/** The manifests of a kind, from all files. */
export async function manifests<T = Manifest>(kind?: string): Promise<readonly (Manifest & T)[]> {
  const files = (await filesBelow(FOLDER)).filter((file) => file.endsWith('.yaml') && !/values\.yaml$/.test(file));
  const documents = (await Promise.all(files.map(yamlOf))).flat() as (Manifest & T)[];
  return documents.filter((document) => kind === undefined || document.kind === kind);
}

interface Validating {
  validate(): void;
}
type Model = new (data: never) => Validating;

/** What Kubernetes itself brings, by version and kind; classes of the models are named after kinds. */
const MODELS: Readonly<Record<string, Readonly<Record<string, unknown>>>> = {
  v1: core as Record<string, unknown>,
  'apps/v1': apps as Record<string, unknown>,
  'autoscaling/v2': autoscaling as Record<string, unknown>,
  'networking.k8s.io/v1': networking as Record<string, unknown>,
  'policy/v1': policy as Record<string, unknown>,
};

/** Kinds that others bring: they have no schema here. */
const OF_OTHERS = ['PodMonitor', 'Kustomization'];

/** What is wrong with a manifest, by the schemas of Kubernetes; unknown fields count. */
export function mistakesOf(manifest: Manifest): string[] {
  if (OF_OTHERS.includes(manifest.kind)) return [];
  const model = MODELS[manifest.apiVersion]?.[manifest.kind] as Model | undefined;
  if (model === undefined) return [`unknown kind ${manifest.apiVersion} ${manifest.kind}`];
  const { value, unseen } = watched(new model(manifest as never));
  try {
    value.validate();
  } catch (error) {
    return [String(error)];
  }
  return unseen().map((path) => `unknown field ${path}`);
}
