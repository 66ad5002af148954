/** One-line descriptions of route rows about the login of command lines with PKCE. */
export const SIGN_IN_DESCRIPTIONS: Readonly<Record<string, string>> = {
  'commandLineAuthorization.endpoints': 'Read the endpoints of the login with PKCE.',
  'commandLineAuthorization.form': 'Sign in for a client, or refuse: the form of the page. Redirects to the client.',
  'commandLineAuthorization.introspect': 'Check whether a key or refresh token of a login is valid (RFC 7662).',
  'commandLineAuthorization.page': 'Form for the sign-in of a client with PKCE.',
  'commandLineAuthorization.register': 'Register a public client with loopback redirect URIs.',
  'commandLineAuthorization.revoke': 'Revoke a refresh token or a key: ends the session with its keys.',
  'commandLineAuthorization.token': 'Exchange an authorization code or a refresh token for a key.',
};
