import { Unavailable } from '../errors.ts';

/** No cache of answers is configured. */
export class CacheMissing extends Unavailable {
  constructor() {
    super('Cache not initialized. No cache of answers is configured.', null);
    this.name = 'CacheMissing';
  }
}
