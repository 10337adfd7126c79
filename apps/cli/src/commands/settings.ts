import type { SettingsView } from '@slowwave/contracts';
import { ofTenant, withQuery } from '../api.ts';
import { type Command, type Given, TENANT } from '../command.ts';
import { UsageError } from '../exit.ts';

const INDENT = 2;

export const settingCommands: readonly Command[] = [
  {
    name: 'settings',
    summary: 'Show the settings of a tenant, as JSON.',
    options: { tenant: TENANT },
    run: async (call) => {
      const settings = await call.ask<SettingsView>('GET', ofTenant('/v1/settings', call));
      return { value: settings, text: JSON.stringify(settings, null, INDENT) };
    },
  },
  {
    name: 'settings set',
    usage: '<setting=value>',
    summary: 'Change one setting of a tenant; all others stay.',
    about: `The value is JSON or plain text, e.g. timezone=Europe/Oslo, graph=true,
budgets.tokens_per_day=100000, 'review=["DELETE"]', includes=null. slowwave settings lists
all settings.`,
    options: {
      'gate-run': {
        value: 'RUN',
        about: 'If a gate is set: the id of a passed run with exactly these settings (docs/suites.md).',
      },
      tenant: TENANT,
    },
    run: async (call) => {
      const { names, value } = assignmentIn(call.given);
      const path = ofTenant('/v1/settings', call);
      const before = await call.ask<SettingsView>('GET', path);
      const to = withQuery('/v1/settings', {
        tenant: call.given.text('tenant'),
        gate_run: call.given.text('gate-run'),
      });
      const after = await call.ask<SettingsView>('PUT', to, changed(before, names, value));
      return {
        value: after,
        text: `${names.join('.')} is now ${JSON.stringify(value)}. It takes effect with the next consolidation.`,
      };
    },
  },
];

interface Assignment {
  /** From the outside in. */
  readonly names: readonly string[];
  readonly value: unknown;
}

function assignmentIn({ words: [word = ''] }: Given): Assignment {
  const [, names, text = ''] = /^([a-z_]+(?:\.[^=.]+)*)=(.*)$/s.exec(word) ?? [];
  if (names === undefined) throw new UsageError(`expected setting=value, got "${word}"`, 'settings set');
  return { names: names.split('.'), value: jsonOr(text) };
}

function jsonOr(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

/** A copy with one field changed, which the server refuses if there is none of its name. */
function changed(fields: object, [name = '', ...inner]: readonly string[], value: unknown): object {
  if (inner.length === 0) return { ...fields, [name]: value };
  const field = (fields as Readonly<Record<string, unknown>>)[name];
  return { ...fields, [name]: changed(typeof field === 'object' && field !== null ? field : {}, inner, value) };
}
