import { createConfig, lintFromString } from '@redocly/openapi-core';

/** Rules beside the recommended ones; none of those is switched off. */
const RULES = {
  // Examples of answers are compared with their schemas here and nowhere else.
  'no-invalid-schema-examples': 'error',
  // Whoever adds a group says what is in it.
  'operation-tag-defined': 'error',
} as const;

/** What a linter has to say about a description, warnings too. */
export async function lint(description: object): Promise<string[]> {
  const config = await createConfig({ extends: ['recommended'], rules: RULES });
  const problems = await lintFromString({ source: JSON.stringify(description), absoluteRef: 'openapi.json', config });
  return problems.map(
    ({ severity, ruleId, message, location: [at] }) => `${severity} ${ruleId}: ${message} ${at?.pointer}`,
  );
}
