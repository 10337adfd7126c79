import { describe, expect, it } from 'vitest';
import { atOnce } from '../ports/tools.ts';
import { maskSecrets, secretIn, suspectsAmong } from './secrets.ts';

/** Put together here, so that no scanner takes this file for a leak. */
const key = (...parts: readonly string[]): string => parts.join('');
const LETTERS = 'a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8s9T0';

describe('a secret is masked where it stands', () => {
  it.each([
    ['My card is 4242 4242 4242 4242, use it', 'My card is [secret: card number], use it'],
    ['4242424242424242', '[secret: card number]'],
    ['card 5555-5555-5555-4444 12/26', 'card [secret: card number] 12/26'],
    ['card 4242 4242 4242 4242 12 26', 'card [secret: card number] 12 26'],
    ['amex 378282246310005.', 'amex [secret: card number].'],
    ['卡号是6222021234567890128，有效期', '卡号是[secret: card number]，有效期'],
    ['卡号４２４２４２４２４２４２４２４２', '卡号[secret: card number]'],
    [`key ${key('sk-', 'proj-', LETTERS)} ok`, 'key [secret: API key] ok'],
    [`use ${key('gh', 'p_', LETTERS.slice(0, 36))}.`, 'use [secret: API key].'],
    [`id ${key('AK', 'IA', 'IOSFODNN7EXAMPLE')}`, 'id [secret: API key]'],
    [`${key('xox', 'b-', '123456789012-', LETTERS)}`, '[secret: API key]'],
    [`api_key = "${LETTERS}"`, 'api_key = "[secret: API key]"'],
    [`Authorization: Bearer ${LETTERS}`, 'Authorization: Bearer [secret: API key]'],
    [`${key('ey', 'JhbGciOiJIUzI1NiJ9', '.eyJzdWIiOiIxMjM0In0', '.c2lnbmF0dXJl')}!`, '[secret: JWT]!'],
    [
      `${key('-----BEGIN RSA ', 'PRIVATE KEY-----')}\nMIIE\n${key('-----END RSA ', 'PRIVATE KEY-----')} bye`,
      '[secret: private key] bye',
    ],
    [`${key('-----BEGIN ', 'PRIVATE KEY-----')}\nMIIE`, '[secret: private key]'],
    ['my password is hunter2 and I live in Oslo', 'my password is [secret: password] and I live in Oslo'],
    ['The wifi password is swordfish.', 'The wifi password is [secret: password].'],
    ['password is really secret', 'password is [secret: password]'],
    ['the passphrase is purple horse battery staple. Bye', 'the passphrase is [secret: password]. Bye'],
    ['Password: hunter2', 'Password: [secret: password]'],
    ['{"password":"hunter2","user":"ann"}', '{"password":"[secret: password]","user":"ann"}'],
    ['{\\"password\\":\\"hunter2\\"}', '{\\"password\\":\\"[secret: password]\\"}'],
    ["User's password for the bank is Tr0ub4dor&3", "User's password for the bank is [secret: password]"],
    ['I changed my password to hunter2', 'I changed my password to [secret: password]'],
    ['my password was changed to hunter22', 'my password was changed to [secret: password]'],
    ['mein Passwort ist Geheim123!', 'mein Passwort ist [secret: password]!'],
    ['我的密码是abc12345，别告诉别人', '我的密码是[secret: password]，别告诉别人'],
    ['postgres://ann:s3cret@db.example/x', 'postgres://ann:[secret: password]@db.example/x'],
    ['my PIN is 4711', 'my PIN is [secret: PIN]'],
    ['CVV 123', 'CVV [secret: PIN]'],
    ['验证码是482913', '验证码是[secret: PIN]'],
  ])('%s', (text, masked) => {
    expect(maskSecrets(text).text).toBe(masked);
    expect(maskSecrets(masked).text).toBe(masked);
    expect(secretIn(text)).toBe(secretIn(masked));
  });
});

