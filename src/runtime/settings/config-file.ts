import { isJsonObject, type JsonObject } from '../../domain/json-object.ts';
import { type ConfigDocument, readConfigDocument } from './config-document.ts';
import type { Path } from './config-references.ts';
import type { Setting } from './setting.ts';
import { SETTINGS } from './table.ts';

const ROWS: readonly Setting[] = Object.values(SETTINGS);

/** Sections of models and of other entries, whose members are read. */
const SECTIONS_OF_ENTRIES: ReadonlySet<unknown> = new Set([
  'model_list',
  'guardrails',
  'mcp_servers',
  'agents',
  'agent_list',
  'vector_store_registry',
  'search_tools',
  'policies',
  'policy_attachments',
  'prompts',
]);

/**
 * Whether an unset variable at a path is a fault: a setting or a section of entries reads the path. Variables of
 * billing settings may be unset.
 */
function isRead(path: Path): boolean {
  const [section] = path;
  if (SECTIONS_OF_ENTRIES.has(section)) return true;
  if (section === 'billing_settings') return false;
  // A setting reads its own path, every path below it, and the maps above it. The dots prevent a match inside a name.
  const key = `${path.join('.')}.`;
  return ROWS.some(({ file }) => file !== undefined && (`${file}.`.startsWith(key) || key.startsWith(`${file}.`)));
}

/** As `readConfigDocument`. In addition, `tracing.store: clickhouse` is short for `tracing.store.type`. */
export function readConfigFile(path: string, env: NodeJS.ProcessEnv): ConfigDocument {
  // This setting decides how the file is read, so only a variable can set it.
  const plainYaml = env['LENSGATE_PLAIN_YAML'] !== 'off';
  const document = readConfigDocument(path, env, { isRead, plainYaml });
  return { ...document, content: withStoreType(document.content) };
}

function withStoreType(content: ConfigDocument['content']): ConfigDocument['content'] {
  const general = mapOf(content['general_settings']);
  const tracing = mapOf(general?.['tracing']);
  const store = tracing?.['store'];
  if (typeof store !== 'string') return content;
  return { ...content, general_settings: { ...general, tracing: { ...tracing, store: { type: store } } } };
}

const mapOf = (value: unknown): JsonObject | null => (isJsonObject(value) ? value : null);
