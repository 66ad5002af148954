import { Forbidden } from '../errors.ts';

/**
 * Refusal of a request about a key that its caller may not make. Management routes answer it differently from other
 * refusals.
 */
export const keyOwnerRefusal = (message: string): Forbidden => new Forbidden(message, 'key_owner');
