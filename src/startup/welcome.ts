import { join } from 'node:path';
import type { Settings } from '../runtime/settings/settings.ts';

/** A path as one word of a shell, quoted when necessary. */
const shellWord = (path: string): string =>
  /^[\w@%+=:,./-]+$/.test(path) ? path : `'${path.replaceAll("'", "'\\''")}'`;

/** Message of a successful start: addresses, source of the admin key, and three example calls. */
export function welcome(url: string, settings: Settings): string {
  const keyFile = join(settings.dataDir, 'admin-key');
  const isInFile = settings.masterKeySource === 'generated' || settings.masterKeySource === 'data folder';
  const key = isInFile ? `$(cat ${shellWord(keyFile)})` : '$LITELLM_MASTER_KEY';
  const keySource = {
    generated: `${settings.masterKey.reveal()}   (generated now, stored in ${keyFile})`,
    'data folder': `kept in ${keyFile}`,
    environment: 'taken from LITELLM_MASTER_KEY',
    'config file': 'taken from general_settings.master_key; set LITELLM_MASTER_KEY to it for the calls below',
  }[settings.masterKeySource];
  const calls = [
    '# the prices and capabilities of a model, no key needed',
    `curl -s ${url}/model_catalog/gpt-4o`,
    '',
    '# a chat with the built-in demo model',
    `curl -s ${url}/v1/chat/completions -H "Authorization: Bearer ${key}" -H "Content-Type: application/json" \\`,
    `  -d '{"model":"demo","messages":[{"role":"user","content":"Hello"}]}'`,
    '',
    '# the trace of that call, from the graph',
    `curl -s ${url}/graphql -H "Authorization: Bearer ${key}" -H "Content-Type: application/json" \\`,
    `  -d '{"query":"{ traces(first: 5) { nodes { traceId name status durationMs llmCalls } } }"}'`,
  ];
  return `
Lensgate is ready at ${url}

  Dashboard  ${url}/ui
  GraphiQL   ${url}/graphql
  Docs       ${url}/docs
  Admin key  ${keySource}

Try:

${calls.map((line) => (line === '' ? '' : `  ${line}`)).join('\n')}

`;
}
