import { expect, it } from 'vitest';
import { signed } from './objects.ts';

/** The keys and moment of the examples in Amazon's documentation of the signature. */
const KEYS = {
  accessKey: 'AKIAIOSFODNN7EXAMPLE',
  secretKey: 'wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY',
  region: 'us-east-1',
};
const AT = new Date('2013-05-24T00:00:00Z');
const HOST = 'https://examplebucket.s3.amazonaws.com';

const signatureOf = (path: string, headers = {}): string | undefined =>
  signed({ method: 'GET', url: new URL(`${HOST}${path}`), headers, at: AT }, KEYS).authorization?.split(
    'Signature=',
  )[1];

it('requests are signed as in the examples of those who made the signature', () => {
  expect(signatureOf('/test.txt', { range: 'bytes=0-9' })).toBe(
    'f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41',
  );
  expect(signatureOf('/?lifecycle')).toBe('fea454ca298b7da1c68078a5d1bdbfbbe0d65c699e0f91ac7a200a0136783543');
  expect(signatureOf('/?max-keys=2&prefix=J')).toBe('34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7');
});
