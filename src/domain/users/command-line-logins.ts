import type { Clock, Ids } from '../clock.ts';
import { Forbidden, InvalidInput, LimitExceeded } from '../errors.ts';
import type { KeyGenerator } from '../keys/virtual-key.ts';
import type { PendingSignInStore } from './pending-sign-ins.ts';

/** Lifetime of a login, from its start until it is collected, in seconds. */
export const LOGIN_SECONDS = 600;
/** Maximum number of open logins. */
const MAX_LOGINS = 10_000;
/** Number of wrong codes after which a login ends. */
const MAX_WRONG_CODES = 5;
/** Maximum number of attempts of a change that conflicts with changes by other requests. */
const MAX_TRIES = 10;
/** Characters of a code. None looks like another. */
const ALPHABET = 'ABCDEFGHJKLMNPQRSTUVWXYZ23456789';
const CODE_LENGTH = 8;

/** Prefix of the ids of logins. Other pending sign-ins have other prefixes. */
const LOGIN_PREFIX = 'cli-';
const isLoginId = (id: string): boolean => id.startsWith(LOGIN_PREFIX);

/** A code as it is compared: without case, spaces and hyphens. */
const plainCode = (code: string): string => code.toUpperCase().replaceAll(/[\s-]/g, '');

/** A login that has begun. The command line keeps the secret, and shows the code to the person. */
export interface StartedLogin {
  readonly loginId: string;
  readonly pollSecret: string;
  readonly userCode: string;
}

interface Login<Signed> {
  readonly secretHash: string;
  readonly codeHash: string;
  readonly wrongCodes: number;
  readonly signed: Signed | null;
}

/**
 * Logins of command lines, which any process of the installation continues. `Signed` is who signed in, as plain JSON.
 */
export interface CommandLineLogins<Signed> {
  /** Throws LimitExceeded when too many are open. */
  start(): Promise<StartedLogin>;
  /** Throws InvalidInput when no such login is open. */
  assertOpen(loginId: string): Promise<void>;
  /** Records who signed in. Throws InvalidInput for a wrong code, and for a login that is not open or was completed. */
  complete(loginId: string, userCode: string, signed: Signed): Promise<void>;
  /** The signed-in person; null before the sign-in. Throws InvalidInput, and Forbidden for a wrong secret. */
  read(loginId: string, pollSecret: string): Promise<Signed | null>;
  /** Ends a login. Returns whether it was open: only one caller collects it. */
  take(loginId: string): Promise<boolean>;
}

const unknownLogin = (): InvalidInput => new InvalidInput('The login is unknown or has expired. Start it again.');

export function createCommandLineLogins<Signed>(options: {
  readonly generator: Pick<KeyGenerator, 'hash' | 'same' | 'token'>;
  readonly ids: Pick<Ids, 'uuid'>;
  readonly clock: Pick<Clock, 'now'>;
  readonly store: PendingSignInStore;
}): CommandLineLogins<Signed> {
  const { generator, ids, clock, store } = options;
  const nowMs = (): number => clock.now().getTime();

  async function readOpenLogin(loginId: string): Promise<{ readonly login: Login<Signed>; readonly revision: number }> {
    const found = isLoginId(loginId) ? await store.find(loginId, nowMs()) : null;
    if (found === null) throw unknownLogin();
    return { login: JSON.parse(found.content) as Login<Signed>, revision: found.revision };
  }

  /** A code of 40 bits from the hash of a random text. */
  function newCode(): string {
    const random = Buffer.from(generator.hash(generator.token()), 'hex');
    const letters = [...random.subarray(0, CODE_LENGTH)].map((byte) => ALPHABET[byte % ALPHABET.length] ?? '');
    return `${letters.slice(0, CODE_LENGTH / 2).join('')}-${letters.slice(CODE_LENGTH / 2).join('')}`;
  }

  /**
   * Counts a wrong code, or records who signed in. Returns null where another request has changed the login meanwhile.
   */
  async function tryComplete(loginId: string, userCode: string, signed: Signed): Promise<'done' | 'wrong' | null> {
    const { login, revision } = await readOpenLogin(loginId);
    if (login.signed !== null) throw new InvalidInput('The login was completed already.');
    const isRight = generator.same(generator.hash(plainCode(userCode)), login.codeHash);
    const wrongCodes = login.wrongCodes + (isRight ? 0 : 1);
    if (wrongCodes >= MAX_WRONG_CODES) {
      await store.take(loginId, nowMs());
      return 'wrong';
    }
    const changed: Login<Signed> = { ...login, wrongCodes, signed: isRight ? signed : null };
    if (!(await store.replace(loginId, revision, JSON.stringify(changed)))) return null;
    return isRight ? 'done' : 'wrong';
  }

  return {
    async start() {
      const started = { loginId: `${LOGIN_PREFIX}${ids.uuid()}`, pollSecret: generator.token(), userCode: newCode() };
      const login: Login<Signed> = {
        secretHash: generator.hash(started.pollSecret),
        codeHash: generator.hash(plainCode(started.userCode)),
        wrongCodes: 0,
        signed: null,
      };
      const now = nowMs();
      const pending = { id: started.loginId, kind: 'login', content: JSON.stringify(login) } as const;
      if (await store.add({ ...pending, untilMs: now + LOGIN_SECONDS * 1000 }, { nowMs: now, most: MAX_LOGINS }))
        return started;
      throw new LimitExceeded('Too many logins are open. Try again later.', 'requests', 60);
    },
    async assertOpen(loginId) {
      await readOpenLogin(loginId);
    },
    async complete(loginId, userCode, signed) {
      for (let tries = 0; tries < MAX_TRIES; tries += 1) {
        // oxlint-disable-next-line no-await-in-loop -- one try after another
        const result = await tryComplete(loginId, userCode, signed);
        if (result === 'done') return;
        if (result === 'wrong')
          throw new InvalidInput('The verification code is not the one that the command line shows.');
      }
      throw new InvalidInput('The login is changed by other requests. Try again.');
    },
    async read(loginId, pollSecret) {
      const { login } = await readOpenLogin(loginId);
      if (!generator.same(generator.hash(pollSecret), login.secretHash))
        throw new Forbidden('The poll secret is wrong.');
      return login.signed;
    },
    take: async (loginId) => isLoginId(loginId) && (await store.take(loginId, nowMs())) !== null,
  };
}
