import type { SettingsView } from '@slowwave/contracts';
import { withQuery } from '../api.ts';
import { type Command, type Given, TENANT } from '../command.ts';
import { UsageError } from '../exit.ts';

const INDENT = 2;

export const settingsCommand: Command = {
  name: 'settings',
  summary: 'Show the settings of a tenant, as JSON.',
  options: { tenant: TENANT },
  run: async ({ given, ask }) => {
    const settings = await ask<SettingsView>('GET', pathFor(given));
    return { value: settings, text: JSON.stringify(settings, null, INDENT) };
  },
};

export const setSettingCommand: Command = {
  name: 'settings set',
  usage: '<setting=value>',
  summary: 'Change one setting of a tenant; all others stay.',
  about: `The value is JSON, or a text as it stands, e.g. timezone=Europe/Oslo, graph=true,
budgets.tokens_per_day=100000, 'review=["DELETE"]', includes=null. slowwave settings shows
what there is.`,
  options: { tenant: TENANT },
  run: async ({ given, ask }) => {
    const { names, value } = assignmentIn(given);
    const before = await ask<SettingsView>('GET', pathFor(given));
    const after = await ask<SettingsView>('PUT', pathFor(given), changed(before, names, value));
    return {
      value: after,
      text: `${names.join('.')} is ${JSON.stringify(value)} now. It takes effect with the next consolidation.`,
    };
  },
};

const pathFor = (given: Given): string => withQuery('/v1/settings', { tenant: given.text('tenant') });

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
