import { begun } from '../domain/first-chunk.ts';
import type { Deployment, Provider } from '../domain/chat/provider.ts';
import type { HttpClient } from '../domain/http.ts';
import type { PassBody, PassThrough } from '../domain/upstream-objects/pass-through.ts';
import { withModels } from '../wire/batches/lines.ts';
import { errorOf } from '../wire/chat-completions/answer.ts';
import { unparsedExchange } from '../wire/exchange.ts';
import { withMembers } from '../wire/json/members.ts';
import { contentTypeOf, listName, withParts } from '../wire/multipart/form.ts';
import { accepted, inKnownWords } from './upstream-answer.ts';

/** Where a call goes, and what it is let in by. */
export interface Address {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
}

/** Hands on calls about things that an upstream keeps, in OpenAI's form; `where` says where it keeps them. */
export function passOver(
  http: HttpClient,
  where: (deployment: Deployment, path: PassThrough['path']) => Address,
): NonNullable<Provider['pass']> {
  return async (deployment, { action, path, body, owner }, signal) => {
    const { url, headers } = where(deployment, path);
    const { contentType, pieces } = await carried(body);
    signal.throwIfAborted();
    const call = {
      method: action.method,
      url,
      headers: contentType === null ? headers : { ...headers, 'content-type': contentType },
      body: pieces,
    };
    const answer = await accepted(http, deployment, call, { signal, errorOf, owner });
    const bytes = await begun(inKnownWords(deployment, answer.body));
    return unparsedExchange({ status: answer.status, headers: answer.headers }, bytes, undefined);
  };
}

/** A body as it is sent, large parts of it not copied. */
async function carried(
  body: PassBody,
): Promise<{ readonly contentType: string | null; readonly pieces: readonly Uint8Array[] }> {
  switch (body.kind) {
    case 'none':
      return { contentType: null, pieces: [] };
    case 'json':
      return { contentType: 'application/json', pieces: [withMembers(body.bytes, body.set)] };
    case 'form': {
      const { form, without, rename } = body;
      const file = form.parts.find(({ name, filename }) => name === 'file' && filename !== null);
      const lines = rename === undefined || file === undefined ? null : await withModels(form, file, rename);
      const left = new Set(without);
      const pieces = withParts(form, (part) => {
        if (part === file && lines !== null) return lines;
        return left.has(listName(part.name)) ? null : undefined;
      });
      return { contentType: contentTypeOf(form), pieces };
    }
  }
}
