import type { VirtualKey } from '../keys/virtual-key.ts';
import { type CallLabels, callLabels, END_USER } from './call-labels.ts';

/** A request with the customer of the key's signed token as its end user. The request cannot name another one. */
export function withTokenCustomer<Request extends { readonly labels?: CallLabels }>(
  key: VirtualKey | null,
  request: Request,
): Request {
  const endUser = key?.token?.endUserId ?? null;
  if (endUser === null) return request;
  // Truncates the id in the same way as an end user that a request names.
  const labels = callLabels({ session: null, endUser, tags: [], metadata: {} });
  return { ...request, labels: { ...request.labels, [END_USER]: labels?.[END_USER] ?? endUser } };
}
