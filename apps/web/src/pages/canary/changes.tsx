/** What a canary does otherwise, each in a tag. */
export const Changes = ({ of: changes }: { readonly of: unknown }) =>
  Object.entries((changes ?? {}) as Record<string, unknown>).map(([name, value]) => (
    <span key={name} className="tag">
      {name.replaceAll('_', ' ')}: {typeof value === 'string' ? value : JSON.stringify(value)}
    </span>
  ));
