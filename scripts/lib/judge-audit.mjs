// Judges what `pnpm audit --json` says, given on standard input: a high or critical finding fails, unless audit-allowed.json
// lists it with a reason until a day that has not passed. A registry that does not answer fails nothing.
import { readFileSync } from 'node:fs';

const GRAVE = ['high', 'critical'];

const answer = readFileSync(0, 'utf8');
const allowed = JSON.parse(readFileSync(new URL('audit-allowed.json', import.meta.url), 'utf8'));
const { say, failed } = judge(answer, allowed, new Date().toISOString().slice(0, 10));
process.stderr.write(`${say}\n`);
process.exit(failed ? 1 : 0);

function judge(text, exceptions, today) {
  const report = parsed(text);
  const findings = report === null ? null : findingsOf(report);
  if (findings === null) return { say: 'the registry did not answer; nothing was audited', failed: false };
  const excused = new Set(exceptions.filter(({ until }) => today <= until).map(({ id }) => id));
  const grave = findings.filter(({ severity, id }) => GRAVE.includes(severity) && !excused.has(id));
  const lines = grave.map(({ severity, name, id, title, url }) => `${severity}: ${name}, ${id}: ${title} ${url}`);
  const count = `${findings.length} findings, ${grave.length} of them high or critical and not allowed`;
  return { say: [count, ...lines].join('\n'), failed: grave.length > 0 };
}

function parsed(text) {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

/** null: this is no report. */
function findingsOf({ advisories, metadata }) {
  if (typeof advisories !== 'object' || advisories === null) return null;
  const listed = Object.values(advisories).map((advisory) => ({
    id: advisory.github_advisory_id ?? String(advisory.id),
    name: advisory.module_name ?? advisory.name,
    severity: advisory.severity,
    title: advisory.title ?? '',
    url: advisory.url ?? '',
  }));
  // Counted, but not listed: a form of the report that is not known here must not pass for a clean one.
  const counts = metadata?.vulnerabilities ?? {};
  const counted = (counts.high ?? 0) + (counts.critical ?? 0);
  const unlisted = counted > 0 && !listed.some(({ severity }) => GRAVE.includes(severity));
  return unlisted
    ? [...listed, { id: '', name: 'unknown', severity: 'high', title: `${counted} not listed`, url: '' }]
    : listed;
}
