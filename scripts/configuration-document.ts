// npm run docs:configuration
//
// Writes docs/configuration.md and docs/config.schema.json from the table of settings.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { defaultOf } from '../src/runtime/settings/command-line.ts';
import { configSchema } from '../src/runtime/settings/config-schema.ts';
import type { Setting, SettingGroup } from '../src/runtime/settings/setting.ts';
import { SETTING_GROUPS } from '../src/runtime/settings/table.ts';

const INTRODUCTION = `# Configuration

Generated from \`src/runtime/settings/table.ts\` by \`npm run docs:configuration\`. \`npm start -- --help\` prints the same settings.

A command-line argument wins over its environment variable, and a variable over the file. For \`tracing.store\` the file wins over the
variables. An empty variable counts as not set. Where a row has several variables, the first one that is set wins.

\`\`\`yaml
model_list:
  - model_name: gpt-4o # name that callers use
    litellm_params:
      model: openai/gpt-4o # provider, and its name of the model
      api_base: https://api.openai.com/v1
      api_key: os.environ/OPENAI_API_KEY # replaced by the variable
      timeout: 600 # seconds to the first byte of the answer
      input_cost_per_token: 0.0000025 # optional; replaces the price of the catalog
general_settings:
  master_key: os.environ/LITELLM_MASTER_KEY
\`\`\`

[providers.md](providers.md) lists providers, their addresses and the variables of their keys. A model without \`api_base\` or \`api_key\` uses
the address or variable of that list.

\`credential_list\` has accounts that several models share. A model with \`litellm_params.litellm_credential_name\` takes the parameters that it
lacks from the \`credential_values\` of the entry with this \`credential_name\`. Such an entry is used before a stored credential of the same name.

\`environment_variables\` sets variables of the process. They replace existing ones, and \`os.environ/NAME\` reads them. \`PATH\`, \`HOME\`,
\`NO_PROXY\`, \`NODE_OPTIONS\` and the like are ignored with a warning.

\`/config/update\` stores variables in the database, encrypted. References of models and guardrails read them in every process, unless the file or
the process has a variable of the same name. Settings that a start needs come only from the file or the process.

\`include: [models.yaml]\` adds further files, relative to the folder of the main file. Lists of an included file are appended. Its other sections
replace those of the main file.

## Editors, and changes while running

[config.schema.json](config.schema.json) is a JSON Schema of the file. A running process serves it at \`/config.schema.json\`. The comment
\`# yaml-language-server: $schema=http://127.0.0.1:4000/config.schema.json\` in the first line lets an editor complete and check names and values.

The file is read again on SIGHUP, and when it or an included file changes (\`config_watch_seconds\`). These parts apply without a restart:

- models, \`credential_list\`, pass-through endpoints, guardrails, allowed addresses
- MCP servers, agents, vector stores
- the settings of [Retries, cooldowns and fallbacks](#retries-cooldowns-and-fallbacks) and of
  [Users and teams, prices and budgets, public pages](#users-and-teams-prices-and-budgets-public-pages)
- \`drop_params\`, \`enforce_user_param\`, \`enforced_params\` and \`service_account_settings.enforced_params\`
- \`maximum_spend_logs_retention_period\`, \`maximum_health_check_retention_period\`
- \`disable_custom_api_keys\`, \`disable_key_generate_for_org_admin\`, \`strict_config\`

Other changed settings are named in the log and take effect at the next start.

A faulty file is refused as a whole, and the running configuration stays in force. The log and the field \`configReload\` of the graph have the
reason. \`/health/readiness/details\` then shows \`kept_running\`.

## Guardrails

\`\`\`yaml
guardrails:
  - guardrail_name: no-insults # name that keys, teams and requests use; several may share one
    litellm_params:
      guardrail: litellm_content_filter # kind
      mode: pre_call # or a list: pre_call, during_call, post_call, logging_only
      default_on: true # runs on every call, whether it is named or not
      blocked_words: [{ keyword: idiot, action: BLOCK }]
    guardrail_info: { description: blocks insults } # text for the list of guardrails
\`\`\`

Guardrails of the file run in the order of the file, before stored guardrails. Kinds: \`litellm_content_filter\`, \`hide-secrets\`,
\`openai_moderation\`, \`generic_guardrail_api\`, \`decision_model\`, \`tool_policy\`, \`presidio\`. Another kind causes a warning with file and line, as does a mode in
which the kind does not run. With \`strict_config\` both end the start. A guardrail that refers to an unset variable always ends the start.

## MCP servers

\`\`\`yaml
mcp_servers:
  docs: # name; tools get the alias, else the name, as their prefix
    url: https://mcp.example.com/mcp
    transport: http # or sse; stdio with a command, args and env
    auth_type: bearer_token # none, api_key, bearer_token, basic, authorization, token, oauth2, true_passthrough, oauth_delegate
    auth_value: os.environ/DOCS_TOKEN
    allow_all_keys: true # else keys need a grant in their object_permission
    access_groups: [research]
\`\`\`

Names and aliases are unique without regard to case, and contain no hyphen. Servers of the file cannot be changed at run time. A server with an
invalid value, or with a reference to an unset variable, ends the start. A \`stdio\` server while \`LENSGATE_ENABLE_MCP_STDIO\` is off causes a
warning and is not offered. A server whose kind of authentication is not served causes a warning, and its calls fail. [mcp.md](mcp.md) has more.

## Agents

\`\`\`yaml
agents:
  - agent_name: weather # name in the path: /a2a/weather
    agent_card_params: # the card that clients get, with the address of the gateway
      name: weather
      description: Answers questions about the weather.
      url: https://agents.example.com/weather
      version: '1.0.0'
      protocolVersion: '1.0' # or 0.3.0
      capabilities: { streaming: true }
      defaultInputModes: [text]
      defaultOutputModes: [text]
      skills: []
    static_headers: { authorization: Bearer os.environ/WEATHER_TOKEN } # sent to the agent
    litellm_params: { cost_per_query: 0.01 }
    rpm_limit: 60 # messages a minute of all callers together
\`\`\`

Names are unique. Agents of the file cannot be changed at run time. An agent of another protocol than A2A, one without an address, and unknown
keys cause a warning. \`agent_list\` is another name of this section. [agents.md](agents.md) has more.

## Vector stores

\`\`\`yaml
vector_store_registry:
  - vector_store_name: handbook
    litellm_params:
      vector_store_id: vs_0123456789 # id at the provider; unique
      custom_llm_provider: openai # or custom_openai, openai_like, litellm_proxy with an api_base
      vector_store_description: Handbook of the company
      api_key: os.environ/OPENAI_API_KEY # else the account of the provider; or litellm_credential_name
\`\`\`

The stores exist at their provider; the start does not create them. Stores of the file cannot be changed at run time. A store of another
provider causes a warning, and its calls get 400. [vector-stores.md](vector-stores.md) has more.

## Search tools

\`\`\`yaml
search_tools:
  - search_tool_name: web # name in requests; entries with one name share its searches
    litellm_params:
      search_provider: tavily # or perplexity, exa_ai, brave, serper, searxng
      api_key: os.environ/TAVILY_KEY # else that of the environment
      timeout: 10 # seconds; 30 when absent
      input_cost_per_query: 0.008 # USD; else the price map
\`\`\`

Tools of the file cannot be changed at run time. A tool of another provider causes a warning, and its searches get 400.
[search.md](search.md) has more.

## Models that cannot be called

A model without a key, without an address or of an unknown provider does not stop the start. The log has a warning with file and line. The model is
listed as unhealthy at \`/health\`, and its calls get 503. The same applies to a model that refers to an unset variable.

## Wrong values and settings without effect

A wrong value ends the start with exit code 1. All wrong values are reported together, each with its variable, or file, line and
key. Secrets are never repeated.

Some sections and keys of the LiteLLM proxy have no effect in Lensgate, such as policies, cache, callbacks and some router settings. The start
logs one warning for each, with file and line. It also warns of unknown keys, and names the nearest known key. With \`strict_config: true\` at the
top level of the file each of these ends the start. A value that switches a feature off (\`false\`, empty) causes no warning. Unknown keys of
\`model_info\` are accepted as free data.
`;

