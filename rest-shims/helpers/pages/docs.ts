import { DESCRIPTIONS } from '../openapi/descriptions.ts';
import { curlExample } from '../openapi/examples.ts';
import { escapeHtml } from '../http/html.ts';
import type { RouteRow } from '../http/route.ts';
import type { JsonSchema } from '../http/schema.ts';

/** Query parameters, headers and body members of a row, with their types. An asterisk marks required ones. */
function renderMembers({ querySchema, headerSchema, bodySchema }: RouteRow): string {
  const parts = [
    ['Query', querySchema],
    ['Headers', headerSchema],
    ['Body', bodySchema],
  ] as const;
  return parts
    .flatMap(([title, schema]) => {
      const members = membersOf(schema);
      return members.length === 0 ? [] : [`<details><summary>${title}</summary>${members.join('<br>')}</details>`];
    })
    .join('');
}

function membersOf(schema: JsonSchema = {}): readonly string[] {
  const required = new Set((schema['required'] ?? []) as readonly string[]);
  return Object.entries((schema['properties'] ?? {}) as Readonly<Record<string, JsonSchema>>).map(
    ([name, member]) =>
      `<code>${escapeHtml(name)}</code>${required.has(name) ? '*' : ''} ${escapeHtml(typeText(member))}`,
  );
}

/** A short text for a type. */
function typeText({ type, enum: choices, const: fixed, items, anyOf }: JsonSchema): string {
  if (fixed !== undefined) return JSON.stringify(fixed);
  if (Array.isArray(choices)) return choices.map((choice) => String(choice)).join(' | ');
  if (Array.isArray(anyOf)) return anyOf.map((one) => typeText(one as JsonSchema)).join(' | ');
  const names = [type].flat().filter((name) => typeof name === 'string');
  const texts = names.map((name) =>
    name === 'array' && items !== undefined ? `${typeText(items as JsonSchema)}[]` : name,
  );
  return texts.length === 0 ? 'any' : texts.join(' | ');
}

/** The page of all rows, with an example of each for a server at `origin`. */
export function docsPage(rows: readonly RouteRow[], origin: string): string {
  const lines = rows.map((row) => {
    const { name, method, paths, statuses, credential } = row;
    return (
      `<tr><td>${method}</td><td>${paths.map((path) => `<code>${escapeHtml(path)}</code>`).join('<br>')}</td>` +
      `<td>${escapeHtml(DESCRIPTIONS[name] ?? '')}${renderMembers(row)}` +
      `<br><code>${escapeHtml(curlExample(row, origin))}</code></td>` +
      `<td>${credential === 'required' ? 'key' : 'open'}</td><td>${statuses.join(', ')}</td></tr>`
    );
  });
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Lensgate</title>
<style>
body { font: 16px/1.5 system-ui, sans-serif; max-width: 76rem; margin: 2rem auto; padding: 0 1rem; color: #1c2430; }
table { border-collapse: collapse; width: 100%; }
th, td { text-align: left; vertical-align: top; padding: .4rem .6rem; border-bottom: 1px solid #d9dee7; }
code, pre { font: 14px/1.5 ui-monospace, monospace; background: #f3f5f9; }
td code { overflow-wrap: anywhere; }
td:nth-child(2) { min-width: 18rem; }
pre { padding: .8rem; overflow-x: auto; }
</style>
</head>
<body>
<h1>Lensgate</h1>
<p>One typed graph over the model catalog, the gateway calls and their traces:
<a href="graphql">open GraphiQL</a>. The HTTP paths below serve the same operations;
<a href="openapi.json">openapi.json</a> describes them for programs, <a href="config.schema.json">config.schema.json</a> the configuration file.
Send a key as <code>Authorization: Bearer sk-...</code>.</p>
<pre>curl ${origin}/v1/chat/completions -H "Authorization: Bearer $KEY" -H "Content-Type: application/json" \\
  -d '{"model":"demo","messages":[{"role":"user","content":"Hello"}]}'</pre>
<table>
<thead><tr><th>Method</th><th>Path</th><th>Description and example</th><th>Credential</th><th>Answers</th></tr></thead>
<tbody>
${lines.join('\n')}
</tbody>
</table>
</body>
</html>
`;
}
