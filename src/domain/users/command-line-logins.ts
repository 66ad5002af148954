import type { Clock, Ids } from '../clock.ts';
import { Forbidden, InvalidInput, LimitExceeded } from '../errors.ts';
import type { KeyGenerator } from '../keys/virtual-key.ts';

/** Lifetime of a login that is not completed or not collected, in seconds. */
export const LOGIN_SECONDS = 600;
/** Most open logins of this process. */
const MOST_LOGINS = 10_000;
/** Wrong codes after which a login ends. */
const MOST_WRONG_CODES = 5;
/** Characters of a code. None looks like another. */
const ALPHABET = 'ABCDEFGHJKLMNPQRSTUVWXYZ23456789';
const CODE_LENGTH = 8;

/** A login that has begun. The command line keeps the secret, and shows the code to the person. */
export interface StartedLogin {
  readonly loginId: string;
  readonly pollSecret: string;
  readonly userCode: string;
}

interface Login<Signed> {
  readonly secretHash: string;
  readonly codeHash: string;
  readonly untilMs: number;
  wrongCodes: number;
  signed: Signed | null;
}

/** Logins of command lines, in the memory of this process. `Signed` is who signed in. */
export interface CommandLineLogins<Signed> {
  /** Throws LimitExceeded when too many are open. */
  start(): StartedLogin;
  /** Throws InvalidInput when no such login is open. */
  assertOpen(loginId: string): void;
  /** Records who signed in. Throws InvalidInput for a wrong code, and for a login that is not open or was completed. */
  complete(loginId: string, userCode: string, signed: Signed): void;
  /** The signed-in person; null before the sign-in. Throws InvalidInput, and Forbidden for a wrong secret. */
  read(loginId: string, pollSecret: string): Signed | null;
  /** Ends a login. Returns whether it was open: only one caller collects it. */
  take(loginId: string): boolean;
}

export function createCommandLineLogins<Signed>(options: {
  readonly generator: Pick<KeyGenerator, 'hash' | 'token'>;
  readonly ids: Pick<Ids, 'uuid'>;
  readonly clock: Pick<Clock, 'monotonicMs'>;
}): CommandLineLogins<Signed> {
  const { generator, ids, clock } = options;
  // In the order of their end.
  const logins = new Map<string, Login<Signed>>();

  function evictEnded(): void {
    const nowMs = clock.monotonicMs();
    for (const [id, { untilMs }] of logins) {
      if (untilMs > nowMs) return;
      logins.delete(id);
    }
  }

  function open(loginId: string): Login<Signed> {
    evictEnded();
    const login = logins.get(loginId);
    if (login === undefined) throw new InvalidInput('The login is unknown or has expired. Start it again.');
    return login;
  }

  /** A code of 40 bits from the hash of a random text. */
  function newCode(): string {
    const random = Buffer.from(generator.hash(generator.token()), 'hex');
    const letters = [...random.subarray(0, CODE_LENGTH)].map((byte) => ALPHABET[byte % ALPHABET.length] ?? '');
    return `${letters.slice(0, CODE_LENGTH / 2).join('')}-${letters.slice(CODE_LENGTH / 2).join('')}`;
  }

  return {
    start() {
      evictEnded();
      if (logins.size >= MOST_LOGINS)
        throw new LimitExceeded('Too many logins are open. Try again later.', 'requests', 60);
      const started = { loginId: `cli-${ids.uuid()}`, pollSecret: generator.token(), userCode: newCode() };
      logins.set(started.loginId, {
        secretHash: generator.hash(started.pollSecret),
        codeHash: generator.hash(plainCode(started.userCode)),
        untilMs: clock.monotonicMs() + LOGIN_SECONDS * 1000,
        wrongCodes: 0,
        signed: null,
      });
      return started;
    },
    assertOpen(loginId) {
      open(loginId);
    },
    complete(loginId, userCode, signed) {
      const login = open(loginId);
      if (login.signed !== null) throw new InvalidInput('The login was completed already.');
      if (generator.hash(plainCode(userCode)) !== login.codeHash) {
        login.wrongCodes += 1;
        if (login.wrongCodes >= MOST_WRONG_CODES) logins.delete(loginId);
        throw new InvalidInput('The verification code is not the one that the command line shows.');
      }
      login.signed = signed;
    },
    read(loginId, pollSecret) {
      const login = open(loginId);
      if (generator.hash(pollSecret) !== login.secretHash) throw new Forbidden('The poll secret is wrong.');
      return login.signed;
    },
    take: (loginId) => logins.delete(loginId),
  };
}

/** A code as it is compared: without case, spaces and hyphens. */
const plainCode = (code: string): string => code.toUpperCase().replaceAll(/[\s-]/g, '');
