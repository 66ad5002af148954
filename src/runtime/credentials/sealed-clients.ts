import type { Clock } from '../../domain/clock.ts';
import {
  CLIENT_SECONDS,
  type LoginClient,
  type LoginClients,
} from '../../domain/command-line-sessions/login-client.ts';
import { cipherFor, type Secrets } from './encryption.ts';

/** Prefix of client ids, as in the reference. */
const PREFIX = 'llm_dcrc_';
/** Longest client id that is read, in characters. The longest registration is shorter. */
const MAX_ID_LENGTH = 4_096;
const PURPOSE = 'login clients';

interface Sealed extends LoginClient {
  /** Unix ms. */
  readonly issuedAtMs: number;
}

const idOf = (sealed: Buffer): string => `${PREFIX}${sealed.toString('base64url')}`;

/** Client ids that contain the encrypted registration, so that a client cannot change it. */
export function createSealedClients(secrets: Secrets, clock: Pick<Clock, 'now'>): LoginClients {
  const cipher = cipherFor(secrets, PURPOSE);
  return {
    issue({ name, redirectUris }) {
      const issuedAt = clock.now();
      const sealed: Sealed = { name, redirectUris, issuedAtMs: issuedAt.getTime() };
      const bytes = cipher.seal(Buffer.from(JSON.stringify(sealed)), PURPOSE);
      return { id: idOf(bytes), issuedAt };
    },
    find(id) {
      if (!id.startsWith(PREFIX) || id.length > MAX_ID_LENGTH) return null;
      const sealedBytes = Buffer.from(id.slice(PREFIX.length), 'base64url');
      // The decoder ignores some characters. A client must have one id only, because its requests are counted by it.
      if (id !== idOf(sealedBytes)) return null;
      const bytes = cipher.open(sealedBytes, PURPOSE);
      if (bytes === null) return null;
      const { name, redirectUris, issuedAtMs } = JSON.parse(bytes.toString('utf8')) as Sealed;
      return issuedAtMs + CLIENT_SECONDS * 1_000 > clock.now().getTime() ? { name, redirectUris } : null;
    },
  };
}
