/**
 * Settles as `work` does or, when the work has not settled after `milliseconds`, as `onTimeout` does. `onTimeout`
 * returns a value or throws. The work itself is not cancelled; its later result is ignored.
 */
export async function withDeadline<Result, Late = never>(
  work: Promise<Result>,
  milliseconds: number,
  onTimeout: () => Late | Promise<Late>,
): Promise<Result | Late> {
  const late = Promise.withResolvers<void>();
  const timer = setTimeout(late.resolve, milliseconds);
  try {
    return await Promise.race([work, late.promise.then(onTimeout)]);
  } finally {
    clearTimeout(timer);
  }
}
