import { Forbidden } from '../errors.ts';

/** Refusal to give or change more of a key than its caller may. Management routes have a separate answer for it. */
export const keyOwnerRefusal = (message: string): Forbidden => new Forbidden(message, 'key_owner');
