type Snake<Name extends string> = Name extends `${infer First}${infer Rest}`
  ? `${First extends Lowercase<First> ? First : `_${Lowercase<First>}`}${Snake<Rest>}`
  : '';

/** The columns of a value's fields, named like them: accepted_at for acceptedAt. A flag is 0 or 1, and what is JSON is text. */
export type ColumnsOf<Value, Json extends keyof Value = never> = {
  readonly [Field in keyof Value & string as Snake<Field>]: Field extends Json
    ? string | Extract<Value[Field], null>
    : Value[Field] extends boolean
      ? 0 | 1
      : Value[Field];
};
