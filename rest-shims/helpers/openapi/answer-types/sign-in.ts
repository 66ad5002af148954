import type { AnswerTypes } from './notation.ts';

/** Answers of route rows about the sign-in. */
export const SIGN_IN_ANSWERS: AnswerTypes = {
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
