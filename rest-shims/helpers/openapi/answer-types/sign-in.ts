import type { AnswerTypes } from './notation.ts';

/** Answers of route rows about the sign-in. */
export const SIGN_IN_ANSWERS: AnswerTypes = {
  'commandLineAuthorization.endpoints': `
    { contract_version: integer, issuer: string, authorization_endpoint: string, token_endpoint: string,
    registration_endpoint: string, revocation_endpoint: string, resource: string, response_types_supported: string[],
    grant_types_supported: string[], code_challenge_methods_supported: string[],
    token_endpoint_auth_methods_supported: string[], revocation_endpoint_auth_methods_supported: string[] }
  `,
  'commandLineAuthorization.register': `
    { client_id: string, client_id_issued_at: integer, client_name: string, redirect_uris: string[],
    grant_types: string[], response_types: string[], token_endpoint_auth_method: string }
  `,
  'commandLineAuthorization.page': {
    'text/html': 'string',
  },
  'commandLineAuthorization.form': {
    'text/html': 'string',
  },
  'commandLineAuthorization.token': `
    { access_token: string, token_type: string, expires_in: integer, refresh_token: string, user_id: string,
    team_id: string | null }
  `,
  'commandLineAuthorization.revoke': '{}',
  'commandLineAuthorization.introspect': `
    { active: boolean, token_type?: string, sub?: string, team_id?: string | null, client_name?: string, iat?: integer,
      exp?: integer }`,
  'signIn.code': '{ code: string, expires_in: integer }',
  'signIn.exchange': '{ token: string, redirect_url: string }',
  'signIn.end': '{ message: string }',
  'signIn.cliComplete': {
    'text/html': 'string',
  },
  'signIn.cliPoll': `
    { status: string, user_id?: string, teams?: string[], team_details?: { team_id: string, team_alias: string | null }[],
    requires_team_selection?: boolean, key?: string, team_id?: string | null }
  `,
  'signIn.cliStart': '{ login_id: string, poll_secret: string, user_code: string, expires_in: integer }',
  'signIn.form': {
    'text/plain': 'string',
  },
  'signIn.json': '{ redirect_url: string, token: string }',
  'signIn.page': {
    'text/html': 'string',
  },
};
