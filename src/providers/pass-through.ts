import { afterFirstChunk } from '../domain/first-chunk.ts';
import type { Deployment, Provider } from '../domain/chat/provider.ts';
import type { HttpClient } from '../domain/http.ts';
import type { PassBody, PassThrough } from '../domain/upstream-objects/pass-through.ts';
import { withEditedLines } from '../wire/batches/lines.ts';
import { errorOf } from '../wire/chat-completions/answer.ts';
import { unparsedExchange } from '../wire/exchange.ts';
import { withMembers } from '../wire/json/members.ts';
import { contentTypeOf, listName, withParts } from '../wire/multipart/form.ts';
import { sendCall, withUpstreamFailures } from './upstream-answer.ts';

/** URL of a call, with its credential headers. */
export interface CallTarget {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
}

/**
 * Creates the function that forwards calls about stored objects, in the format of the vendor. `storageTarget` gets the
 * headers of the caller that select the version of the API.
 */
export function createPassThrough(
  http: HttpClient,
  storageTarget: (
    deployment: Deployment,
    path: PassThrough['path'],
    sent: NonNullable<PassThrough['headers']>,
  ) => CallTarget,
): NonNullable<Provider['pass']> {
  return async (deployment, { action, path, body, owner, headers: sent = {} }, signal) => {
    const { url, headers } = storageTarget(deployment, path, sent);
    const { contentType, pieces } = await encodedBody(body);
    signal.throwIfAborted();
    const call = {
      method: action.method,
      url,
      headers: contentType === null ? headers : { ...headers, 'content-type': contentType },
      body: pieces,
    };
    const answer = await sendCall(http, deployment, call, { signal, errorOf, owner });
    const bytes = await afterFirstChunk(withUpstreamFailures(deployment, answer.body));
    return unparsedExchange({ status: answer.status, headers: answer.headers }, bytes, undefined);
  };
}

/** Body in pieces to send in order, with its content type. Large parts are not copied. */
async function encodedBody(
  body: PassBody,
): Promise<{ readonly contentType: string | null; readonly pieces: readonly Uint8Array[] }> {
  switch (body.kind) {
    case 'none':
      return { contentType: null, pieces: [] };
    case 'json':
      return { contentType: 'application/json', pieces: [withMembers(body.bytes, body.set)] };
    case 'form': {
      const { form, without, set = {}, rename, count, edit, linesRead } = body;
      const file = form.parts.find(({ name, filename }) => name === 'file' && filename !== null);
      const renamedLines =
        rename === undefined || file === undefined ? null : await withEditedLines(form, file, { rename, count, edit });
      await linesRead?.();
      const removed = new Set(without);
      const names = new Set(form.parts.map(({ name }) => name));
      const added = Object.entries(set).filter(([name]) => !names.has(name));
      const pieces = withParts(
        form,
        (part) => {
          if (part === file && renamedLines !== null) return renamedLines;
          if (Object.hasOwn(set, part.name)) return set[part.name];
          return removed.has(listName(part.name)) ? null : undefined;
        },
        Object.fromEntries(added),
      );
      return { contentType: contentTypeOf(form), pieces };
    }
  }
}
