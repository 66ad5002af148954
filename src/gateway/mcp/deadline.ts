import { UpstreamFailed } from '../../domain/errors.ts';
import { untilAborted } from '../../domain/until-aborted.ts';
import { withDeadline } from '../../domain/with-deadline.ts';

interface Deadline {
  readonly signal: AbortSignal;
  readonly milliseconds: number;
  /** Name of the upstream in the error. */
  readonly what: string;
}

/**
 * Runs work whose signal aborts with `signal`, and after `milliseconds`. After the deadline, throws UpstreamFailed with
 * `timedOut`, even if the work ignores its signal.
 */
export async function withinDeadline<Result>(
  { signal, milliseconds, what }: Deadline,
  work: (signal: AbortSignal) => Promise<Result>,
): Promise<Result> {
  signal.throwIfAborted();
  const late = new AbortController();
  const running = work(AbortSignal.any([signal, late.signal]));
  return await withDeadline(untilAborted(running, signal), milliseconds, () => {
    const failure = new UpstreamFailed(`${what} did not answer within ${milliseconds / 1_000} s.`, {
      provider: 'mcp',
      upstreamStatus: null,
      timedOut: true,
    });
    late.abort(failure);
    throw failure;
  });
}
