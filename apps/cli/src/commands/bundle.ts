import { resolve } from 'node:path';
import { manifestIn, save } from '../bundle/folder.ts';
import { check, type Loaded, load, loadErasures, loadSettings } from '../bundle/load.ts';
import { type Call, type Command, type Given, OWNER } from '../command.ts';
import { CommandError, EXIT, UsageError } from '../exit.ts';
import { table, tracked } from '../output.ts';
import { FROM_OPTIONS, importFrom, originOf } from './import-from.ts';

const TENANT = { value: 'NAME', about: 'The tenant. Default: default.' };
const tenantOf = (given: Given): string => given.text('tenant') ?? 'default';

export const bundleCommands: readonly Command[] = [
  {
    name: 'export',
    usage: '<folder>',
    summary: 'Export all data of all owners into a folder, to import it elsewhere.',
    about: `The folder is a bundle: owners with messages, memories and their versions, decisions, graph and
vectors, each with checksums. Each owner is as of one moment; servers keep running. Stopped and
started again, it continues. The folder contains what users said: keep it private. Requires an
operator's key. To export the data of one user for that user, run slowwave export user <id>.`,
    options: { ...OWNER, tenant: TENANT },
    run: async (call) => {
      const { given, out, cancel } = call;
      const folder = resolve(given.words[0] ?? '');
      const manifest = await tracked(out, { title: 'export', unit: 'owners' }, ({ update }) =>
        save(call, { folder, tenant: tenantOf(given), only: onlyOf(given), cancel, onOwner: update }),
      );
      const { owners, lines } = manifest;
      return {
        value: { folder, owners: owners.lines, lines, erasures: manifest.erasures.lines },
        text: `Wrote ${owners.lines} owners in ${lines} lines to ${folder}.`,
      };
    },
  },
  {
    name: 'import',
    usage: '<folder or file>',
    writes: true,
    summary: 'Import a bundle that export wrote, or with --from a file of another system.',
    about: `A bundle needs an operator's key and continues where an earlier run stopped. Files of other systems are
posted as by your own program: facts verbatim with their times, conversations to
be read by the model. A report lists what was imported and what was not. You can run it again:
nothing is imported twice.`,
    options: {
      ...OWNER,
      user: { value: 'ID', about: 'Only this owner of a bundle; with --from, the owner of the memories:' },
      agent: { value: 'ID', about: 'a user, or for a bundle an agent' },
      tenant: TENANT,
      'replace-settings': { value: null, about: 'Replace existing settings of the tenant.' },
      check: { value: null, about: 'Only check that the bundle is complete.' },
      ...FROM_OPTIONS,
    },
    run: (call) => {
      const path = resolve(call.given.words[0] ?? '');
      const origin = originOf(call);
      return origin === null ? importBundle(call, path) : importFrom(call, origin, path);
    },
  },
];

/** One owner, or all: null. */
function onlyOf(given: Given): { readonly kind: 'user' | 'agent' | 'run'; readonly id: string } | null {
  const kinds = ['user', 'agent', 'run'] as const;
  const named = kinds.flatMap((kind) => {
    const id = given.text(kind);
    return id === null ? [] : [{ kind, id }];
  });
  if (named.length > 1) throw new UsageError('expected at most one of --user, --agent, --run', null);
  return named[0] ?? null;
}

/** Imports a bundle. */
async function importBundle(call: Call, folder: string) {
  const { given, out, cancel } = call;
  const manifest = await manifestIn(folder);
  if (manifest === null) {
    const message = `expected a bundle in ${folder}, got no manifest.json; for a file of another system, name the system with --from`;
    throw new CommandError(message, EXIT.notFound);
  }
  const only = onlyOf(given);
  const total = manifest.lines;
  const isChecking = given.flag('check');
  const loaded = await tracked(out, { title: isChecking ? 'check' : 'import', unit: 'lines' }, async ({ update }) => {
    const loading = {
      folder,
      manifest,
      tenant: tenantOf(given),
      only,
      cancel,
      onLines: (done: number) => update(done, total),
    };
    if (isChecking) return check(loading);
    await loadErasures(call, loading);
    const owners = await load(call, loading);
    if (only !== null) return { ...owners, settings: 'kept' as const };
    return { ...owners, ...(await loadSettings(call, { ...loading, replace: given.flag('replace-settings') })) };
  });
  const { lines: owners } = manifest.owners;
  if (loaded === undefined) {
    return {
      value: { folder, owners, lines: total },
      text: `The bundle is complete: ${owners} owners in ${total} lines.`,
    };
  }
  const { imported, known, left, settings } = loaded;
  if (only !== null && imported + known + left.length === 0) {
    throw new CommandError(`there is no ${only.kind} ${only.id} in ${folder}`, EXIT.notFound);
  }
  return {
    value: { folder, owners, imported, known, left, settings },
    text: `${counts(loaded)}\nSettings: ${SETTINGS[settings]}${left.length === 0 ? '' : `\n${table(LEFT, left)}`}`,
    exit: left.length === 0 ? EXIT.done : EXIT.findings,
  };
}

const SETTINGS = {
  same: 'the same here.',
  taken: 'imported.',
  kept: 'the existing ones stay (--replace-settings imports those of the bundle).',
} as const;

const counts = ({ imported, known, left }: Loaded): string =>
  [
    `${imported} owners were imported`,
    ...(known === 0 ? [] : [`${known} were already there`]),
    ...(left.length === 0 ? [] : [`${left.length} cannot be imported`]),
  ].join(', ') + (imported === 0 ? '.' : '; their memories will be searchable shortly.');

const LEFT = {
  kind: ({ kind }: Loaded['left'][number]) => kind,
  id: ({ id }: Loaded['left'][number]) => id,
  why: ({ message }: Loaded['left'][number]) => message,
};