const HEAD = ['Argument, variable', 'Key in the file', 'Default', 'Meaning'];

const code = (text: string): string => `\`${text}\``;

function cellsOf(row: Setting): readonly string[] {
  const names = [row.argument, ...(row.env ?? [])].filter((name) => name !== undefined);
  const form = row.kind.form === '' ? '' : ` Value: ${row.kind.form}.`;
  const since = row.since === undefined ? '' : ` Since ${row.since}.`;
  const reader = row.readBy === undefined ? '' : ` Read by ${row.readBy}.`;
  const isQuantity = /^\d/.test(defaultOf(row)) && row.unit !== undefined;
  return [
    names.map(code).join(', '),
    row.file === undefined ? '' : code(row.file),
    `${defaultOf(row)}${isQuantity ? ` ${row.unit}` : ''}`,
    `${row.description}${form}${reader}${since}`.replaceAll('|', '\\|'),
  ];
}

/** A table with padded columns, as the formatter writes it. */
function tableOf(rows: readonly (readonly string[])[]): string {
  const widths = HEAD.map((_, column) => Math.max(...[HEAD, ...rows].map((cells) => cells[column]?.length ?? 0)));
  const line = (cells: readonly string[]): string =>
    `| ${cells.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join(' | ')} |`;
  return [line(HEAD), `| ${widths.map((width) => '-'.repeat(width)).join(' | ')} |`, ...rows.map(line)].join('\n');
}

const sectionOf = ({ title, note, settings }: SettingGroup): string =>
  [`## ${title}`, ...(note === undefined ? [] : [note]), tableOf(Object.values(settings).map(cellsOf))].join('\n\n');

/** The text of docs/configuration.md. */
export const configurationDocument = (): string =>
  `${[INTRODUCTION.trimEnd(), ...SETTING_GROUPS.map(sectionOf)].join('\n\n')}\n`;

/** The text of docs/config.schema.json. */
export const schemaDocument = (): string => `${JSON.stringify(configSchema(), null, 2)}\n`;

if (import.meta.main) {
  const docs = join(import.meta.dirname, '..', 'docs');
  writeFileSync(join(docs, 'configuration.md'), configurationDocument());
  writeFileSync(join(docs, 'config.schema.json'), schemaDocument());
}
