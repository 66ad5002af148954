import type { ModelRequest } from '../domain/chat/chat.ts';
import { upstreamRequest } from '../wire/chat-completions/request.ts';
import { contentTypeOf } from '../wire/multipart/form.ts';
import { upstreamForm } from '../wire/multipart/request.ts';

/** Encoded body with its content type. */
interface EncodedBody {
  readonly contentType: string;
  readonly body: Uint8Array | readonly Uint8Array[];
}

/** Body of a request about a medium, such as an image, in OpenAI's format. */
export function mediaRequest(request: ModelRequest, upstreamModel: string): EncodedBody {
  const { form } = request;
  if (form !== undefined) return { contentType: contentTypeOf(form), body: upstreamForm(form, upstreamModel) };
  // Only text streams support `stream_options`.
  const body = upstreamRequest(request, upstreamModel, { streamOptions: false });
  return { contentType: 'application/json', body };
}
