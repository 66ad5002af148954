import type { Secret } from '../secret.ts';

/** Proves to a cloud who calls, where a key does not. */
export interface CloudTokens {
  /**
   * An access token that holds for a while yet, and the project it belongs to where the credentials name one. Null stands
   * for the credentials of the machine. Throws CloudRefused.
   */
  for(credentials: Secret | null): Promise<{ readonly token: Secret; readonly project: string | null }>;
}

/** No token: credentials that cannot be read, or that the cloud does not take. Tells nothing of them. */
export class CloudRefused extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'CloudRefused';
  }
}
