import { InvalidInput, MissingFormField } from '../../../src/domain/errors.ts';
import type { RequestBody } from '../../../src/domain/inference/request-validation.ts';
import type { Form } from '../../../src/domain/inference/form.ts';
import { isGatewayField } from '../../../src/domain/inference/gateway-fields.ts';
import { fieldsOf, readForm } from '../../../src/wire/multipart/form.ts';
import { isForm } from '../../../src/wire/multipart/headers.ts';
import type { HttpRequest } from './route.ts';

/** Whether the body of a request is a multipart form. */
export const isMultipart = ({ headers }: HttpRequest): boolean => isForm(headers['content-type']);

const URL_ENCODED = /^\s*application\/x-www-form-urlencoded\s*(;|$)/i;

/**
 * Reads the form of a request. `path` names the call in errors, `file` is the form field that contains the file. Throws
 * InvalidInput for another media type or a malformed form, and MissingFormField for a URL-encoded form, which cannot
 * contain a file.
 */
export function parseForm(request: HttpRequest, path: string, file: string): Form {
  if (isMultipart(request)) return readForm(request.body, request.headers['content-type'] ?? '');
  if (URL_ENCODED.test(request.headers['content-type'] ?? '')) throw new MissingFormField(file);
  const message = `${path}: The request body must be multipart/form-data.`;
  throw new InvalidInput(message, [{ path: ['request_body'], rule: 'multipart', message }]);
}

/** Form fields for the gateway that are texts. */
const TEXT_FIELDS = new Set(['api_key', 'api_base', 'mock_response']);
/** Form fields for the gateway that are lists. A form may send one item without brackets. */
const LIST_FIELDS = new Set(['tags', 'fallbacks', 'guardrails']);

/**
 * A form as a JSON object. Fields for the provider stay texts, except `stream`. `metadata` and most fields for the
 * gateway are parsed as JSON.
 */
export function formFields(form: Form): RequestBody {
  return Object.fromEntries(Object.entries(fieldsOf(form)).map(([name, value]) => [name, parsedField(name, value)]));
}

/** Value of one form field. Text that is not valid JSON stays text. */
function parsedField(name: string, value: unknown): unknown {
  if (typeof value !== 'string') return value;
  const isFlag = name === 'stream' && (value === 'true' || value === 'false');
  if (isFlag) return value === 'true';
  const isJson = (name === 'metadata' || isGatewayField(name)) && !TEXT_FIELDS.has(name);
  if (!isJson) return value;
  const parsed = fromJson(value);
  return LIST_FIELDS.has(name) && !Array.isArray(parsed) ? [parsed] : parsed;
}

function fromJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
