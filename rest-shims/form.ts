import { InvalidInput } from '../src/domain/errors.ts';
import type { Form } from '../src/domain/inference/form.ts';
import { readForm } from '../src/wire/multipart/form.ts';
import { isForm } from '../src/wire/multipart/headers.ts';
import type { HttpRequest } from './route.ts';

/** Whether a request brings a form that may hold files. */
export const bringsForm = ({ headers }: HttpRequest): boolean => isForm(headers['content-type']);

/** Reads the form of a request; `path` names the call in errors. Throws InvalidInput when it is none. */
export function formOf(request: HttpRequest, path: string): Form {
  if (bringsForm(request)) return readForm(request.body, request.headers['content-type'] ?? '');
  const message = `${path}: The request body must be multipart/form-data.`;
  throw new InvalidInput(message, [{ path: ['request_body'], rule: 'multipart', message }]);
}
