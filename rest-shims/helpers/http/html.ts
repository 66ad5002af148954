import { createHash } from 'node:crypto';
import type { HttpAnswer } from './route.ts';

/**
 * Headers of a page that allow its one style sheet and no scripts, caches, referrers or external content. Forms may be
 * sent to this server, and redirected to `formTarget`, a source of the security policy.
 */
export const pageHeaders = (style: string, formTarget?: string): Readonly<Record<string, string>> => ({
  'cache-control': 'no-store',
  'content-security-policy': [
    "default-src 'none'",
    `style-src 'sha256-${createHash('sha256').update(style).digest('base64')}'`,
    formTarget === undefined ? "form-action 'self'" : `form-action 'self' ${formTarget}`,
    "base-uri 'none'",
    "frame-ancestors 'none'",
  ].join('; '),
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
});

/** Escapes text for HTML content and for quoted attributes. */
export const escapeHtml = (text: string): string =>
  text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);

/** An HTML page with one style sheet. `title`, `head` and `content` are HTML: the caller escapes texts in them. */
export const htmlDocument = ({
  title,
  style,
  head = '',
  content,
}: {
  readonly title: string;
  readonly style: string;
  readonly head?: string;
  readonly content: string;
}): string => `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
${head}<title>${title}</title>
<style>${style}</style>
</head>
<body>
${content}
</body>
</html>
`;

export const htmlAnswer = (headers: Readonly<Record<string, string>>, html: string): HttpAnswer => ({
  headers,
  body: { kind: 'bytes', bytes: Buffer.from(html), contentType: 'text/html; charset=utf-8' },
});
