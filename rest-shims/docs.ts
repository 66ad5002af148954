import { escapeHtml } from './http/html.ts';
import type { HttpAnswer, RouteRow } from './http/route.ts';

/** The page people open first: every path this process serves, made from the rows themselves. */
export function docsRoutes(documented: readonly RouteRow[]): readonly RouteRow[] {
  const page: HttpAnswer = {
    headers: { 'cache-control': 'no-cache' },
    body: { kind: 'bytes', bytes: Buffer.from(renderPage(documented)), contentType: 'text/html; charset=utf-8' },
  };
  return [
    {
      name: 'docs.page',
      method: 'GET',
      paths: ['/docs', '/'],
      surface: 'catalog',
      category: null,
      credential: 'none',
      answers: [200],
      bodyLimit: 0,
      handle: () => page,
    },
  ];
}

function renderPage(rows: readonly RouteRow[]): string {
  const lines = rows.map(
    ({ method, paths, answers, credential }) =>
      `<tr><td>${method}</td><td>${paths.map((path) => `<code>${escapeHtml(path)}</code>`).join('<br>')}</td>` +
      `<td>${credential === 'required' ? 'key' : 'open'}</td><td>${answers.join(', ')}</td></tr>`,
  );
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Lensgate</title>
<style>
body { font: 16px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem; color: #1c2430; }
table { border-collapse: collapse; width: 100%; }
th, td { text-align: left; vertical-align: top; padding: .4rem .6rem; border-bottom: 1px solid #d9dee7; }
code, pre { font: 14px/1.5 ui-monospace, monospace; background: #f3f5f9; }
pre { padding: .8rem; overflow-x: auto; }
</style>
</head>
<body>
<h1>Lensgate</h1>
<p>One typed graph over the model catalog, the gateway calls and their traces:
<a href="/graphql">open GraphiQL</a>. The HTTP paths below serve the same operations.
Send a key as <code>Authorization: Bearer sk-...</code>.</p>
<pre>curl http://127.0.0.1:4000/v1/chat/completions -H "Authorization: Bearer $KEY" -H "Content-Type: application/json" \\
  -d '{"model":"demo","messages":[{"role":"user","content":"Hello"}]}'</pre>
<table>
<thead><tr><th>Method</th><th>Path</th><th>Credential</th><th>Answers</th></tr></thead>
<tbody>
${lines.join('\n')}
</tbody>
</table>
</body>
</html>
`;
}
