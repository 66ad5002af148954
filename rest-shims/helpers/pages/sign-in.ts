import { escapeHtml, pageHeaders, htmlAnswer, htmlDocument } from '../http/html.ts';
import type { HttpAnswer } from '../http/route.ts';

export const SIGN_IN_STYLE = `
body { font: 16px/1.5 system-ui, sans-serif; max-width: 22rem; margin: 6rem auto; padding: 0 1rem; color: #1c2430; }
label { display: block; margin: 1rem 0 .2rem; }
input { font: inherit; width: 100%; box-sizing: border-box; padding: .4rem .6rem; }
button { font: inherit; margin-top: 1.2rem; padding: .4rem .8rem; }
.notice { color: #a11d1d; }
`;

/** Headers of every sign-in page: no script, no cache, no external content. */
export const SIGN_IN_HEADERS = pageHeaders(SIGN_IN_STYLE);

/** An HTML document of the sign-in. `title` and `content` are HTML. */
export const documentOf = (title: string, content: string): string =>
  htmlDocument({ title, style: SIGN_IN_STYLE, content });

export const NAME_AND_PASSWORD = `<label for="username">User name, id or email</label>
<input id="username" name="username" autocomplete="username" required>
<label for="password">Password or key</label>
<input id="password" name="password" type="password" autocomplete="current-password" required>
<button type="submit">Sign in</button>`;

/** Relative address of the root from a path of the server, also below a path of a reverse proxy. */
const rootFrom = (path: string): string => '../'.repeat(path.split('/').length - 2);

const signInForm = (root: string, notice: string): string =>
  documentOf(
    'Sign in to Lensgate',
    `<h1>Sign in</h1>${notice}
<form action="${root}login" method="post">
${NAME_AND_PASSWORD}
</form>`,
  );

/** The form for a login of a command line. `loginId` must match `LOGIN_ID` (`fields/sign-in.ts`): it is not escaped. */
const loginForm = (root: string, loginId: string): string =>
  documentOf(
    'Sign in for the command line',
    `<h1>Sign in for the command line</h1>
<p>Continue only if you started this yourself, and if the code is the one that your terminal shows.</p>
<form action="${root}sso/cli/complete/${loginId}" method="post">
<label for="user_code">Verification code</label>
<input id="user_code" name="user_code" autocomplete="off" required>
${NAME_AND_PASSWORD}
</form>`,
  );

const COMPLETED = documentOf(
  'Signed in',
  `<h1>Signed in</h1>
<p>The command line continues by itself. You may close this page.</p>`,
);

const pageOf = (html: string): HttpAnswer => htmlAnswer(SIGN_IN_HEADERS, html);

/** The sign-in form at a path of the server, or with `loginId` the form of a command line login. */
export const signInPage = (path: string, loginId: string | null): HttpAnswer =>
  pageOf(loginId === null ? signInForm(rootFrom(path), '') : loginForm(rootFrom(path), loginId));

/** The page after a login of the command line. */
export const completedPage = (): HttpAnswer => pageOf(COMPLETED);

/** HTML of a page with the reason why a login of the command line failed. */
export const failedLoginPage = (reason: string): string =>
  documentOf('Not signed in', `<h1>Not signed in</h1>\n<p class="notice" role="alert">${escapeHtml(reason)}</p>`);

/** HTML of the sign-in form at `/login`, with the reason why a sign-in was refused. */
export const refusedPage = (reason: string): string =>
  signInForm('', `\n<p class="notice" role="alert">${escapeHtml(reason)}</p>`);
