import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto';

const CIPHER = 'aes-256-gcm';
const KEY_BYTES = 32;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;

/** Makes texts unreadable and unchangeable for who carries them, and readable again. */
export interface Sealer {
  seal(text: string): string;
  /** null: not sealed here, or changed since. */
  unseal(sealed: string): string | null;
}

/** Seals with what processes with the same static key share; without one, with what only this process has. */
export function sealer(apiKey: string | null): Sealer {
  const key =
    apiKey === null
      ? randomBytes(KEY_BYTES)
      : Buffer.from(hkdfSync('sha256', apiKey, '', 'slowwave session', KEY_BYTES));
  return {
    seal: (text) => {
      const nonce = randomBytes(NONCE_BYTES);
      const cipher = createCipheriv(CIPHER, key, nonce);
      const sealed = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()]);
      return Buffer.concat([nonce, cipher.getAuthTag(), sealed]).toString('base64url');
    },
    unseal: (text) => {
      const bytes = Buffer.from(text, 'base64url');
      if (bytes.length < NONCE_BYTES + TAG_BYTES) return null;
      const decipher = createDecipheriv(CIPHER, key, bytes.subarray(0, NONCE_BYTES), { authTagLength: TAG_BYTES });
      decipher.setAuthTag(bytes.subarray(NONCE_BYTES, NONCE_BYTES + TAG_BYTES));
      try {
        return decipher.update(bytes.subarray(NONCE_BYTES + TAG_BYTES)).toString('utf8') + decipher.final('utf8');
      } catch {
        return null;
      }
    },
  };
}
