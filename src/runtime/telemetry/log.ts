import { pino } from 'pino';

/** Log of events with their facts. Never contains headers, bodies or keys. */
export interface Log {
  debug(facts: object, event: string): void;
  info(facts: object, event: string): void;
  warn(facts: object, event: string): void;
  error(facts: object, event: string): void;
}

export const LOG_LEVELS = ['debug', 'info', 'warn', 'error', 'silent'] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

/** JSON lines on standard error; standard output is for interactive text. */
export function createLog(level: LogLevel): Log {
  return pino(
    { level, base: null, timestamp: pino.stdTimeFunctions.isoTime, serializers: { err: factsOf } },
    pino.destination(2),
  );
}

/** Maximum number of lines of one kind within a window. */
const SAMPLE = 20;
/** Length of a window, in ms. */
const WINDOW_MS = 1_000;

/**
 * Rate-limited warnings for events that callers can cause at any rate: at most `sample` lines per kind and window, then
 * the number of omitted lines. There must be few kinds.
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
      if (leftOut > 0) log.warn({ kind, leftOut }, `${event} (further warnings omitted)`);
    }, windowMs).unref();
  };
}

/** Warnings that are aggregated before they are written. */
export interface CountedWarnings {
  /** Writes one line per kind at the end of a window, with the facts of the first warning and the count. */
  warn(kind: string, facts: object, event: string): void;
  /** Writes the pending warnings. */
  flush(): void;
}

/** Warnings for events that affect many connections at the same time, aggregated to one line. */
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
      const entry = waiting.get(kind) ?? { facts, event, count: 0 };
      entry.count += 1;
      waiting.set(kind, entry);
      timer ??= setTimeout(flush, windowMs).unref();
    },
    flush,
  };
}

/** Maximum number of nested causes that are logged. */
const MAX_CAUSES = 4;

/**
 * The facts of a failure that may be logged. Other properties can contain caller data: a parse error quotes its
 * request.
 */
export function factsOf(error: unknown, causes = MAX_CAUSES): unknown {
  if (!(error instanceof Error)) return { type: typeof error };
  const { name, message, stack, cause } = error;
  const code = 'code' in error && typeof error.code === 'string' ? { code: error.code } : {};
  const origin = cause instanceof Error && causes > 0 ? { cause: factsOf(cause, causes - 1) } : {};
  return { type: name, message, stack, ...code, ...origin };
}
