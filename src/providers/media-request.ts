import type { ModelRequest } from '../domain/chat/chat.ts';
import { upstreamRequest } from '../wire/chat-completions/request.ts';
import { contentTypeOf } from '../wire/multipart/form.ts';
import { upstreamForm } from '../wire/multipart/request.ts';

/** A body as it is sent, and what it is. */
interface Sent {
  readonly contentType: string;
  readonly body: Uint8Array | readonly Uint8Array[];
}

/** A call for pictures or of a recording in the form that OpenAI gave it; null for any other. */
export function mediaRequest(request: ModelRequest, upstreamModel: string): Sent | null {
  const { endpoint, form } = request;
  if (endpoint.medium === undefined) return null;
  if (form !== undefined) return { contentType: contentTypeOf(form), body: upstreamForm(form, upstreamModel) };
  // Only streams of words have options of their own.
  const body = upstreamRequest(request, upstreamModel, { streamOptions: false });
  return { contentType: 'application/json', body };
}
