/** Permission to ask a judge. Its result is reported once. */
interface JudgePass {
  succeeded(): void;
  /** The judge did not answer in time. */
  timedOut(): void;
  /** The judge failed in another way, or the caller left: not a reason to open the circuit. */
  ended(): void;
}

export interface CircuitBreaker {
  /** Null while the circuit is open. After the cooldown, one call probes the judge. */
  enter(): JudgePass | null;
}

/** Stops calls of a judge for `cooldownMs` after a timeout. With null, it never stops them. */
export function createCircuitBreaker(cooldownMs: number | null, nowMs: () => number): CircuitBreaker {
  /** Time from which a probe may run, in ms; null while the circuit is closed. */
  let opensAtMs: number | null = null;
  let isProbing = false;
  return {
    enter() {
      const isProbe = opensAtMs !== null;
      if (isProbe && (isProbing || nowMs() < (opensAtMs ?? 0))) return null;
      isProbing = isProbe;
      const reopen = (): void => {
        if (cooldownMs !== null) opensAtMs = nowMs() + cooldownMs;
        isProbing = false;
      };
      return {
        succeeded() {
          opensAtMs = null;
          isProbing = false;
        },
        timedOut: reopen,
        ended() {
          if (isProbe) isProbing = false;
        },
      };
    },
  };
}
