/** Watches a stream for idle time. */
export interface Heartbeat {
  /** Called for every chunk of the stream. */
  recordActivity(): void;
  stop(): void;
}

/** A comment line of an event stream, which readers ignore. */
export const COMMENT_LINE = Buffer.from(': heartbeat\n\n');

/**
 * Calls `beat` after `ms` without a chunk, with a delay of at most half of `ms`, because proxies close idle
 * connections. The check runs each half interval, so that a chunk sets one flag only.
 */
export function startHeartbeat(ms: number, beat: () => void): Heartbeat {
  let idleHalves = 0;
  const timer = setInterval(() => {
    idleHalves += 1;
    if (idleHalves < 2) return;
    idleHalves = 0;
    beat();
  }, ms / 2).unref();
  return {
    recordActivity() {
      idleHalves = 0;
    },
    stop: () => clearInterval(timer),
  };
}
