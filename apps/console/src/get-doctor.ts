import { ExaminationView, GetDoctorQuery } from '@slowwave/contracts';
import { isoOf } from '@slowwave/engine';
import type { App } from '@slowwave/http';
import type { ConsoleDeps } from './deps.ts';

const schema = {
  operationId: 'getDoctor',
  tags: ['manage'],
  summary: 'Whether every promise holds, and what to run where one does not',
  description: 'Of the whole installation. Changes nothing; others go on working meanwhile.',
  querystring: GetDoctorQuery,
  response: { 200: ExaminationView },
};

export function getDoctor(app: App, { examine }: ConsoleDeps): void {
  app.get('/v1/doctor', { schema }, async (request) => {
    const { depth } = request.query;
    const { at, healthy, checks, findings } = await examine({ depth, cancel: app.stopping });
    return {
      at: isoOf(at),
      depth,
      healthy,
      checks: [...checks],
      findings: findings.map((finding) => ({ ...finding, examples: [...finding.examples] })),
    };
  });
}
