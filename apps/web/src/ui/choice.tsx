interface Choices<T extends string> {
  /** What is chosen, for those who do not see it. */
  readonly name: string;
  readonly options: Readonly<Record<T, string>>;
  readonly chosen: T;
  readonly choose: (option: T) => void;
}

/** One of a few ways to look at something. */
export function Choice<T extends string>({ name, options, chosen, choose }: Choices<T>) {
  return (
    <fieldset className="row choice" aria-label={name}>
      {(Object.entries(options) as [T, string][]).map(([option, text]) => (
        <button key={option} type="button" aria-pressed={option === chosen} onClick={() => choose(option)}>
          {text}
        </button>
      ))}
    </fieldset>
  );
}
