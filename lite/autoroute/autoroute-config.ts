import { randomBytes } from 'node:crypto';
import { CommandFailure, textOf } from '../failure.ts';
import { readText, replaceText } from '../files/private-files.ts';
import type { Host } from '../host.ts';
import { type JsonObject, jsonObjectOf } from '../../src/domain/json-object.ts';
import { itemsOf, textOrNull } from '../values.ts';
import { configFileOf, makeAutorouteFolder } from './autoroute-files.ts';

/** Tiers of the router, from the simplest calls to the hardest. */
export const TIERS = ['SIMPLE', 'MEDIUM', 'COMPLEX', 'REASONING'] as const;
type Tier = (typeof TIERS)[number];

/** Public name of the router. */
export const ROUTER = 'autorouter';

/** Variable with the key of the server, so that no login is stored in the configuration. */
export const KEY_VARIABLE = 'LITELLM_PROXY_API_KEY';
const KEY_REFERENCE = `os.environ/${KEY_VARIABLE}`;
/** Deadline of the judge, in ms. */
const JUDGE_MS = 3_000;

/** Answers of the person to the questions of `lite autoroute configure`. */
export interface AutorouteSetup {
  /** Server that has the models. */
  readonly baseUrl: string;
  readonly tiers: Readonly<Record<Tier, readonly string[]>>;
  readonly defaultModel: string;
  /** Model that selects the tier; null for the heuristic. */
  readonly judge: string | null;
}

/** The configuration of the local proxy. `masterKey` is its key. */
function documentOf({ baseUrl, tiers, defaultModel, judge }: AutorouteSetup, masterKey: string): JsonObject {
  const names = new Set([...Object.values(tiers).flat(), defaultModel, ...(judge === null ? [] : [judge])]);
  const classifier =
    judge === null
      ? { classifier_type: 'heuristic' }
      : { classifier_type: 'llm', classifier_llm_config: { model: judge, timeout_ms: JUDGE_MS } };
  return {
    model_list: [
      ...[...names].map((name) => ({
        model_name: name,
        litellm_params: { model: `litellm_proxy/${name}`, api_base: `${baseUrl}/v1`, api_key: KEY_REFERENCE },
      })),
      {
        model_name: ROUTER,
        litellm_params: {
          model: 'auto_router/complexity_router',
          complexity_router_default_model: defaultModel,
          complexity_router_config: { tiers, ...classifier },
        },
      },
    ],
    general_settings: { master_key: masterKey },
  };
}

/** Stored configuration of the local proxy. */
export interface StoredConfig {
  readonly masterKey: string;
  /** Addresses to which the key of the server is sent. */
  readonly keyAddresses: readonly string[];
}

/** Reads the configuration; null where it does not exist. Throws CommandFailure for one that cannot be used. */
export async function readAutorouteConfig(host: Host): Promise<StoredConfig | null> {
  const path = configFileOf(host);
  const text = readText(path);
  if (text === null) return null;
  const { parse } = await import('yaml');
  let document: JsonObject;
  try {
    document = jsonObjectOf(parse(text));
  } catch (error) {
    // Later lines of the parser's message repeat lines of the file, which has a key.
    throw new CommandFailure(`${path} is no YAML: ${textOf(error).split('\n')[0]}`);
  }
  const masterKey = textOrNull(jsonObjectOf(document['general_settings'])['master_key']);
  if (masterKey === null) throw new CommandFailure(`${path} has no master_key. Run \`lite autoroute configure\`.`);
  const deployments = itemsOf(document['model_list']).map((item) => jsonObjectOf(jsonObjectOf(item)['litellm_params']));
  const keyAddresses = deployments
    .filter(({ api_key }) => api_key === KEY_REFERENCE)
    .map(({ api_base }) => textOrNull(api_base) ?? '');
  return { masterKey, keyAddresses };
}

/** Stores the configuration, with the master key of the former one. Returns its path. */
export async function writeAutorouteConfig(host: Host, setup: AutorouteSetup): Promise<string> {
  const former = await readAutorouteConfig(host).catch(() => null);
  const masterKey = former?.masterKey ?? `sk-${randomBytes(24).toString('base64url')}`;
  const { stringify } = await import('yaml');
  const path = configFileOf(host);
  makeAutorouteFolder(host);
  replaceText(path, stringify(documentOf(setup, masterKey), { aliasDuplicateObjects: false }));
  return path;
}
