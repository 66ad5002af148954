import { pino } from 'pino';

/** What the house writes to its log: an event, and facts about it. Never headers, bodies or keys. */
export interface Log {
  debug(facts: object, event: string): void;
  info(facts: object, event: string): void;
  warn(facts: object, event: string): void;
  error(facts: object, event: string): void;
}

export const LOG_LEVELS = ['debug', 'info', 'warn', 'error', 'silent'] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

/** JSON lines on standard error, so that standard output stays for people. */
export function createLog(level: LogLevel): Log {
  return pino(
    { level, base: null, timestamp: pino.stdTimeFunctions.isoTime, serializers: { err: factsOf } },
    pino.destination(2),
  );
}

/** Lines of one kind that are written within a window, and how long it is. */
const SAMPLE = 20;
const WINDOW_MS = 1_000;

/**
 * Warns of what callers can cause at any rate: of each kind some lines a second, then how many were left out. The
 * kinds must be few.
 */
export function createSampledWarnings(
  log: Pick<Log, 'warn'>,
  { sample = SAMPLE, windowMs = WINDOW_MS } = {},
): (kind: string, facts: () => object, event: string) => void {
  const counts = new Map<string, number>();
  return (kind, facts, event) => {
    const count = (counts.get(kind) ?? 0) + 1;
    counts.set(kind, count);
    if (count <= sample) log.warn(facts(), event);
    if (count > 1) return;
    setTimeout(() => {
      const leftOut = (counts.get(kind) ?? 0) - sample;
      counts.delete(kind);
      if (leftOut > 0) log.warn({ kind, leftOut }, `${event}, more often than is told`);
    }, windowMs).unref();
  };
}

/** Warnings that are counted before they are written. */
export interface CountedWarnings {
  /** Of each kind that is told within a window one line is written at its end: the first one's facts, and how many. */
  warn(kind: string, facts: object, event: string): void;
  /** Writes what waits for the end of its window. */
  flush(): void;
}

/** Warns of what happens to many at the same moment, and is one thing to whoever reads the log. */
export function createCountedWarnings(log: Pick<Log, 'warn'>, { windowMs = WINDOW_MS } = {}): CountedWarnings {
  const waiting = new Map<string, { readonly facts: object; readonly event: string; count: number }>();
  let timer: NodeJS.Timeout | null = null;
  function flush(): void {
    if (timer !== null) clearTimeout(timer);
    timer = null;
    for (const { facts, event, count } of waiting.values()) log.warn({ ...facts, count }, event);
    waiting.clear();
  }
  return {
    warn(kind, facts, event) {
      const told = waiting.get(kind) ?? { facts, event, count: 0 };
      told.count += 1;
      waiting.set(kind, told);
      timer ??= setTimeout(flush, windowMs).unref();
    },
    flush,
  };
}

/** Causes of causes that are still told. */
const MOST_CAUSES = 4;

/** What the log may say of a failure. What it carries beside can be a caller's: a parse error quotes its request. */
export function factsOf(error: unknown, causes = MOST_CAUSES): unknown {
  if (!(error instanceof Error)) return { type: typeof error };
  const { name, message, stack, cause } = error;
  const code = 'code' in error && typeof error.code === 'string' ? { code: error.code } : {};
  const origin = cause instanceof Error && causes > 0 ? { cause: factsOf(cause, causes - 1) } : {};
  return { type: name, message, stack, ...code, ...origin };
}
