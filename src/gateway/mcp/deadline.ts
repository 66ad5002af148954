import { UpstreamFailed } from '../../domain/errors.ts';

/**
 * Runs work with a signal that fires with `signal`, and after `milliseconds`. After the deadline, throws UpstreamFailed
 * with `timedOut`, even if the work ignores its signal.
 */
export async function withinDeadline<Result>(
  {
    signal,
    milliseconds,
    what,
  }: { readonly signal: AbortSignal; readonly milliseconds: number; readonly what: string },
  work: (signal: AbortSignal) => Promise<Result>,
): Promise<Result> {
  signal.throwIfAborted();
  const controller = new AbortController();
  const { promise: stopped, reject } = Promise.withResolvers<never>();
  const stop = (reason: unknown): void => {
    controller.abort(reason);
    reject(reason);
  };
  const onAbort = (): void => stop(signal.reason);
  const late = new UpstreamFailed(`${what} did not answer within ${milliseconds / 1_000} s.`, {
    provider: 'mcp',
    upstreamStatus: null,
    timedOut: true,
  });
  const timer = setTimeout(stop, milliseconds, late);
  signal.addEventListener('abort', onAbort, { once: true });
  try {
    return await Promise.race([work(controller.signal), stopped]);
  } finally {
    clearTimeout(timer);
    signal.removeEventListener('abort', onAbort);
  }
}
