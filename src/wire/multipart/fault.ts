import { InvalidInput } from '../../domain/errors.ts';

/** A form that cannot be read; `reason` completes "The form". */
export function unreadable(reason: string): InvalidInput {
  const message = `The request body is not a valid form: ${reason}.`;
  return new InvalidInput(message, [{ path: ['request_body'], rule: 'multipart', message }]);
}
