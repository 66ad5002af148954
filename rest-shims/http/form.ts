import { InvalidInput } from '../../src/domain/errors.ts';
import type { RequestBody } from '../../src/domain/inference/askable.ts';
import type { Form } from '../../src/domain/inference/form.ts';
import { isGatewayField } from '../../src/domain/inference/gateway-fields.ts';
import { fieldsOf, readForm } from '../../src/wire/multipart/form.ts';
import { isForm } from '../../src/wire/multipart/headers.ts';
import type { HttpRequest } from './route.ts';

/** Whether a request brings a form that may hold files. */
export const bringsForm = ({ headers }: HttpRequest): boolean => isForm(headers['content-type']);

/** Reads the form of a request; `path` names the call in errors. Throws InvalidInput when it is none. */
export function formOf(request: HttpRequest, path: string): Form {
  if (bringsForm(request)) return readForm(request.body, request.headers['content-type'] ?? '');
  const message = `${path}: The request body must be multipart/form-data.`;
  throw new InvalidInput(message, [{ path: ['request_body'], rule: 'multipart', message }]);
}

/** Fields of the gateway's that are texts, and those that are lists, of which a form may hold one. */
const TEXTS = new Set(['api_key', 'api_base', 'mock_response']);
const LISTS = new Set(['tags', 'fallbacks', 'guardrails']);

/**
 * A form as the JSON it stands for. To a provider a field is text, but for `stream`; what speaks to the gateway is written in
 * JSON where it is no text.
 */
export function formFields(form: Form): RequestBody {
  return Object.fromEntries(Object.entries(fieldsOf(form)).map(([name, value]) => [name, meantBy(name, value)]));
}

function meantBy(name: string, value: unknown): unknown {
  if (typeof value !== 'string') return value;
  if (name === 'stream') return value === 'true' ? true : value === 'false' ? false : value;
  if ((name !== 'metadata' && !isGatewayField(name)) || TEXTS.has(name)) return value;
  const meant = fromJson(value);
  return LISTS.has(name) && !Array.isArray(meant) ? [meant] : meant;
}

function fromJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
