import swagger from '@fastify/swagger';
import swaggerUi from '@fastify/swagger-ui';
import type { RouteOptions } from 'fastify';
import { jsonSchemaTransform, jsonSchemaTransformObject } from 'fastify-type-provider-zod';
import { allowPages } from '../headers.ts';
import { needScope } from '../scopes.ts';
import type { App, Routes } from '../types.ts';
import { ABOUT, SECURITY_SCHEME, SECURITY_SCHEMES, SERVERS, TAGS } from './about.ts';
import { tidy } from './tidy.ts';

/** Collects the description of every route added after it, for /openapi.json and /docs. */
export async function registerDocs(app: App, name: string): Promise<void> {
  // One process that does everything is named after the product itself.
  const title = name === 'slowwave' ? 'Slowwave' : `Slowwave ${name}`;
  await app.register(swagger, {
    openapi: {
      openapi: '3.1.0',
      info: { title, ...ABOUT },
      servers: SERVERS,
      tags: TAGS,
      components: { securitySchemes: SECURITY_SCHEMES },
      security: [{ [SECURITY_SCHEME]: [] }],
    },
    transform: (document) => withOpenness(jsonSchemaTransform(document), document.route),
    transformObject: (document) => tidy(jsonSchemaTransformObject(document)),
  });
  const schema = { operationId: 'getDescription', tags: ['health'], summary: 'This description' };
  app.get('/openapi.json', { schema, config: { scope: 'any' } }, async () => app.swagger());
  await app.register(docsPages);
}

const docsPages: Routes = async (app) => {
  allowPages(app);
  needScope(app, 'any');
  await app.register(swaggerUi, {
    routePrefix: '/docs',
    uiConfig: { validatorUrl: null, deepLinking: true },
    theme: { title: 'Slowwave API', css: [{ filename: 'slowwave.css', content: WITHOUT_BAR }] },
  });
  // Who opens the server in a browser wants to know what it is.
  app.get('/', { schema: { hide: true } }, async (_request, reply) => reply.redirect('/docs/'));
};

/** The bar at the top offers descriptions of other services, under another's name. */
const WITHOUT_BAR = '.swagger-ui .topbar { display: none }';

type Described = ReturnType<typeof jsonSchemaTransform>;

/** What answers without a key says so. */
function withOpenness({ schema, url }: Described, { config }: RouteOptions): Described {
  return config?.open === true && schema !== undefined ? { schema: { ...schema, security: [] }, url } : { schema, url };
}
