import { ICON_SVG } from '../../../src/domain/icon.ts';
import { htmlAnswer } from '../http/html.ts';
import type { HttpAnswer } from '../http/route.ts';

const ICON = `data:image/svg+xml,${encodeURIComponent(ICON_SVG).replaceAll("'", '%27')}`;

/** Scripts, styles and calls of this origin only. The form of the sign-in posts to this origin. */
const HEADERS = {
  'cache-control': 'no-cache',
  'content-security-policy': [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    'img-src data:',
    "connect-src 'self'",
    "form-action 'self'",
    "base-uri 'none'",
    "frame-ancestors 'none'",
  ].join('; '),
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
};

/** Addresses are relative, so that the page also works below a path of a reverse proxy. */
const PAGE = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<link rel="icon" href="${ICON}">
<link rel="stylesheet" href="ui/dashboard.css">
<script type="module" src="ui/dashboard.js"></script>
<title>Lensgate</title>
</head>
<body>
<div id="dashboard"></div>
<noscript>
<p>The dashboard needs JavaScript. Without it, <a href="fallback/login">sign in</a> and use the <a href="docs">HTTP paths</a>.</p>
</noscript>
</body>
</html>
`;

/** The page of the dashboard, before its script runs. */
export const dashboardPage = (): HttpAnswer => htmlAnswer(HEADERS, PAGE);
