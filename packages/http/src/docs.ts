import swagger from '@fastify/swagger';
import swaggerUi from '@fastify/swagger-ui';
import { jsonSchemaTransform, jsonSchemaTransformObject } from 'fastify-type-provider-zod';
import { allowPages } from './headers.ts';
import { needScope } from './scopes.ts';
import { tidy } from './tidy-openapi.ts';
import type { App, Routes } from './types.ts';

const API_VERSION = '1';
const SECURITY_SCHEME = 'key';

/** Collects the description of every route added after it, for /openapi.json and /docs. */
export async function registerDocs(app: App, name: string): Promise<void> {
  await app.register(swagger, {
    openapi: {
      openapi: '3.1.0',
      info: {
        // One process that does everything is named after the product itself.
        title: name === 'slowwave' ? 'Slowwave' : `Slowwave ${name}`,
        version: API_VERSION,
        description: 'Long-term memory for agents: post transcripts, search memories. Errors are RFC 9457 problems.',
      },
      components: { securitySchemes: { [SECURITY_SCHEME]: { type: 'http', scheme: 'bearer' } } },
      security: [{ [SECURITY_SCHEME]: [] }],
    },
    transform: (document) => withProblems(jsonSchemaTransform(document)),
    transformObject: (document) => tidy(jsonSchemaTransformObject(document)),
  });
  const schema = { tags: ['health'], summary: 'This description' };
  app.get('/openapi.json', { schema, config: { scope: 'any' } }, async () => app.swagger());
  await app.register(docsPages);
}

const docsPages: Routes = async (app) => {
  allowPages(app);
  needScope(app, 'any');
  await app.register(swaggerUi, {
    routePrefix: '/docs',
    uiConfig: { validatorUrl: null, deepLinking: true },
  });
};

const PROBLEM_RESPONSE = {
  description: 'What went wrong, with a stable code',
  content: { 'application/problem+json': { schema: { $ref: '#/components/schemas/Problem' } } },
};

type Described = ReturnType<typeof jsonSchemaTransform>;

/** Every route can fail; said once here instead of at each. */
function withProblems({ schema, url }: Described): Described {
  if (schema === undefined || schema.hide === true) return { schema, url };
  const response = { ...(schema.response as object | undefined), default: PROBLEM_RESPONSE };
  return { schema: { ...schema, response }, url };
}
