import type { SecretKind } from './secrets.ts';

export interface KeyForm {
  readonly kind: SecretKind;
  /** The secret is the group `value`, else the whole match. */
  readonly form: RegExp;
}

interface RareForm extends KeyForm {
  /** Where one of these does not stand there is no such secret: looked for first, as that takes next to no time. */
  readonly needs: readonly string[];
}

/**
 * Beginnings that services give their keys, so that they can be found where they should not be. A key has a digit in
 * it somewhere: names of packages and branches begin alike.
 */
const BEGINNINGS = [
  'sk-ant-',
  'sk-proj-',
  'sk-or-',
  'sk-',
  '[rs]k_(?:live|test)_',
  'whsec_',
  'gh[oprsu]_',
  'github_pat_',
  'glpat-',
  'xox[abeoprs]-',
  'xapp-',
  'hf_',
  'gsk_',
  'xai-',
  'pplx-',
  'tvly-',
  'm0-',
  'npm_',
  'pypi-',
  'dop_v1_',
  'shp(?:at|ca|pa|ss)_',
  'lin_api_',
  'ntn_',
  'dapi',
  'sbp_',
  'vercel_',
  'SG\\.',
  'ya29\\.',
  'AIza',
  'AGE-SECRET-KEY-1',
].join('|');

/** How far before its long word a key is called one, at most: "encryption secret". In characters. */
export const CALLED_BEFORE = 32;

/**
 * Keys that are one long word, whatever it is called: sought around such words only, which few texts have. Each form can
 * begin only where no longer word goes on, so that no text is read more than once per form.
 */
export const LONG_KEYS: readonly KeyForm[] = [
  { kind: 'JWT', form: /(?<![\w-])eyJ[\w-]{8,}\.[\w-]{8,}\.[\w-]*/gu },
  {
    kind: 'API key',
    form: new RegExp(`(?<![\\w-])(?:${BEGINNINGS})(?=[A-Za-z_.-]*\\d)[\\w.-]{15,}[\\w-]`, 'gu'),
  },
  { kind: 'API key', form: /(?<![A-Za-z0-9])A(?:KIA|SIA|ROA)[0-9A-Z]{16}(?![A-Za-z0-9])/gu },
  {
    kind: 'API key',
    form: /(?<![\p{L}\p{N}])(?:api|secret|access|auth|client|account|signing|encryption)[ _-]?(?:key|token|secret)(?![\p{L}\p{N}])\\?["'`]?\s{0,3}(?:is|=>?|:|：|是|为)?\s{0,3}\\?["'`]?(?<value>(?=[A-Za-z_.+/-]*\d)[\w.+/=-]{16,})/giu,
  },
  {
    kind: 'API key',
    form: /(?<![\p{L}\p{N}])(?:bearer|authorization: basic)\s{1,3}(?<value>(?=[A-Za-z_.+/~-]*\d)[\w.+/=~-]{16,})/giu,
  },
];

/** Keys in lines, and those of accounts in addresses. */
export const OTHER_KEYS: readonly RareForm[] = [
  {
    kind: 'private key',
    needs: ['-----BEGIN '],
    form: /-----BEGIN (?:[A-Z]{1,12} ){0,3}PRIVATE KEY(?: BLOCK)?-----[^"]*?(?:-----END [A-Z ]{1,40}-----|(?=")|$)/gu,
  },
  {
    kind: 'password',
    needs: ['://', '@'],
    form: /:(?<=(?<![A-Za-z0-9+.-])[a-z][a-z0-9+.-]{1,15}:\/\/[^\s/:@"]{0,64}:)(?<value>[^\s/@"]{1,256})(?=@)/giu,
  },
];
