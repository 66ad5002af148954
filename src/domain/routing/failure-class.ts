import { UpstreamFailed } from '../errors.ts';

/** Classes of upstream failures that a policy can count by, named as in `retry_policy`. */
export const FAILURE_CLASSES = [
  'BadRequestError',
  'AuthenticationError',
  'NotFoundError',
  'TimeoutError',
  'RateLimitError',
  'ContentPolicyViolationError',
  'InternalServerError',
  'BadGatewayError',
  'ServiceUnavailableError',
] as const;

export type FailureClass = (typeof FAILURE_CLASSES)[number];

/** A number by failure class; `Default` is for all others. */
export type CountsByClass = Readonly<Partial<Record<FailureClass | 'Default', number>>>;

const CLASSES: Readonly<Record<number, FailureClass>> = {
  400: 'BadRequestError',
  401: 'AuthenticationError',
  404: 'NotFoundError',
  408: 'TimeoutError',
  429: 'RateLimitError',
  502: 'BadGatewayError',
  503: 'ServiceUnavailableError',
  504: 'TimeoutError',
};

/** Vendors' codes and messages for refused content. */
const REFUSED_CONTENT =
  /content[_ ]policy|content[_ ]filter|content management policy|responsible ?ai|safety (system|setting)/i;

/** Whether a model refused because of the content of the conversation. */
export function isRefusedContent(failure: unknown): boolean {
  if (!(failure instanceof UpstreamFailed) || failure.upstreamStatus !== 400) return false;
  return REFUSED_CONTENT.test(failure.upstreamCode ?? '') || REFUSED_CONTENT.test(failure.message);
}

/** Class of a failure; null for one without a class, such as 403, and for a failure that is not the upstream's. */
export function classOfFailure(failure: unknown): FailureClass | null {
  if (!(failure instanceof UpstreamFailed)) return null;
  const { upstreamStatus: status, timedOut } = failure;
  if (timedOut) return 'TimeoutError';
  if (isRefusedContent(failure)) return 'ContentPolicyViolationError';
  if (status === null) return 'InternalServerError';
  return CLASSES[status] ?? (status >= 500 ? 'InternalServerError' : null);
}

/** The number that a policy has for a failure; null where it has none. */
export function countFor(counts: CountsByClass, failure: unknown): number | null {
  if (!(failure instanceof UpstreamFailed)) return null;
  const failureClass = classOfFailure(failure);
  return (failureClass === null ? undefined : counts[failureClass]) ?? counts.Default ?? null;
}
