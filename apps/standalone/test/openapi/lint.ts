import { createConfig, lintFromString } from '@redocly/openapi-core';

/** Each rule that differs from the recommended ones, and why. */
const RULES = {
  // What no route uses is left out of the description; what is left over would be a mistake of ours.
  'no-unused-components': 'error',
  'no-invalid-schema-examples': 'error',
  'no-invalid-parameter-examples': 'error',
  'no-invalid-media-type-examples': 'error',
  'operation-tag-defined': 'error',
  'operation-operationId-url-safe': 'error',
} as const;

/** What a linter has to say about a description, warnings too. */
export async function lint(description: object): Promise<string[]> {
  const config = await createConfig({ extends: ['recommended'], rules: RULES });
  const problems = await lintFromString({ source: JSON.stringify(description), absoluteRef: 'openapi.json', config });
  return problems.map(
    ({ severity, ruleId, message, location: [at] }) => `${severity} ${ruleId}: ${message} ${at?.pointer}`,
  );
}
