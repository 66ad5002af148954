import { InvalidInput, Unauthenticated } from '../errors.ts';

/** Error codes of RFC 6749, RFC 7591 and RFC 8707. */
export type OauthFault =
  | 'access_denied'
  | 'invalid_client_metadata'
  | 'invalid_grant'
  | 'invalid_redirect_uri'
  | 'invalid_request'
  | 'invalid_target'
  | 'unsupported_grant_type'
  | 'unsupported_response_type';

/** A refused request of an OAuth client. */
export class OauthFailure extends InvalidInput {
  readonly fault: OauthFault;
  constructor(fault: OauthFault, message: string) {
    super(message);
    this.name = 'OauthFailure';
    this.fault = fault;
  }
}

/** The client id is unknown, its registration has expired, or it is not the client of the token. */
export class UnknownLoginClient extends Unauthenticated {
  constructor() {
    super('The client is unknown, or its registration has expired. Register it again.', 'unknown');
    this.name = 'UnknownLoginClient';
  }
}
