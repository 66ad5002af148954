/** Time in which work may end after its deadline, in ms. After it, the result of the work is ignored. */
const GRACE_MS = 5_000;

const MS_PER_SECOND = 1_000;

/** Work that did not end within its deadline. */
class DeadlineExceeded extends Error {
  override readonly name = 'DeadlineExceeded';
  constructor(deadlineMs: number, options?: ErrorOptions) {
    super(`Aborted after its deadline of ${deadlineMs / MS_PER_SECOND} seconds.`, options);
  }
}

/**
 * Runs work with a deadline in ms. The signal of the work is aborted at the deadline, and when `signal` is. Rejects
 * with DeadlineExceeded when the work fails after its deadline, or has not ended `GRACE_MS` after it.
 */
export async function runWithDeadline(
  work: (signal: AbortSignal) => void | Promise<void>,
  { deadlineMs, signal }: { readonly deadlineMs: number; readonly signal: AbortSignal },
): Promise<void> {
  const controller = new AbortController();
  const graceEnded = Promise.withResolvers<never>();
  let isPastDeadline = false;
  let timer = setTimeout(() => {
    isPastDeadline = true;
    controller.abort(new DeadlineExceeded(deadlineMs));
    timer = setTimeout(() => graceEnded.reject(new DeadlineExceeded(deadlineMs)), GRACE_MS).unref();
  }, deadlineMs).unref();
  const onAbort = (): void => controller.abort(signal.reason);
  if (signal.aborted) onAbort();
  signal.addEventListener('abort', onAbort);
  try {
    await Promise.race([work(controller.signal), graceEnded.promise]);
  } catch (cause) {
    throw isPastDeadline && !(cause instanceof DeadlineExceeded) ? new DeadlineExceeded(deadlineMs, { cause }) : cause;
  } finally {
    clearTimeout(timer);
    signal.removeEventListener('abort', onAbort);
  }
}
