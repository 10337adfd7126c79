/** What a version may be, e.g. 1.4.0. */
const VERSION = /^(\d+)\.(\d+)\.(\d+)$/;

/** A release that cannot be made of what there is. */
export class ReleaseError extends Error {
  override readonly name = 'ReleaseError';
}

/** Whether one version comes after another. */
export function expectLater(version: string, last: string): void {
  const [wanted, had] = [partsOf(version), partsOf(last)];
  const at = wanted.findIndex((part, i) => part !== had[i]);
  if (at >= 0 && (wanted[at] ?? 0) > (had[at] ?? 0)) return;
  throw new ReleaseError(`expected a version after ${last}, got ${version}`);
}

function partsOf(version: string): readonly number[] {
  const found = VERSION.exec(version);
  if (found === null) throw new ReleaseError(`expected a version like 1.4.0, got ${version}`);
  return found.slice(1).map(Number);
}

/** Files that name the version of the release: packages, and the image where it is started. */
export const namesVersion = (path: string): boolean =>
  /(^|\/)(package\.json|pyproject\.toml)$/.test(path) || path === 'docker-compose.yml' || path.startsWith('infra/k8s/');

/** A file with the next version in place of the last one. Versions of anything else stay. */
export function withVersion(text: string, last: string, next: string): string {
  const old = last.replaceAll('.', '\\.');
  return text.replace(new RegExp(`("version": "|^version = "|slowwave:|newTag: )${old}\\b`, 'gm'), `$1${next}`);
}

const UNRELEASED = '## Unreleased';

/** The changelog with what was unreleased under the next version. */
export function withRelease(changelog: string, next: string, day: string): string {
  const [before = '', after] = changelog.split(`${UNRELEASED}\n`);
  const changes = after?.split(/^## /m)[0]?.trim() ?? '';
  if (changes === '')
    throw new ReleaseError(`expected CHANGELOG.md to say under "${UNRELEASED}" what is new, got nothing`);
  return `${before}${UNRELEASED}\n\n## ${next} – ${day}\n${after}`;
}
