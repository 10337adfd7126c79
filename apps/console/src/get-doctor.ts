import { ExaminationView, GetDoctorQuery } from '@slowwave/contracts';
import { isoOf } from '@slowwave/engine';
import type { App } from '@slowwave/http';
import type { ConsoleDeps } from './deps.ts';

const schema = {
  operationId: 'getDoctor',
  tags: ['manage'],
  summary: 'Check the installation for problems and how to fix them',
  description: 'Checks the whole installation. Changes nothing and does not interrupt other work.',
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
