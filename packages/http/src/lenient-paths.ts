/** Where clients of others come in, who write slashes twice in a row and at the end. */
const LENIENT = /^\/mem0(?=\/|$)/;

/** The url with slashes as routes have them, where that is forgiven; any other as it is. */
export function tidyUrl(url: string): string {
  if (!LENIENT.test(url)) return url;
  const [path = '', ...query] = url.split('?');
  const tidy = path.replace(/\/{2,}/g, '/').replace(/(?<=.)\/$/, '');
  return [tidy, ...query].join('?');
}
