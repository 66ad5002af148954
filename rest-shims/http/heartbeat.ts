/** Tells when a stream has been silent for too long. */
export interface Heartbeat {
  /** The stream has just said something. */
  heard(): void;
  stop(): void;
}

/** A line that event streams have for this: it says nothing, and readers pass over it. */
export const COMMENT_LINE = Buffer.from(': heartbeat\n\n');

/**
 * Calls `beat` whenever nothing was heard for `ms`, give or take half of it: connections that are silent for longer are cut by
 * what lies between here and the client. Counting halves costs a busy stream nothing but a flag.
 */
export function startHeartbeat(ms: number, beat: () => void): Heartbeat {
  let silentHalves = 0;
  const timer = setInterval(() => {
    silentHalves += 1;
    if (silentHalves < 2) return;
    silentHalves = 0;
    beat();
  }, ms / 2).unref();
  return {
    heard() {
      silentHalves = 0;
    },
    stop: () => clearInterval(timer),
  };
}
