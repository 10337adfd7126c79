import { z } from 'zod';
import { yamlOf } from './files.ts';

const duration = z.string().regex(/^\d+(ms|s|m|h)$/);
const condition = z.enum(['service_started', 'service_healthy', 'service_completed_successfully']);
/** A port of the host, on an address of its own, to one of the container. */
const port = z.string().regex(/^\d+\.\d+\.\d+\.\d+:\d+:\d+$/);

/** A service, with the words of the Compose Specification that are used here: any other, or one misspelt, is a mistake. */
const service = z.strictObject({
  image: z.string(),
  build: z.strictObject({ context: z.string(), dockerfile: z.string() }).optional(),
  user: z.string(),
  profiles: z.array(z.string()).optional(),
  command: z.array(z.string()).optional(),
  entrypoint: z.array(z.string()).optional(),
  environment: z.record(z.string(), z.string()).optional(),
  depends_on: z.record(z.string(), z.strictObject({ condition, required: z.boolean().optional() })).optional(),
  healthcheck: z.strictObject({
    test: z.array(z.string()),
    interval: duration,
    timeout: duration,
    retries: z.int(),
    start_period: duration,
  }),
  restart: z.enum(['no', 'always', 'on-failure', 'unless-stopped']),
  init: z.boolean().optional(),
  stop_signal: z.string().optional(),
  stop_grace_period: duration.optional(),
  shm_size: z.string().optional(),
  read_only: z.boolean(),
  cap_drop: z.array(z.string()),
  security_opt: z.array(z.string()),
  logging: z.strictObject({ driver: z.string() }),
  tmpfs: z.array(z.string()).optional(),
  volumes: z.array(z.string()).optional(),
  networks: z
    .union([
      z.array(z.string()),
      z.record(z.string(), z.strictObject({ aliases: z.array(z.string()).optional() }).nullable()),
    ])
    .optional(),
  deploy: z.strictObject({ replicas: z.int().positive() }).optional(),
  ports: z.array(port).optional(),
});

export type Service = z.infer<typeof service>;

const compose = z.strictObject({
  name: z.string(),
  services: z.record(z.string(), service),
  networks: z.record(z.string(), z.strictObject({ internal: z.boolean().optional() }).nullable()),
  volumes: z.record(z.string(), z.null()),
});

/** What a file that is laid over another may say. */
const parts = z.strictObject({ services: z.record(z.string(), service.partial()) });

export type Compose = z.infer<typeof compose>;

/** docker-compose.yml with another file laid over it, service by service, as `docker compose -f … -f …` does with these words. */
export async function readComposeWith(path: string): Promise<Compose> {
  const [document] = await yamlOf(path);
  const over = parts.parse(withoutFragments(document));
  const base = await readCompose();
  const services = Object.entries(over.services).map(([name, part]) => {
    const { environment, depends_on, ...service } = base.services[name] ?? {};
    const merged = {
      environment: { ...environment, ...part.environment },
      depends_on: { ...depends_on, ...part.depends_on },
    };
    return [name, { ...service, ...part, ...merged }];
  });
  return parseCompose({ ...base, services: { ...base.services, ...Object.fromEntries(services) } });
}

/** docker-compose.yml as it is read; throws where it is not written as Compose reads it. */
export async function readCompose(): Promise<Compose> {
  const [document] = await yamlOf('docker-compose.yml');
  return parseCompose(document);
}

/** Fragments under `x-…` are only there to be merged in. */
export function parseCompose(document: unknown): Compose {
  return compose.parse(withoutFragments(document));
}

function withoutFragments(document: unknown): Record<string, unknown> {
  const entries = Object.entries(z.record(z.string(), z.unknown()).parse(document));
  return Object.fromEntries(entries.filter(([key]) => !key.startsWith('x-')));
}
