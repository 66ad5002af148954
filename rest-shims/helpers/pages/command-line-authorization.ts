import type { AuthorizationStep } from '../../../resolvers/command-line-authorization.ts';
import { escapeHtml, htmlAnswer, pageHeaders } from '../http/html.ts';
import type { HttpAnswer } from '../http/route.ts';
import { documentOf, NAME_AND_PASSWORD, SIGN_IN_STYLE } from './sign-in.ts';

type Step<Kind extends AuthorizationStep['kind']> = Extract<AuthorizationStep, { readonly kind: Kind }>;

const IPV6 = 'http://[';

/**
 * Where the form may be redirected, as a source of the security policy. The policy has no notation for an IPv6 address:
 * its scheme is allowed instead.
 */
const formTarget = (redirectUri: string): string =>
  redirectUri.startsWith(IPV6) ? 'http:' : new URL(redirectUri).origin;

const hidden = (name: string, value: string): string =>
  `<input type="hidden" name="${name}" value="${escapeHtml(value)}">`;

const hiddenFields = (fields: Readonly<Record<string, string | null>>): string =>
  Object.entries(fields)
    .flatMap(([name, value]) => (value === null ? [] : [hidden(name, value)]))
    .join('\n');

const REFUSE = '<button type="submit" name="decision" value="refuse" formnovalidate>Cancel</button>';

const pageOf = (redirectUri: string, content: string): HttpAnswer =>
  htmlAnswer(
    pageHeaders(SIGN_IN_STYLE, formTarget(redirectUri)),
    documentOf('Sign in for the command line', `<h1>Sign in for the command line</h1>\n${content}`),
  );

/** The form for the sign-in of a person, which repeats the parameters of the request. */
export function authorizationPage({ request, clientName }: Step<'sign-in'>, csrfToken: string): HttpAnswer {
  const { responseType, clientId, redirectUri, codeChallenge, codeChallengeMethod, state, resource } = request;
  const fields = {
    csrf_token: csrfToken,
    response_type: responseType,
    client_id: clientId,
    redirect_uri: redirectUri,
    code_challenge: codeChallenge,
    code_challenge_method: codeChallengeMethod,
    state,
    resource,
  };
  return pageOf(
    redirectUri,
    `<p>The program <strong>${escapeHtml(clientName)}</strong> on this computer asks for a key with your rights.
Continue only if you have just started this yourself.</p>
<p>The key goes to ${escapeHtml(new URL(redirectUri).host)}.</p>
<form action="authorize" method="post">
${hiddenFields(fields)}
${NAME_AND_PASSWORD}
${REFUSE}
</form>`,
  );
}

/** The form for a person with several teams. */
export function teamPage({ ticket, teams, clientName, redirectUri }: Step<'team'>, csrfToken: string): HttpAnswer {
  const options = teams.map(
    ({ id, alias }) => `<option value="${escapeHtml(id)}">${escapeHtml(alias === '' ? id : (alias ?? id))}</option>`,
  );
  return pageOf(
    redirectUri,
    `<p>Select the team for which <strong>${escapeHtml(clientName)}</strong> gets a key.</p>
<form action="authorize" method="post">
${hiddenFields({ csrf_token: csrfToken, ticket })}
<label for="team_id">Team</label>
<select id="team_id" name="team_id" required>
${options.join('\n')}
</select>
<button type="submit">Continue</button>
</form>`,
  );
}
