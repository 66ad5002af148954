import type { CallLabels } from '../calls/call-labels.ts';
import type { HttpMethod } from '../http.ts';
import type { Forwarded } from './forwarded.ts';

/** A request as it was sent, for a path whose calls are forwarded. */
export interface SentRequest extends Pick<Forwarded, 'callId' | 'parent' | 'fields' | 'body' | 'form'> {
  readonly method: HttpMethod;
  /** Path and query as they were sent. */
  readonly path: string;
  readonly search: string;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  readonly labels?: CallLabels;
  readonly userAgent?: string;
}

/** Members that a forwarded request copies from the request of the client. */
export const factsOf = ({ method, body, fields, callId, parent, labels, userAgent, form }: SentRequest) => ({
  method,
  body,
  fields,
  callId,
  parent,
  ...(labels === undefined ? {} : { labels }),
  ...(userAgent === undefined ? {} : { userAgent }),
  ...(form === undefined ? {} : { form }),
});

/** The model that the fields of a request name; null for none. */
export const modelOf = ({ fields: { model } }: Pick<SentRequest, 'fields'>): string | null =>
  typeof model === 'string' && model !== '' ? model : null;