describe('what only resembles a secret is left as it is', () => {
  it.each([
    'User forgot their password',
    'The password is too weak',
    'My password manager is Bitwarden',
    'the password policy at work is strict',
    '密码是什么',
    '我忘了密码',
    'Order 4242 4242 4242 4241 has shipped',
    'call me at +49 151 1234 5678',
    'at 1772355600000 ms',
    'ISBN 978-3-16-148410-0',
    'I use scikit, sk-learn-extensions-for-everybody',
    'the token ring network',
    'the secret of a good token economy is moderation',
    'User dropped a pin at 123 Main Street',
    'User bowls ten pin on Fridays',
    'https://example.com:8080/path@x',
    'write to ann@example.com',
    'The basic idea: bearer bonds',
    'User passed 4 exams in 2023',
  ])('%s', (text) => {
    expect(maskSecrets(text)).toEqual({ text, kinds: [] });
  });
});

it.each([
  'eyJ-',
  'sk-',
  '1 ',
  '4',
  'password ',
  'password:',
  'a://',
  '-----BEGIN PRIVATE KEY-----',
  '密码',
  'api key ',
])('comes to an end on 100,000 times %j', (unit) => {
  expect(maskSecrets(unit.repeat(100_000)).text).not.toBe('');
});

it.each([
  ['Die Karte: ４２４２–４２４２ 4242-4242', 'card number'],
  ['the PASSWORD is swordfish', 'password'],
  ['my pa\u017fsword is swordfish', 'password'],
  ['I changed the KENNWORT to swordfish', 'password'],
  ['my OTP is 4711', 'PIN'],
  ['the Door Code is 4711', 'PIN'],
  ['HTTPS://ann:s3cret@db.example/x', 'password'],
  ['das Lösenord: swordfish', 'password'],
  ['密码是swordfish1', 'password'],
  [`${key('sk-', LETTERS)}`, 'API key'],
  [`${key('AK', 'IA', 'IOSFODNN7EXAMPLE')}`, 'API key'],
  [`the Encryption \u017fecret\\": \n \\"${LETTERS.slice(0, 16)}`, 'API key'],
  [`AUTHORIZATION: BASIC   ${LETTERS.slice(0, 15)}\u212a`, 'API key'],
])('%s is masked also at the end of a long text that holds nothing else', (text, kind) => {
  const long = 'Ana moved to Oslo in 2024, see https and mail at 10:30. '.repeat(500);
  expect(maskSecrets(`${long}${text}`).kinds).toEqual([kind]);
  expect(maskSecrets(long)).toEqual({ text: long, kinds: [] });
});

describe('among many texts', () => {
  const others = (from: number, count: number): string[] =>
    Array.from({ length: count }, (_, i) => `Ana moved to flat ${from + i} in Oslo`);

  it.each([
    '4242424242424242',
    `key ${key('sk-', 'proj-', LETTERS)} ok`,
    `${key('-----BEGIN ', 'PRIVATE KEY-----')}\nMIIE`,
    'my password is hunter2',
    'mein Kennwort ist Geheim123!',
    '密码是swordfish1',
    'postgres://ann:s3cret@db.example/x',
    'my PIN is 4711',
    'my PIN is [secret: PIN]',
  ])('%s is suspected wherever it stands, and few others are', (text) => {
    for (const place of [0, 63, 64, 150, 200]) {
      const suspects = atOnce(suspectsAmong([...others(0, place), text, ...others(place, 200 - place)]));
      expect(suspects).toContain(text);
      expect(suspects.size).toBeLessThanOrEqual(64);
    }
  });

  it('none is suspected where none holds anything of a secret, nor because of what the text beside it says', () => {
    expect(
      atOnce(suspectsAmong([...others(0, 100), 'flat 4242 4242', '4242 4242', 'User drops a pin', '471 times'])),
    ).toEqual(new Set());
  });
});
