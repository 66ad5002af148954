import type { Secret } from '../secret.ts';

/** Access tokens of a cloud whose calls are not authenticated by key. */
export interface CloudTokens {
  /**
   * An access token that stays valid for a while, and its cloud project where the credentials name one. When
   * `credentials` is null, the credentials of the machine are used. Throws CloudRefused.
   */
  for(credentials: Secret | null): Promise<{ readonly token: Secret; readonly project: string | null }>;
}

/** Malformed credentials, or credentials that the cloud refused. The message does not contain them. */
export class CloudRefused extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'CloudRefused';
  }
}
