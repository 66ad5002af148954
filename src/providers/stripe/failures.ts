import { type DomainError, Unavailable, UpstreamFailed } from '../../domain/errors.ts';

/** When asking Stripe again makes sense. */
const RETRY_SECONDS = 5;
/** An identifier, as Stripe's codes and parameter names are; anything else it sends is not repeated. */
const IDENTIFIER = /^[\w.[\]-]{1,80}$/;

/**
 * What the SDK threw, in our words. Stripe's own text stays out, and the error too: both may quote what was sent, and
 * a key is among that. Codes and the request id lead an operator to the rest.
 */
export function stripeFailure(error: unknown): DomainError {
  const told = (name: string): string | null => {
    const value: unknown =
      typeof error === 'object' && error !== null && name in error ? Reflect.get(error, name) : null;
    return typeof value === 'string' && IDENTIFIER.test(value) ? value : null;
  };
  const sent: unknown = typeof error === 'object' && error !== null ? Reflect.get(error, 'statusCode') : null;
  const status = typeof sent === 'number' ? sent : null;
  const [type, code, param, requestId] = ['type', 'code', 'param', 'requestId'].map(told);
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
