import { core } from 'zod';

/** Most mistakes that one answer tells. Nobody reads more, and looking for them is work that others wait for. */
export const MISTAKES_MAX = 20;

/**
 * Lets every list of a schema stop at the item with which it has as many mistakes as are told; zod itself looks at all
 * items, or stops at the first mistake. Of what is too long nothing else is told: the checks behind would read megabytes.
 */
export function stopAtEnough(schema: core.$ZodType): void {
  if (seen.has(schema)) return;
  seen.add(schema);
  if (schema instanceof core.$ZodArray) stopList(schema);
  if (schema instanceof core.$ZodString) for (const size of core.util.sizeCaps(schema._zod.def.checks)) stopAt(size);
  for (const part of partsOf(schema)) stopAtEnough(part);
}

/** Schemas are shared between routes, and refer to themselves. */
const seen = new WeakSet<core.$ZodType>();

/** What a schema is made of, whichever kind it is. */
function partsOf(schema: core.$ZodType): readonly core.$ZodType[] {
  if (schema instanceof core.$ZodLazy) return [schema._zod.innerType];
  const given: readonly unknown[] = Object.values(schema._zod.def);
  const inside = given.flatMap((one) => (typeof one === 'object' && one !== null ? [one, ...Object.values(one)] : []));
  return inside.filter((one) => one instanceof core.$ZodType);
}

const stopAt = ([, check]: ReturnType<typeof core.util.sizeCaps>[number]): void => {
  check._zod.def.abort = true;
};

function stopList(list: core.$ZodArray): void {
  const { parse: whole, def } = list._zod;
  const most = Math.min(...core.util.sizeCaps(def.checks).map(([size]) => size));
  const parse: typeof whole = (payload, context) => {
    const items: unknown = payload.value;
    // What is no list, or too long, zod refuses without looking at an item.
    if (!Array.isArray(items) || items.length > most) {
      const refused = whole(payload, context);
      list._zod.parse = parse; // zod has put back its own
      return refused;
    }
    const read: unknown[] = [];
    payload.value = read;
    for (const [i, value] of items.entries()) {
      const result = def.element._zod.run({ value, issues: [] }, context);
      if (result instanceof Promise) throw new core.$ZodAsyncError();
      read.push(result.value);
      if (result.issues.length === 0) continue;
      payload.issues.push(...core.util.prefixIssues(i, result.issues));
      if (payload.issues.length >= MISTAKES_MAX) break;
    }
    return payload;
  };
  if (list._zod.run === whole) list._zod.run = parse;
  list._zod.parse = parse;
}
