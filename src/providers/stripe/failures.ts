import { type DomainError, Unavailable, UpstreamFailed } from '../../domain/errors.ts';

/** Seconds before a retry. */
const RETRY_SECONDS = 5;
/** Form of Stripe's codes, parameter names and request ids. Other values are not copied into messages. */
const IDENTIFIER = /^[\w.[\]-]{1,80}$/;

/**
 * Domain error for an error of the Stripe SDK. Contains neither Stripe's message nor the error as cause: both may quote
 * the request with its key. Codes and request id lead an operator to the details at Stripe.
 */
export function stripeFailure(error: unknown): DomainError {
  const identifierIn = (name: string): string | null => {
    const value: unknown =
      typeof error === 'object' && error !== null && name in error ? Reflect.get(error, name) : null;
    return typeof value === 'string' && IDENTIFIER.test(value) ? value : null;
  };
  const statusCode: unknown = typeof error === 'object' && error !== null ? Reflect.get(error, 'statusCode') : null;
  const status = typeof statusCode === 'number' ? statusCode : null;
  const [type, code, param, requestId] = ['type', 'code', 'param', 'requestId'].map(identifierIn);
  const facts = [status === null ? type : String(status), code, param, requestId].filter(Boolean).join(', ');
  if (status === null || status === 429 || status >= 500)
    return new Unavailable(`Stripe does not answer at the moment (${facts}).`, RETRY_SECONDS);
  return new UpstreamFailed(`Stripe refused the request (${facts}).`, {
    provider: 'stripe',
    upstreamStatus: status,
    upstreamType: type ?? null,
    upstreamCode: code ?? null,
    upstreamParam: param ?? null,
  });
}
