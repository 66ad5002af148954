import { createHash } from 'node:crypto';
import type { HttpAnswer } from './http/route.ts';

const STYLE = `
body { font: 16px/1.5 system-ui, sans-serif; max-width: 22rem; margin: 6rem auto; padding: 0 1rem; color: #1c2430; }
label { display: block; margin: 1rem 0 .2rem; }
input { font: inherit; width: 100%; box-sizing: border-box; padding: .4rem .6rem; }
button { font: inherit; margin-top: 1.2rem; padding: .4rem .8rem; }
`;

const HEADERS: Readonly<Record<string, string>> = {
  'cache-control': 'no-store',
  'content-security-policy': [
    "default-src 'none'",
    `style-src 'sha256-${createHash('sha256').update(STYLE).digest('base64')}'`,
    "form-action 'self'",
    "base-uri 'none'",
    "frame-ancestors 'none'",
  ].join('; '),
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
};

const PAGE = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Sign in to Lensgate</title>
<style>${STYLE}</style>
</head>
<body>
<h1>Sign in</h1>
<form action="/login" method="post">
<label for="username">User name, id or email</label>
<input id="username" name="username" autocomplete="username" required>
<label for="password">Password or key</label>
<input id="password" name="password" type="password" autocomplete="current-password" required>
<button type="submit">Sign in</button>
</form>
</body>
</html>
`;

/** The form for name and password. It has no script and loads nothing. */
export const signInPage = (): HttpAnswer => ({
  headers: HEADERS,
  body: { kind: 'bytes', bytes: Buffer.from(PAGE), contentType: 'text/html; charset=utf-8' },
});
