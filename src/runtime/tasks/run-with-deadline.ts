/** Time in which aborted work may end, in ms. After it, the result of the work is ignored. */
const GRACE_MS = 5_000;

const MS_PER_SECOND = 1_000;

/** Work that did not end within its deadline. */
class DeadlineExceeded extends Error {
  override readonly name = 'Overrun';
  constructor(deadlineMs: number, options?: ErrorOptions) {
    super(`Aborted after its deadline of ${deadlineMs / MS_PER_SECOND} seconds.`, options);
  }
}

/**
 * Runs work with a deadline in ms. At the deadline the signal of the work is aborted, as it is when `signal` is. Rejects
 * with Overrun when the work fails after its deadline, or has not ended 5 seconds after it.
 */
export async function runWithDeadline(
  work: (signal: AbortSignal) => void | Promise<void>,
  { deadlineMs, signal }: { readonly deadlineMs: number; readonly signal: AbortSignal },
): Promise<void> {
  const own = new AbortController();
  const left = Promise.withResolvers<never>();
  let isLate = false;
  let timer = setTimeout(() => {
    isLate = true;
    own.abort(new DeadlineExceeded(deadlineMs));
    timer = setTimeout(() => left.reject(new DeadlineExceeded(deadlineMs)), GRACE_MS).unref();
  }, deadlineMs).unref();
  const stop = (): void => own.abort(signal.reason);
  if (signal.aborted) stop();
  signal.addEventListener('abort', stop);
  try {
    await Promise.race([work(own.signal), left.promise]);
  } catch (cause) {
    throw isLate && !(cause instanceof DeadlineExceeded) ? new DeadlineExceeded(deadlineMs, { cause }) : cause;
  } finally {
    clearTimeout(timer);
    signal.removeEventListener('abort', stop);
  }
}
