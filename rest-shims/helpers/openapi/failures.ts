import type { Surface } from '../../errors.ts';
import type { FailureForm } from '../http/failure-form.ts';
import type { RouteFacts } from '../http/route.ts';
import type { JsonSchema } from '../http/schema.ts';
import { schemaFrom } from '../http/type-notation.ts';

/** Components of the OpenAPI document for bodies of failures, in the notation of `http/type-notation.ts`. */
const NOTATIONS = {
  Error: '{ error: { message: string, type: string | null, param: string | null, code: string | integer | null } }',
  Issue: '{ type: string, loc: (string | integer)[], msg: string, input?: unknown, ctx?: object }',
  Detail: '{ detail: string | object | Issue[] }',
  Problem: '{ type: string, title: string, status: integer, detail: string }',
  AnthropicError: "{ type: 'error', error: { type: string, message: string }, request_id?: string | null }",
  GeminiError: '{ error: { code: integer, message: string, status: string, details?: unknown[] } }',
  OtlpError: '{ code?: integer, message: string }',
  RpcError: "{ jsonrpc: '2.0', id: string | integer | null, error: { code: integer, message: string } }",
  SessionError: '{ error: string, details: string }',
  OauthError: '{ error: string, error_description: string }',
} as const;

type FailureName = keyof typeof NOTATIONS;

const DESCRIPTIONS: Readonly<Record<FailureName, string>> = {
  Error: 'A failure in the envelope of OpenAI.',
  Issue: 'A validation error of a request, with its location.',
  Detail: 'A failure as `detail`: a text, an object with `error`, or the validation errors of the request.',
  Problem: 'A problem document (RFC 9457).',
  AnthropicError: 'A failure in the envelope of Anthropic.',
  GeminiError: 'A failure in the envelope of Google.',
  OtlpError: 'A failure of an OTLP export, in the media type of the export.',
  RpcError: 'A failure as a JSON-RPC object.',
  SessionError: 'A session that the caller may not use, or one too many.',
  OauthError: 'A failure of an OAuth endpoint (RFC 6749).',
};

export const FAILURE_SCHEMAS: Readonly<Record<string, JsonSchema>> = Object.fromEntries(
  Object.entries(NOTATIONS).map(([name, notation]) => [
    name,
    { description: DESCRIPTIONS[name as FailureName], ...schemaFrom(notation) },
  ]),
);

const ENVELOPES: readonly FailureName[] = ['Error', 'Detail'];
const BY_SURFACE: Readonly<Record<Surface, readonly FailureName[]>> = {
  catalog: ['Detail', 'Error'],
  proxy: ENVELOPES,
  anthropic: ['AnthropicError'],
  gemini: ['GeminiError'],
  management: ENVELOPES,
  traces: ENVELOPES,
  otlp: ['OtlpError'],
  lens: ENVELOPES,
  a2a: [...ENVELOPES, 'RpcError'],
  mcp: ['Detail', 'RpcError', 'SessionError', 'Error'],
};

/** Further failures of a row with a form. */
function ofForm(body: FailureForm['body'] | undefined): readonly FailureName[] {
  if (body === 'problem') return ['Problem'];
  return body === 'oauth' ? ['OauthError'] : [];
}

/** Schema of the failures of a row: a reference to one component, or several. */
export function failureSchema({ surface, failureForm }: Pick<RouteFacts, 'surface' | 'failureForm'>): JsonSchema {
  const names = [...BY_SURFACE[surface], ...ofForm(failureForm?.body)];
  const refs = names.map((name) => ({ $ref: `#/components/schemas/${name}` }));
  const [only] = refs;
  return refs.length === 1 && only !== undefined ? only : { anyOf: refs };
}
