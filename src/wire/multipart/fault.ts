import { InvalidInput } from '../../domain/errors.ts';

/** Error for an invalid form. `reason` completes "The request body is not a valid form". */
export function invalidForm(reason: string): InvalidInput {
  const message = `The request body is not a valid form: ${reason}.`;
  return new InvalidInput(message, [{ path: ['request_body'], rule: 'multipart', message }]);
}
