/** Permission for one call of a judge. The caller reports the end of this call by one of the methods, once. */
interface JudgePass {
  succeeded(): void;
  timedOut(): void;
  /** The judge failed in another way, or the caller disconnected. The circuit does not open. */
  ended(): void;
}

export interface CircuitBreaker {
  /** Null while the circuit is open. After the cooldown, one call at a time may probe the judge. */
  enter(): JudgePass | null;
}

/** Refuses calls of a judge for `cooldownMs` after a timeout. Null: refuses none. `nowMs` is a monotonic clock. */
export function createCircuitBreaker(cooldownMs: number | null, nowMs: () => number): CircuitBreaker {
  /** Time from which a probe may run, in ms; null while the circuit is closed. */
  let probeFromMs: number | null = null;
  let isProbing = false;
  return {
    enter() {
      if (probeFromMs !== null && (isProbing || nowMs() < probeFromMs)) return null;
      const isProbe = probeFromMs !== null;
      isProbing = isProbe;
      return {
        succeeded() {
          probeFromMs = null;
          isProbing = false;
        },
        timedOut() {
          if (cooldownMs !== null) probeFromMs = nowMs() + cooldownMs;
          isProbing = false;
        },
        ended() {
          if (isProbe) isProbing = false;
        },
      };
    },
  };
}
