import { LimitExceeded, Unauthenticated } from '../errors.ts';
import type { SignInFailureCounts } from './failed-sign-ins.ts';

/** A sign-in with a wrong name or password. The message does not tell which of them is wrong. */
export class SignInRefused extends Unauthenticated {
  constructor() {
    super("Invalid credentials: check the user name and the password, which is the user's key.", 'unknown');
    this.name = 'SignInRefused';
  }
}

/** Too many failed sign-ins; also a correct one is refused now. */
export class SignInThrottled extends LimitExceeded {
  constructor(seconds: number) {
    super(`Too many failed sign-in attempts. Try again in ${seconds} seconds.`, 'requests', seconds);
    this.name = 'SignInThrottled';
  }
}

/** Limits of failed sign-ins. */
export interface SignInLimits {
  /** Failures of one source in a window; half as many for one name from one source. 0 sets no limit. */
  readonly perSource: number;
  /** The limit of a source that has a separate one; null for others. */
  readonly limitOf: (source: string) => number | null;
  readonly windowSeconds: number;
  readonly blockSeconds: number;
  /** Whether failures of a source are counted for all its names together: true where trusted proxies are configured. */
  readonly countsSources: boolean;
}

/**
 * Counts failed sign-ins, by source and by name within a source. Each call throws Unavailable while the counts cannot
 * be read.
 */
export interface SignInThrottle {
  /** Throws SignInThrottled while the source, or the name from it, is blocked. */
  admit(attempt: Attempt): Promise<void>;
  failed(attempt: Attempt): Promise<void>;
  /** A success clears the failures of the name from its source. */
  succeeded(attempt: Attempt): Promise<void>;
}

interface Attempt {
  /** Client network. */
  readonly source: string;
  readonly name: string;
}

const MS_PER_SECOND = 1_000;
/** Maximum length of a counted name, in characters; longer ones are cut. */
const MAX_NAME_CHARACTERS = 256;

/** Time in which a count can matter: the longer of a window and a block. */
export const retentionSecondsOf = ({
  windowSeconds,
  blockSeconds,
}: Pick<SignInLimits, 'windowSeconds' | 'blockSeconds'>): number => Math.max(windowSeconds, blockSeconds);

const sourceOf = ({ source }: Attempt): string => `source\n${source}`;
const pairOf = ({ source, name }: Attempt): string =>
  `name\n${source}\n${name.slice(0, MAX_NAME_CHARACTERS).toLowerCase()}`;

export function createSignInThrottle(limits: SignInLimits, counts: SignInFailureCounts): SignInThrottle {
  const { perSource, windowSeconds, blockSeconds, countsSources } = limits;
  const limitFor = ({ source }: Attempt): number => (perSource === 0 ? 0 : (limits.limitOf(source) ?? perSource));

  async function assertOpen(subject: string): Promise<void> {
    const leftMs = ((await counts.find(subject))?.blockedUntilMs ?? 0) - counts.nowMs();
    if (leftMs > 0) throw new SignInThrottled(Math.ceil(leftMs / MS_PER_SECOND));
  }

  /** A block begins when the failures exceed the limit. */
  const countFailure = (subject: string, most: number): Promise<void> =>
    counts.change(subject, (count) => {
      const nowMs = counts.nowMs();
      const isRunning = count !== null && nowMs - count.sinceMs < windowSeconds * MS_PER_SECOND;
      const before = isRunning ? count : { sinceMs: nowMs, failures: 0, blockedUntilMs: 0 };
      const failures = before.failures + 1;
      const blockedUntilMs = failures > most ? nowMs + blockSeconds * MS_PER_SECOND : before.blockedUntilMs;
      return { sinceMs: before.sinceMs, failures, blockedUntilMs };
    });

  return {
    async admit(attempt) {
      if (limitFor(attempt) === 0) return;
      await assertOpen(pairOf(attempt));
      if (countsSources) await assertOpen(sourceOf(attempt));
    },
    async failed(attempt) {
      const most = limitFor(attempt);
      if (most === 0) return;
      await countFailure(pairOf(attempt), Math.max(1, Math.floor(most / 2)));
      if (countsSources) await countFailure(sourceOf(attempt), most);
    },
    succeeded: (attempt) => (limitFor(attempt) === 0 ? Promise.resolve() : counts.remove(pairOf(attempt))),
  };
}

/** User name, and password or key. */
export interface SignIn {
  readonly username: string;
  readonly password: string;
}
