import type { Clock } from '../clock.ts';
import { LimitExceeded, Unauthenticated } from '../errors.ts';

/** A sign-in with a wrong name or password. Its text is the same for an unknown name and a wrong password. */
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
  /** The limit of a source that has one of its own; null for others. */
  readonly limitOf: (source: string) => number | null;
  readonly windowSeconds: number;
  readonly blockSeconds: number;
  /** Whether sources are counted: the proxies in front of the server are known. */
  readonly countsSources: boolean;
}

/** Counts failed sign-ins of this process, by source and by name within a source. */
export interface SignInThrottle {
  /** Throws SignInThrottled while the source, or the name from it, is blocked. */
  admit(attempt: Attempt): void;
  failed(attempt: Attempt): void;
  /** A success clears the failures of the name from its source. */
  succeeded(attempt: Attempt): void;
}

interface Attempt {
  /** Client network. */
  readonly source: string;
  readonly name: string;
}

interface Count {
  sinceMs: number;
  failures: number;
  blockedUntilMs: number;
}

const MS = 1_000;
/** Most counted names and sources each; the least recently counted is evicted. */
const MOST = 10_000;
/** Characters of a name by which it is counted. */
const MOST_CHARACTERS = 256;

export function createSignInThrottle(limits: SignInLimits, clock: Clock): SignInThrottle {
  const { perSource, windowSeconds, blockSeconds, countsSources } = limits;
  const mostOf = ({ source }: Attempt): number => (perSource === 0 ? 0 : (limits.limitOf(source) ?? perSource));
  const pairs = new Map<string, Count>();
  const sources = new Map<string, Count>();
  const pairOf = ({ source, name }: Attempt): string => `${source}\n${name.slice(0, MOST_CHARACTERS).toLowerCase()}`;

  function assertOpen(count: Count | undefined): void {
    const leftMs = (count?.blockedUntilMs ?? 0) - clock.monotonicMs();
    if (leftMs > 0) throw new SignInThrottled(Math.ceil(leftMs / MS));
  }

  /** A block begins when the failures exceed the limit. */
  function note(counts: Map<string, Count>, of: string, most: number): void {
    const nowMs = clock.monotonicMs();
    const known = counts.get(of);
    const isRunning = known !== undefined && nowMs - known.sinceMs < windowSeconds * MS;
    const count = isRunning ? known : { sinceMs: nowMs, failures: 0, blockedUntilMs: 0 };
    count.failures += 1;
    if (count.failures > most) count.blockedUntilMs = nowMs + blockSeconds * MS;
    counts.delete(of);
    counts.set(of, count);
    const [oldest] = counts.keys();
    if (counts.size > MOST && oldest !== undefined) counts.delete(oldest);
  }

  return {
    admit(attempt) {
      if (mostOf(attempt) === 0) return;
      assertOpen(pairs.get(pairOf(attempt)));
      if (countsSources) assertOpen(sources.get(attempt.source));
    },
    failed(attempt) {
      const most = mostOf(attempt);
      if (most === 0) return;
      note(pairs, pairOf(attempt), Math.max(1, Math.floor(most / 2)));
      if (countsSources) note(sources, attempt.source, most);
    },
    succeeded: (attempt) => void pairs.delete(pairOf(attempt)),
  };
}
